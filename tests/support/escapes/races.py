"""The attacker swaps a directory for a link while plans run."""

import ctypes
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from escapes import Escape, carry_out, directory, secret
from escapes.host import DROP, at, give_back, put
from escapes.links import FOLLOWED
from testbed import executor_wire
from testbed.executor.client import reason
from testbed.executor.plan import step
from testbed.executor_wire import Wire
from testbed.node import Node

RACED = "/srv/raced"  # nobody allowed anything there
LEAST_PLANS, LEAST_REFUSED, MOST_PLANS = 16, 3, 300  # each plan meets the link every other time
RENAME_EXCHANGE = 2

_libc = ctypes.CDLL(None, use_errno=True)


def _plant(node: Node) -> None:
    """The same names on both sides, so that a step which is led astray finds what it looks for."""
    for place in (RACED, f"{DROP}/race"):
        for number in range(LEAST_PLANS + 1):
            put(node, f"{place}/gone-{number}", place)
            put(node, f"{place}/tree-{number}/below/file", place)
    if not os.path.lexists(at(node, f"{DROP}/trap")):
        at(node, f"{DROP}/trap").symlink_to(RACED)


def _clear(node: Node) -> None:
    for place in (RACED, f"{DROP}/race"):
        shutil.rmtree(at(node, place))
    at(node, f"{DROP}/trap").unlink()


def _exchange(directory_: int) -> None:
    if _libc.renameat2(directory_, b"race", directory_, b"trap", RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


@contextmanager
def _swapping(node: Node) -> Iterator[None]:
    drop = os.open(at(node, DROP), os.O_RDONLY | os.O_DIRECTORY)
    attacker = os.fork()
    if attacker == 0:
        while True:
            _exchange(drop)
    try:
        yield
    finally:
        os.kill(attacker, signal.SIGKILL)
        os.waitpid(attacker, 0)
        if at(node, f"{DROP}/race").is_symlink():
            _exchange(drop)
        os.close(drop)


def _seen(place: Path) -> list[tuple]:
    """Every file of others with what an executor that was led astray would change."""
    found = []
    for parent, directories, files in os.walk(place):
        for name in sorted((*directories, *files)):
            path = Path(parent) / name
            status = path.lstat()
            found.append((str(path), status.st_mode, status.st_uid, path.read_text() if path.is_file() else ""))
    return sorted(found)


def _plans(node: Node, owner: str, step_for: Callable[[int], dict], is_reached: Callable[[], bool]) -> list[str]:
    """Carries out plans until enough of them were refused, or one was led astray; returns why."""
    refused: list[str] = []
    for number in range(MOST_PLANS):
        outcome = carry_out(node, f"{owner}-{number}", step_for(number), owner=owner)
        refused += [outcome] if outcome else []
        if is_reached() or (number >= LEAST_PLANS and len(refused) >= LEAST_REFUSED):
            break
    return refused


def _begin_undo(wire: Wire, identity: str, owner: str) -> None:
    """Until its end, or until an object could not be given back: the executor would wait before it tries again."""
    if reason(wire.ask({"type": "undo", "plan_id": identity, "owner": owner})):
        return
    followed = wire.send({"type": "follow", "plan_id": identity})
    while (frame := wire.receive_frame()) is not None:
        if frame["id"] == followed and (frame["last"] or frame["reply"].get("state") == "failed"):
            return


def _give_back_in_the_race(node: Node, owner: str) -> None:
    with executor_wire.connect(node) as wire:
        wire.hello()
        for number in range(LEAST_PLANS):
            _begin_undo(wire, f"{owner}-undo-{number}", owner)


def _race(type_: str, step_for: Callable[[int], dict]) -> Escape:
    changed: list[bool] = []

    def attempt(node: Node) -> str:
        _plant(node)
        owner, others = f"machine-race-{type_}", at(node, RACED)
        before = _seen(others)
        with _swapping(node):
            refused = _plans(node, owner, step_for, lambda: _seen(others) != before)
            if _seen(others) == before:
                _give_back_in_the_race(node, owner)
        changed[:] = [_seen(others) != before]
        for number in count():  # what the race left; every try takes back more
            if not (left := give_back(node, owner)) or changed[0]:
                break
            assert number < LEAST_PLANS, left
        _clear(node)
        others = [why for why in refused if FOLLOWED not in why]
        assert changed[0] or not others, others
        return refused[0] if refused else ""

    return Escape(f"a {type_} where it swaps a directory for a link", (type_,), ("followed-links",), FOLLOWED, attempt,
                  lambda _: changed[0], finding="A9" if type_ == "directory" else "")


ALL = [
    _race("secret-file", lambda number: secret(f"{DROP}/race/secret-{number}")),
    _race("directory", lambda number: directory(f"{DROP}/race/made-{number}")),
    _race("symlink", lambda number: step("symlink", path=f"{DROP}/race/link-{number}", target=f"gone-{number}")),
    _race("managed-block", lambda number: step("managed-block", path=f"{DROP}/race/block-{number}", name="n", lines=["a"])),
    _race("absent-path", lambda number: step("absent-path", path=f"{DROP}/race/gone-{number % LEAST_PLANS}")),
    _race("deleted-tree", lambda number: step("deleted-tree", path=f"{DROP}/race/tree-{number % LEAST_PLANS}")),
]
