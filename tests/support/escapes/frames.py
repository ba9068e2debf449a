"""Frames and descriptors that break the rules of the wire."""

import os
from collections.abc import Callable, Sequence

from escapes import CA, Escape, data
from testbed import executor_wire
from testbed.executor.client import plan, reason

_FILE = data("/etc/kubernetes/pki/ca.crt")
_MOST_CONTENT = 4 << 20


def _frame(name: str, because: str, frame: dict | bytes, descriptors: Callable[[], Sequence[int]] = lambda: (),
           greet: bool = True) -> Escape:
    def attempt(node) -> str:
        passed = descriptors()
        try:
            with executor_wire.connect(node) as wire:
                if greet:
                    wire.hello()
                return reason(wire.ask(frame, passed))
        finally:
            executor_wire.close_all(set(passed))

    return Escape("frame", name, attempt, because)


def _last_words(name: str, because: str, *frames: dict | bytes) -> Escape:
    """The client leaves without having read anything: what it said is written down all the same."""
    def attempt(node) -> str:
        with executor_wire.connect(node) as wire:
            for frame in frames:
                wire.send(frame)
        return because

    return Escape("frame", name, attempt, because)


def _apply(contents: Sequence[str] = (), steps: Sequence[dict] = (_FILE,), **more) -> dict:
    return {"type": "apply", "plan": plan("frame", *steps), "contents": list(contents), "replace": False, **more}


def _null(count: int) -> list[int]:
    return [os.open("/dev/null", os.O_RDONLY) for _ in range(count)]


def _piped() -> list[int]:
    reading, writing = os.pipe()
    os.close(writing)
    return [reading]


def _terminal() -> list[int]:
    master, terminal = os.openpty()
    os.close(master)
    return [terminal]


def _large() -> list[int]:
    descriptor = os.memfd_create("large")
    os.ftruncate(descriptor, _MOST_CONTENT + 1)
    return [descriptor]


def _shrunk() -> list[int]:
    descriptor = executor_wire.content(CA)
    os.ftruncate(descriptor, len(CA) // 2)
    return [descriptor]


def _write_only() -> list[int]:
    memory = executor_wire.content(CA)
    try:
        return [os.open(f"/proc/self/fd/{memory}", os.O_WRONLY)]
    finally:
        os.close(memory)


_ONE = _apply([executor_wire.digest(CA)])
_HELLO = {"type": "hello", "protocol": executor_wire.PROTOCOL, "program": "a test"}
_NESTED = b'{"id":9,"request":{"type":"follow","plan_id":' + b"[" * 5000 + b"]" * 5000 + b"}}"
_OBSERVE = b'{"id":9,"request":{"type":"observe"}}'

ALL = [
    _frame("oversized", "frame: more than", b'"' + b"x" * (192 * 1024) + b'"'),
    _frame("truncated", "not JSON", b'{"id":9,"request":{"type":"history","limit":'),
    _frame("no-json", "not JSON", b"GET / HTTP/1.1\r\n\r\n"),
    _frame("not-utf-8", "not JSON", b'{"id":9,"request":{"type":"follow","plan_id":"\xff\xfe"}}'),
    _frame("two-documents", "not JSON", _OBSERVE + _OBSERVE),
    _frame("nested", "nested deeper than", _NESTED),
    _frame("a-member-twice", "duplicate member", b'{"id":9,"request":{"type":"follow","plan_id":"a","plan_id":"b"}}'),
    _frame("list", "expected an object", b"[]"),
    _frame("request-that-is-a-list", "expected an object with a type", b'{"id":9,"request":[]}'),
    _frame("without-type", "expected an object with a type", {"plan_id": "a"}),
    _frame("without-id", "frame.id: is missing", b'{"request":{"type":"observe"}}'),
    _frame("id-zero", "a number above 0", b'{"id":0,"request":{"type":"observe"}}'),
    _frame("negative-id", "expected a whole number", b'{"id":-1,"request":{"type":"observe"}}'),
    _frame("member-beside-the-request", "is not known", b'{"id":9,"request":{"type":"observe"},"last":true}'),
    _frame("unknown-door", "expected one of", {"type": "cancel", "plan_id": "a",
                                               "on_behalf_of": {"uid": 0, "door": "window"}}),
    _frame("unknown-verb", "is not known", {"type": "shell", "command": "id"}),
    _frame("unknown-member", "is not known", {"type": "observe", "as": "root"}),
    _frame("wrong-type", "expected a whole number", {"type": "history", "limit": "5"}),
    _frame("negative", "expected a whole number", {"type": "history", "limit": -1}),
    _frame("huge-number", "expected a whole number", {"type": "history", "limit": 2**40}),
    _frame("missing-member", "is missing", {"type": "cancel"}),
    _frame("long-text", "at most 4096 bytes", {"type": "follow", "plan_id": "a" * 5000}),
    _frame("unknown-step", "is not known", _apply(steps=[{"type": "shell", "with": {"command": "id"}}])),
    _frame("unknown-parameter", "is not known",
           _apply(steps=[{"type": "sysctl", "with": {"key": "a", "value": "1", "as": "x"}}])),
    _frame("many-steps", "at most 200", _apply(steps=[{"type": "swap-off", "with": {}}] * 300)),
    _frame("bad-plan-id", "letters, digits", executor_wire.numbered(_apply(), 9).replace(b'"frame"', b'"../frame"')),
    _frame("no-hello", "must be a hello", {"type": "observe"}, greet=False),
    _frame("other-protocol", "speaks protocol 2", _HELLO | {"protocol": 1}, greet=False),
    _frame("many-descriptors", "descriptors", _ONE, lambda: _null(65)),
    _frame("descriptors-nobody-asked-for", "descriptors", {"type": "observe"}, lambda: _null(1)),
    _frame("more-descriptors-than-contents", "as many descriptors", _ONE, lambda: _null(2)),
    _frame("fewer-descriptors-than-contents", "as many descriptors", _ONE),
    _frame("missing-content", "is missing: send it with the plan", _apply()),
    _frame("content-nobody-needs", "no step of the plan needs", _apply(["0" * 64]), lambda: _null(1)),
    _frame("content-of-a-pipe", "expected a regular file", _ONE, _piped),
    _frame("content-of-a-directory", "expected a regular file", _ONE, lambda: [os.open("/", os.O_RDONLY)]),
    _frame("content-of-a-terminal", "expected a regular file", _ONE, _terminal),
    _frame("content-without-end", "expected a regular file", _ONE, lambda: [os.open("/dev/zero", os.O_RDONLY)]),
    _frame("content-too-large", ": more than", _ONE, _large),
    _frame("content-that-shrank", "has digest", _ONE, _shrunk),
    _frame("content-of-something-else", "has digest", _ONE, lambda: [executor_wire.content(b"other")]),
    _frame("content-that-cannot-be-read", "read", _ONE, _write_only),
    _last_words("bad-last-words", "not JSON", b"{"),
    _last_words("bad-last-words-after-a-hello", "not JSON", _HELLO, b"{"),
    _last_words("bad-last-words-after-questions", "duplicate member", _HELLO, {"type": "observe"},
                {"type": "history", "limit": 200}, b'{"id":9,"request":{"type":"observe","type":"observe"}}'),
]
