"""A directory that turns into a link and back, thousands of times a second, while plans run."""

import ctypes
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from escapes import CA, DROP, Escape, data
from escapes.links import FOLLOWED
from testbed import executor_wire
from testbed.executor.client import ACCESS, apply, plan, reason, undo
from testbed.executor.plan import step
from testbed.executor_wire import Wire

VICTIM = "/srv/victim"  # nobody allowed anything there
LEAST_PLANS, LEAST_REFUSED, MOST_PLANS = 16, 3, 300  # each plan meets the link every other time
RENAME_EXCHANGE = 2

# The same names on both sides, so that a step which is led astray finds what it looks for.
PLANTED = f"""
set -e
for place in {VICTIM} {DROP}/race; do
    mkdir -p $place
    for number in $(seq 0 {LEAST_PLANS}); do
        mkdir -p $place/tree-$number/below
        echo $place > $place/gone-$number
        echo $place > $place/tree-$number/below/file
    done
done
ln -sfn {VICTIM} {DROP}/trap
chown -hR kubexm:kubexm {DROP}
"""

_libc = ctypes.CDLL(None, use_errno=True)


def _exchange(directory: int) -> None:
    if _libc.renameat2(directory, b"race", directory, b"trap", RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


@contextmanager
def _swapping(node) -> Iterator[None]:
    directory = os.open(f"/proc/{node.leader}/root{DROP}", os.O_RDONLY | os.O_DIRECTORY)
    attacker = os.fork()
    if attacker == 0:
        while True:
            _exchange(directory)
    try:
        yield
    finally:
        os.kill(attacker, signal.SIGKILL)
        os.waitpid(attacker, 0)
        if os.path.islink(f"/proc/{node.leader}/root{DROP}/race"):
            _exchange(directory)
        os.close(directory)


def _victim(node) -> str:
    listed = f"find {VICTIM} -printf '%p %m %u %g %l\\n' | sort"
    return node.run(["sh", "-c", f"{listed}; cat {VICTIM}/gone-* {VICTIM}/tree-*/below/*"]).stdout


def _plans(wire: Wire, owner: str, step_for: Callable[[int], dict]) -> list[str]:
    """Carries out plans until enough of them were refused; returns why."""
    refused: list[str] = []
    for number in range(MOST_PLANS):
        each = step_for(number)
        contents = [CA] if each["with"].get("digest") else []
        outcome = apply(wire, plan(f"{owner}-{number}", each, owner=owner), contents)
        refused += [outcome] if outcome else []
        if number >= LEAST_PLANS and len(refused) >= LEAST_REFUSED:
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


def _race(name: str, step_for: Callable[[int], dict]) -> Escape:
    def attempt(node) -> str:
        owner = f"machine-race-{name}"
        before = _victim(node)
        with executor_wire.connect(node) as wire:
            wire.hello()
            with _swapping(node):
                refused = _plans(wire, owner, step_for)
                for number in range(LEAST_PLANS):
                    _begin_undo(wire, f"{owner}-undo-{number}", owner)
            for number in count(LEAST_PLANS):  # what the race left; every try takes back more
                if not (left := undo(wire, f"{owner}-undo-{number}", owner)):
                    break
                assert number < 2 * LEAST_PLANS, left
        assert _victim(node) == before
        node.run(["sh", "-s"], input=PLANTED)  # undo does not bring back what was to be deleted
        others = [why for why in refused if FOLLOWED not in why]
        assert not others, others
        return refused[0]

    return Escape("race", name, attempt, FOLLOWED)


def _secret(number: int) -> dict:
    file = data(f"{DROP}/race/secret-{number}", mode="0600")["with"]
    del file["kind"]
    return step("secret-file", **file, handle="race")


ALL = [
    _race("data-file", lambda number: data(f"{DROP}/race/data-{number}")),
    _race("secret-file", _secret),
    _race("directory", lambda number: step("directory", path=f"{DROP}/race/made-{number}",
                                           access=ACCESS | {"mode": "0755"})),
    _race("link", lambda number: step("symlink", path=f"{DROP}/race/link-{number}", target=f"gone-{number}")),
    _race("block", lambda number: step("managed-block", path=f"{DROP}/race/block-{number}", name="n", lines=["line"])),
    _race("absent-path", lambda number: step("absent-path", path=f"{DROP}/race/gone-{number % LEAST_PLANS}")),
    _race("deleted-tree", lambda number: step("deleted-tree", path=f"{DROP}/race/tree-{number % LEAST_PLANS}")),
    _race("claim", lambda number: step("claim", path=f"{DROP}/race/claimed-{number}")),
]
