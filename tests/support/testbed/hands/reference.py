"""A host with the hands, and uninterrupted runs of the plan with every type of step to compare with."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from testbed import snapshot
from testbed.hands import PLACE, Hands, hosts, kills, plan, state
from testbed.node import Node


@dataclass
class Host:
    kind: str
    hands: Hands
    forth: kills.Course
    back: kills.Course
    whole: snapshot.Snapshot

    def check_whole(self) -> None:
        """Everything a person could find changed, not only what the plan touches."""
        report = snapshot.lasting_diff(self.whole, self.hands.node)
        assert not report, report


@contextmanager
def boot(kind: str, suite: str, prepare: Callable[[Hands], None] = lambda _: None) -> Iterator[Host]:
    """A host of that kind (testbed.hands.hosts) after an uninterrupted run forth and back."""
    with Node(suite=suite) as node:
        hands = Hands(node, Path(os.environ["KUBEXM_TREE"]))
        getattr(hosts, kind)(hands)
        prepare(hands)
        whole = snapshot.settled(node)
        host = Host(kind, hands, *_courses(hands), whole)
        host.check_whole()
        yield host


def _courses(hands: Hands) -> tuple[kills.Course, kills.Course]:
    before = state.take(hands)
    forth = _traced(hands, lambda: hands.apply(plan.everything()))
    after = state.take(hands)
    back = _traced(hands, hands.undo)
    end = {name: text for name, text in before.items() if not name.startswith(plan.DOOMED_TREE)}
    made = (kills.Course(hands, lambda: hands.apply(plan.everything()), "done", before, after, forth),
            kills.Course(hands, hands.undo, "undone", after, end, back))
    made[1].check_end("an uninterrupted undo")
    hosts.doom(hands)
    return made


def _traced(hands: Hands, send: Callable[[], subprocess.CompletedProcess]) -> list[str]:
    """The points that an uninterrupted run passes."""
    hands.restart(KUBEXM_CRASH_TRACE=f"{PLACE}/trace")
    done = send()
    assert done.returncode == 0, done.stdout + done.stderr
    hands.restart()
    passed = hands.place("trace").read_text().split()
    hands.place("trace").unlink()
    return passed
