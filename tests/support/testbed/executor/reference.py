"""A host with the executor, and uninterrupted runs of the plan with every type of step to compare with."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from testbed import snapshot
from testbed.executor import PLACE, Executor, hosts, kills, plan, state
from testbed.node import Node


@dataclass
class Host:
    kind: str
    executor: Executor
    forth: kills.Course
    back: kills.Course
    whole: snapshot.Snapshot

    def check_whole(self) -> None:
        """Everything a person could find changed, not only what the plan touches."""
        report = snapshot.lasting_diff(self.whole, self.executor.node)
        assert not report, report


@contextmanager
def boot(kind: str, suite: str, prepare: Callable[[Executor], None] = lambda _: None) -> Iterator[Host]:
    """A host of that kind (testbed.executor.hosts) after an uninterrupted run forth and back."""
    with Node(suite=suite) as node:
        executor = Executor(node, Path(os.environ["KUBEXM_TREE"]))
        getattr(hosts, kind)(executor)
        prepare(executor)
        whole = snapshot.settled(node)
        host = Host(kind, executor, *_courses(executor), whole)
        host.check_whole()
        yield host


def _courses(executor: Executor) -> tuple[kills.Course, kills.Course]:
    before = state.take(executor)
    forth = _traced(executor, lambda: executor.apply(plan.everything()))
    after = state.take(executor)
    back = _traced(executor, executor.undo)
    end = {name: text for name, text in before.items() if not name.startswith(plan.DELETED_TREE)}
    made = (kills.Course(executor, lambda: executor.apply(plan.everything()), "done", before, after, forth),
            kills.Course(executor, executor.undo, "undone", after, end, back))
    made[1].check_end("an uninterrupted undo")
    hosts.remake_deleted(executor)
    return made


def _traced(executor: Executor, send: Callable[[], subprocess.CompletedProcess]) -> list[str]:
    """The points that an uninterrupted run passes."""
    executor.restart(KUBEXM_CRASH_TRACE=f"{PLACE}/trace")
    done = send()
    assert done.returncode == 0, done.stdout + done.stderr
    executor.restart()
    passed = executor.place("trace").read_text().split()
    executor.place("trace").unlink()
    return passed
