"""Killed at any point, the hands come to the same end; taken back, the node is as it was before."""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from testbed import snapshot
from testbed.hands import PLACE, Hands, hosts, kills, plan, state
from testbed.node import Node

TREE = Path(os.environ["KUBEXM_TREE"])
DEEP = "KUBEXM_TEST_DEEP" in os.environ
SEED = os.environ.get("KUBEXM_TEST_SEED", "1")


@dataclass
class Host:
    kind: str
    hands: Hands
    forth: kills.Course
    back: kills.Course
    whole: snapshot.Snapshot

    def check_whole(self) -> None:
        """Everything a person could find changed, not only what the plan touches."""
        report = snapshot.diff(self.whole, self.hands.node.snapshot())
        assert not report, str(report)


@pytest.fixture(scope="module", params=[("bare", "bookworm"), ("foreign", "trixie")], ids=lambda param: param[0])
def host(request):
    """A host as it is before the plan, after an uninterrupted run forth and back."""
    kind, suite = request.param
    with Node(suite=suite) as node:
        hands = Hands(node, TREE)
        getattr(hosts, kind)(hands)
        whole = node.snapshot()
        made = Host(kind, hands, *courses(hands), whole)
        made.check_whole()
        yield made


def courses(hands: Hands) -> tuple[kills.Course, kills.Course]:
    before = state.take(hands)
    forth = traced(hands, lambda: hands.apply(plan.everything()))
    after = state.take(hands)
    back = traced(hands, hands.undo)
    end = {name: text for name, text in before.items() if not name.startswith(plan.DOOMED_TREE)}
    made = (kills.Course(hands, lambda: hands.apply(plan.everything()), "done", before, after, forth),
            kills.Course(hands, hands.undo, "undone", after, end, back))
    made[1].check_end("an uninterrupted undo")
    hosts.doom(hands)
    return made


def traced(hands: Hands, send: Callable) -> list[str]:
    """What an uninterrupted run passes."""
    hands.restart(KUBEXM_CRASH_TRACE=f"{PLACE}/trace")
    done = send()
    assert done.returncode == 0, done.stdout + done.stderr
    passed = hands.place("trace").read_text().split()
    hands.place("trace").unlink()
    return passed


def test_every_step_type_is_in_the_plan(host):
    kinds = {"rendered-file", "data-file", "secret-file", "directory", "symlink", "managed-block", "absent-path",
             "deleted-tree", "sysctl", "unmounted", "unit-state", "daemon-reload", "transient-unit", "claim"}
    for course in (host.forth, host.back):
        assert {name for name in course.trace if "." not in name} == kinds


def test_killed_at_every_hook_point(host, figure):
    forth, back = (kills.rounds(kills.points(course.trace)) for course in (host.forth, host.back))
    try:
        for number in range(max(len(forth), len(back))):
            host.forth.run(forth[number] if number < len(forth) else [])
            host.back.run(back[number] if number < len(back) else [])
            hosts.doom(host.hands)
        host.check_whole()
    finally:
        for course, of in ((host.forth, forth), (host.back, back)):
            figure(f"hook points on a {host.kind} host, to {course.word}: {sum(map(len, of))} points, "
                   f"{course.kills} kills, {course.survived} survived")
