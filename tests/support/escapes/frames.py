"""Input that breaks the rules: frames, descriptors and names that lead nowhere, with or without the check."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from escapes import CA, carry_out, data, secret
from escapes.host import DROP, PKI
from escapes.lists import component, unit_state
from testbed import executor_wire
from testbed.executor.client import plan, reason
from testbed.executor.plan import step
from testbed.node import Node

_FILE = data("/etc/kubernetes/pki/ca.crt")


@dataclass(frozen=True)
class HostileInput:
    name: str
    because: str
    attempt: Callable[[Node], str]  # returns why it was refused
    user: str = "kubexm"  # whom the audit must name
    is_audited: bool = True

    def __str__(self) -> str:
        return self.name


def _frame(name: str, because: str, frame: dict | bytes, descriptors: Callable[[], Sequence[int]] = lambda: (),
           greet: bool = True) -> HostileInput:
    def attempt(node) -> str:
        passed = descriptors()
        try:
            with executor_wire.connect(node) as wire:
                if greet:
                    wire.hello()
                return reason(wire.ask(frame, passed))
        finally:
            executor_wire.close_all(set(passed))

    return HostileInput(name, because, attempt)


def _last_words(name: str, because: str, *frames: dict | bytes) -> HostileInput:
    """The client leaves without having read anything: what it said is written down all the same."""
    def attempt(node) -> str:
        with executor_wire.connect(node) as wire:
            for frame in frames:
                wire.send(frame)
        return because

    return HostileInput(name, because, attempt)


def _apply(contents: Sequence[str] = (), steps: Sequence[dict] = (_FILE,), **more) -> dict:
    return {"type": "apply", "plan": plan("frame", *steps), "contents": list(contents), "replace": False, **more}


def _plan(name: str, because: str, each: dict) -> HostileInput:
    return HostileInput(name, because, lambda node: carry_out(node, name, each))


def _anybody(user: str) -> HostileInput:
    """The mode of the socket protects nothing any more: what the kernel says of the peer does."""
    socket = f"{executor_wire.DIRECTORY}/{executor_wire.SOCKET}"

    def attempt(node: Node) -> str:
        node.run(["chmod", "0666", socket])
        try:
            with executor_wire.connect(node, user) as wire:
                return reason(wire.hello())
        finally:
            node.run(["chmod", "0660", socket])

    return HostileInput(f"socket-open-to-{user}", "is not permitted to use the executor", attempt, user)


def _null(count: int) -> list[int]:
    return [os.open("/dev/null", os.O_RDONLY) for _ in range(count)]


def _terminal() -> list[int]:
    master, terminal = os.openpty()
    os.close(master)
    return [terminal]


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
    _frame("without-id", "frame.id: expected, found none", b'{"request":{"type":"observe"}}'),
    _frame("id-zero", "a number above 0", b'{"id":0,"request":{"type":"observe"}}'),
    _frame("negative-id", "expected a whole number", b'{"id":-1,"request":{"type":"observe"}}'),
    _frame("member-beside-the-request", "is not known", b'{"id":9,"request":{"type":"observe"},"last":true}'),
    _frame("unknown-origin", "expected one of", {"type": "cancel", "plan_id": "a",
                                               "on_behalf_of": {"uid": 0, "origin": "window"}}),
    _frame("unknown-verb", "is not known", {"type": "shell", "command": "id"}),
    _frame("unknown-member", "is not known", {"type": "observe", "as": "root"}),
    _frame("wrong-type", "expected a whole number", {"type": "history", "limit": "5"}),
    _frame("negative", "expected a whole number", {"type": "history", "limit": -1}),
    _frame("huge-number", "expected a whole number", {"type": "history", "limit": 2**40}),
    _frame("missing-member", "expected, found none", {"type": "cancel"}),
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
    _frame("content-nobody-needs", "no step of the plan needs", _apply(["0" * 64]), lambda: _null(1)),
    _frame("content-of-a-directory", "expected a regular file", _ONE, lambda: [os.open("/", os.O_RDONLY)]),
    _frame("content-of-a-terminal", "expected a regular file", _ONE, _terminal),
    _frame("content-without-end", "expected a regular file", _ONE, lambda: [os.open("/dev/zero", os.O_RDONLY)]),
    _frame("content-that-shrank", "has digest", _ONE, _shrunk),
    _frame("content-that-cannot-be-read", "read", _ONE, _write_only),
    _last_words("bad-last-words", "not JSON", b"{"),
    _last_words("bad-last-words-after-a-hello", "not JSON", _HELLO, b"{"),
    _last_words("bad-last-words-after-questions", "duplicate member", _HELLO, {"type": "observe"},
                {"type": "history", "limit": 200}, b'{"id":9,"request":{"type":"observe","type":"observe"}}'),
    _plan("nul-in-a-path", "no NUL byte", data(f"{PKI}/ca.crt\0.conf")),
    _plan("no-path", "expected an absolute path", data("")),
    _plan("relative-path", "expected an absolute path", data("etc/kubernetes/pki/ca.crt")),
    _plan("long-path", "expected an absolute path", data(f"{PKI}/" + "a/" * 600 + "ca.crt")),
    _plan("no-mode", "expected a mode", data(f"{PKI}/ca.crt", mode="rw-r")),
    _plan("file-over-a-hard-link", "hard links", secret(f"{DROP}/hard")),
    _plan("block-in-a-hard-link", "hard links", step("managed-block", path=f"{DROP}/hard", name="n", lines=["a"])),
    _plan("file-over-a-pipe", "expected a file, directory or link", secret(f"{DROP}/pipe")),
    _plan("tree-that-is-a-link", "link", step("deleted-tree", path=f"{DROP}/out")),
    _plan("unit-by-path", "is not in allow.units", unit_state(f"{DROP}/kubelet.service", enabled=True)),
    _plan("unit-of-two-lines", "is not in allow.units", unit_state("kubelet.service\nssh.service", active=False)),
    _plan("no-command", "argv: expected a command",
          step("transient-unit", name="kubexm-a.service", argv=[], timeout_seconds=5)),
    _plan("unknown-document", "is not known", step("rendered-file", document={"type": "crontab", "line": "id"})),
    _plan("component-version-in-use", "version: expected", component(version="current")),
    *map(_anybody, ("nobody", "daemon", "www-data")),
]
