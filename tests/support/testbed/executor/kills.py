"""Where the executor can be killed in a run of a plan, and rounds that kill it there.

A trace (daemon/base/crash_point.hpp) names every point that a run passes; a name without a dot is a step that
begins, with its number: "sysctl-11". A round kills at one point of every step: the process that goes on after the first kill is killed in
the next step, and so on, until one is let go on to the end.
"""

import random
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from testbed.executor import PLACE, Executor, state


@dataclass(frozen=True)
class Point:
    step: int
    place: int  # passages after the step's beginning
    name: str
    begin: str  # the name of its step's beginning

    @property
    def passage(self) -> str:
        """KUBEXM_CRASH_AT."""
        return f"{self.begin}:1+{self.place}"

    @property
    def kind(self) -> tuple[str, str]:
        """The type of its step and its name: a place in the source, however many steps pass it and how often."""
        return self.begin.rpartition("-")[0], self.name if "." in self.name else "begin"

    def __str__(self) -> str:
        return f"{self.name} in step {self.begin}"


def prologue(trace: Sequence[str]) -> Sequence[str]:
    """What is passed before the first step."""
    return trace[:next(number for number, name in enumerate(trace) if "." not in name)]


def passages(names: Sequence[str]) -> list[str]:
    """KUBEXM_CRASH_AT for each of the points that a process passes first."""
    return [f"{name}:{names[:number + 1].count(name)}" for number, name in enumerate(names)]


def points(trace: Sequence[str]) -> list[Point]:
    begins = [number for number, name in enumerate(trace) if "." not in name]
    found = []
    for step, (begin, end) in enumerate(zip(begins, [*begins[1:], len(trace)])):
        found += [Point(step, place, trace[begin + place], trace[begin]) for place in range(end - begin)]
    return found


def rounds(of: Sequence[Point]) -> list[list[Point]]:
    """The points of one round are of different steps, in their order."""
    shared, alone = _parted(of)
    places = sorted({point.place for point in shared})
    return [*([point for point in shared if point.place == place] for place in places), *([point] for point in alone)]


def rounds_of_kinds(of: Sequence[Point], dice: random.Random) -> list[list[Point]]:
    """The fewest rounds with a point of every kind: each step is killed at a kind that its type has left."""
    left, found = {point.kind for point in of}, []

    def choose(some: Sequence[Point]) -> list[Point]:
        chosen = dice.sample([point for point in some if point.kind in left], 1) if left & {point.kind for point in some} else []
        left.difference_update(point.kind for point in chosen)
        return chosen

    shared, alone = _parted(of)
    steps = [[point for point in shared if point.step == step] for step in sorted({point.step for point in shared})]
    while left & {point.kind for point in shared}:
        found.append([point for step in steps for point in choose(step)])
    while left:
        found.append(choose(alone))
    return found


def _parted(of: Sequence[Point]) -> tuple[list[Point], list[Point]]:
    """Those that may share a round, and those of steps that hold already.

    Such a step has nothing but commits: the commit before it may have recorded its end, and a process that goes on after
    that does not pass it. Its points have rounds of their own.
    """
    changing = {point.step for point in of if "." in point.name and not point.name.startswith("journal.commit.")}
    return [point for point in of if point.step in changing], [point for point in of if point.step not in changing]


@dataclass
class Course:
    """One way of a plan, forth or back: from a state to a state."""

    executor: Executor
    send: Callable[[], subprocess.CompletedProcess[str]]
    word: str  # of its end in the history
    before: state.State
    after: state.State
    trace: list[str]
    kills: int = 0
    survived: int = 0
    killed_at: list[Point] = field(default_factory=list)
    missed: list[Point] = field(default_factory=list)

    def run(self, killed_at: Sequence[Point]) -> None:
        """One round; any trouble is an error that names the point or points."""
        before = self.kills
        for number, point in enumerate(killed_at):
            self._kill(point, begins=number == 0)
        if not killed_at:
            self.send()
        self.executor.start()
        self.check_end(f"killed at {', '.join(map(str, killed_at))}")
        self.survived += self.kills - before

    def finish(self, circumstances: str, last_before: str) -> None:
        """Starts the executor again after a kill anywhere; a plan that it had not taken in yet is sent again."""
        self.kills += 1
        self.check_instant(circumstances)
        self.executor.start()
        if self.executor.last() == last_before:
            wrong = state.difference(self.before, state.take(self.executor))
            assert not wrong, "\n".join([f"{circumstances}: not taken in, and yet", *wrong])
            self.send()
        self.check_end(circumstances)
        self.survived += 1

    def check_end(self, circumstances: str) -> None:
        last = self.executor.last()
        assert last.startswith(self.word), f"{circumstances}: the history says {last!r}, expected {self.word}"
        wrong = state.difference(self.after, state.take(self.executor))
        assert not wrong, "\n".join([f"{circumstances}: not the end of an uninterrupted run", *wrong])

    def check_instant(self, circumstances: str) -> None:
        """What a reader finds while the executor is dead."""
        half = state.halves(self.before, self.after, state.files(self.executor))
        assert not half, "\n".join([circumstances, *half])

    def _kill(self, point: Point, begins: bool) -> None:
        """In the step of that point. Where systemd is asked, how often depends on how far it is: so may the place."""
        trace = self.executor.place("trace")
        trace.write_text("")
        ended = self.executor.restart(KUBEXM_CRASH_AT=point.passage, KUBEXM_CRASH_TRACE=f"{PLACE}/trace")
        if begins:
            ended = self.send().returncode == 0
        if ended:
            return self._miss(point)
        self.executor.wait_death(str(point))
        passed = trace.read_text().split()
        trace.unlink()
        assert point.begin in passed, f"the executor should have died at {point}, and died after {passed[-5:]}"
        self.kills += 1
        self.killed_at.append(point)
        self.check_instant(f"after a kill at {point}")

    def _miss(self, point: Point) -> None:
        """The plan came to its end: in its last step the place may be one that was not passed this time."""
        last_step = next(name for name in reversed(self.trace) if "." not in name)
        assert point.begin == last_step, f"the executor should have died at {point}, and ended the plan"
        self.missed.append(point)
        self.executor.place("trace").unlink()
        self.executor.restart()  # without the crash point, which the next plan may pass
