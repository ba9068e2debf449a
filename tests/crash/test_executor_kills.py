"""Killed at any point, the executor reaches the same end state; after undo the node is as before."""

import itertools
import os
import random
from pathlib import Path

import pytest

from testbed import probe
from testbed.executor import PLACE, Executor, hosts, kills, plan, reference, state, strace

DEEP = "KUBEXM_TEST_DEEP" in os.environ
SEED = os.environ.get("KUBEXM_TEST_SEED", "1")
FOREIGN_PART = 24  # of the rounds; the bare host has each kind of point
STRACE_KILLS = 200 if DEEP else 12  # on each host; a deep run has another seed every time
END_SECONDS = 30
DURABLE_CALLS = ["write", "pwrite64", "fsync", "fdatasync", "renameat", "unlinkat", "unlink", "sendmsg"]


@pytest.fixture(scope="module", params=[("bare", "bookworm"), ("foreign", "trixie")], ids=lambda param: param[0])
def host(request):
    with reference.boot(*request.param) as made:
        yield made


def test_every_step_type_is_in_the_plan(host):
    kinds = {"rendered-file", "data-file", "secret-file", "directory", "symlink", "managed-block", "absent-path",
             "deleted-tree", "sysctl", "unmounted", "unit-state", "daemon-reload", "transient-unit", "claim", "component-version",
             "side-effects"}
    for course in (host.forth, host.back):
        assert {name.rpartition("-")[0] for name in course.trace if "." not in name} == kinds


def test_each_type_of_step_is_killed_at_each_of_its_hook_points(host, figure):
    """On the bare host, in one step of the type; a seeded part of the rounds on the foreign host. Where the test is deep,
    every step, on both."""
    forth, back = (chosen_rounds(host.kind, course) for course in (host.forth, host.back))
    try:
        for forth_points, back_points in itertools.zip_longest(forth, back, fillvalue=[]):
            host.forth.run(forth_points)
            host.back.run(back_points)
            hosts.remake_deleted(host.executor)
        host.check_whole()
    finally:
        for course, of in ((host.forth, forth), (host.back, back)):
            figure(f"hook points on a {host.kind} host, to {course.word}: {len(kills.points(course.trace))} points, "
                   f"{sum(map(len, of))} chosen, {course.kills} kills, {course.survived} survived, "
                   f"{len(course.missed)} not passed")
    if host.kind == "bare":
        for course in (host.forth, host.back):
            assert kinds([*course.killed_at, *course.missed]) == kinds(kills.points(course.trace))


def chosen_rounds(kind: str, course: kills.Course) -> list[list[kills.Point]]:
    points, dice = kills.points(course.trace), random.Random(f"{SEED} {course.word}")
    every = kills.rounds(points)
    if DEEP:
        return every
    return kills.rounds_of_kinds(points, dice) if kind == "bare" else dice.sample(every, len(every) // FOREIGN_PART)


def kinds(points: list[kills.Point]) -> set[tuple[str, str]]:
    return {point.kind for point in points}


def test_killed_before_the_first_step(host, figure):
    """A plan that is not yet in the journal has changed nothing; one that is there goes on."""
    tried = survived = 0
    try:
        for course in (host.forth, host.back):
            for passage in kills.passages(kills.prologue(course.trace)):
                tried += 1
                taken_in = killed_at_passage(course, passage)
                survived += 1
            assert taken_in, "the last point is after the commit that takes the plan in"
        hosts.remake_deleted(host.executor)
        host.check_whole()
    finally:
        figure(f"points before the first step on a {host.kind} host: {tried} kills, {survived} survived")


def killed_at_passage(course: kills.Course, passage: str) -> bool:
    """Whether the plan had been taken in."""
    executor, last = course.executor, course.executor.last()
    executor.restart(KUBEXM_CRASH_AT=passage)
    course.send()
    executor.wait_death(passage)
    executor.start()
    taken_in = executor.last() != last
    wrong = state.difference(course.after if taken_in else course.before, state.take(executor))
    assert not wrong, "\n".join([f"killed at {passage}", *wrong])
    return taken_in


def test_killed_while_the_journal_is_made(host, figure):
    executor = host.executor
    forget_everything(executor)
    executor.restart(KUBEXM_CRASH_TRACE=f"{PLACE}/trace")
    forget_everything(executor)
    passed = executor.place("trace").read_text().split()
    executor.place("trace").unlink()
    assert "journal.create.before" in passed
    tried = survived = 0
    try:
        for passage in kills.passages(passed):
            forget_everything(executor)
            tried += 1
            assert not executor.restart(KUBEXM_CRASH_AT=passage), f"the executor should have died at {passage}"
            executor.start()
            shown = executor.node.run(["kubexmctl", "journal", "show"]).stdout
            assert "journal is not damaged; ledger entries: 0," in shown, f"killed at {passage}: {shown}"
            survived += 1
        host.check_whole()
    finally:
        figure(f"points while the journal is made on a {host.kind} host: {tried} kills, {survived} survived")


def forget_everything(executor: Executor) -> None:
    executor.node.run(["systemctl", "stop", "kubexm-executor.service"])
    executor.node.run(["find", "/var/lib/kubexm-executor", "-mindepth", "1", "-delete"])


def test_killed_at_system_calls(host, figure, tmp_path):
    forth, back = (shuffled_calls(course, tmp_path) for course in (host.forth, host.back))
    hosts.remake_deleted(host.executor)
    kills_before = host.forth.kills + host.back.kills
    done = 0
    while (forth or back) and done < STRACE_KILLS:
        for course, calls in ((host.forth, forth), (host.back, back)):
            done += killed_at_call(course, calls.pop() if calls else None)
        hosts.remake_deleted(host.executor)
    host.check_whole()
    assert done >= STRACE_KILLS or not (forth or back)
    killed = host.forth.kills + host.back.kills - kills_before
    figure(f"system calls on a {host.kind} host: {killed} kills, {done} survived")


def shuffled_calls(course: kills.Course, tmp_path: Path) -> list[tuple[str, int]]:
    calls = strace.counted(course.executor, DURABLE_CALLS, course.send, tmp_path / course.word)
    course.check_end("a run under strace")
    random.Random(f"{SEED} {course.word}").shuffle(calls)
    return calls


def killed_at_call(course: kills.Course, call: tuple[str, int] | None) -> bool:
    """Whether the call came; otherwise the run was uninterrupted."""
    last = course.executor.last()
    if call is None:
        course.run([])
        return False
    if not kill_at_call(course, *call):
        course.check_end("a run without that call")
        return False
    course.finish(f"killed at call {call[1]} of {call[0]}", last)
    return True


def kill_at_call(course: kills.Course, call: str, number: int) -> bool:
    with strace.injected(course.executor, call, f"signal=SIGKILL:when={number}") as process:
        survived = course.send().returncode == 0
        if not survived:
            process.wait(END_SECONDS)
    if not survived:
        course.executor.wait_death(call)
    return not survived


def test_a_writer_that_is_not_atomic_is_caught(host):
    """The control: without it the tests above would prove nothing."""
    executor = host.executor
    executor.node.push(probe.BUILD / "tests/system/programs/torn_writer.so", f"{PLACE}/torn_writer.so")
    executor.restart(LD_PRELOAD=f"{PLACE}/torn_writer.so")
    executor.place("torn_writer.so").unlink()
    host.forth.send()
    executor.wait_death("the torn write")
    with pytest.raises(AssertionError, match=f"{plan.CERTIFICATE}: .* is neither"):
        host.forth.check_instant("the control")
    executor.start()
    host.forth.check_end("what the journal knows is done again")
    host.back.run([])
    hosts.remake_deleted(executor)
    host.check_whole()


def test_the_comparison_sees_every_change(node):
    """The other control, on a host of its own: it stays changed."""
    executor = Executor(node, Path(os.environ["KUBEXM_TREE"]))
    hosts.bare(executor)
    file = executor.root / plan.CERTIFICATE[1:]
    file.parent.mkdir(parents=True, exist_ok=True)
    changes = {
        plan.CERTIFICATE: [lambda: file.write_text("other"), lambda: file.chmod(0o640), lambda: os.chown(file, 7, 0),
                           lambda: os.chown(file, 7, 7), lambda: os.setxattr(file, "user.other", b"")],
        f"{plan.PKI}/.left": [lambda: (file.parent / ".left").touch()],
        "unit loud.service": [lambda: executor.node.run(["systemctl", "stop", "loud.service"])],
        "sysctl net.ipv4.ip_forward": [lambda: executor.node.run(["sysctl", "-qw", "net.ipv4.ip_forward=1"])],
    }
    for name, ways in changes.items():
        for change in ways:
            last = state.take(executor)
            change()
            assert name in "\n".join(state.difference(last, state.take(executor)))
