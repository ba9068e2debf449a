"""A full disk, an I/O error, a read-only file system: the old state stays, the file is named, and it heals."""

import itertools
import os
import random
import re
import sqlite3
import subprocess
from pathlib import Path

import pytest

from testbed import enter, waiting
from testbed.executor import Executor, hosts, kills, state, strace
from testbed.executor.reference import Host, boot
from testbed.executor_wire import STATE

DEEP = "KUBEXM_TEST_DEEP" in os.environ
SEED = os.environ.get("KUBEXM_TEST_SEED", "1")
SAMPLE = 100 if DEEP else 8  # of each way, forth and back; a deep run has another seed every time
UNHEARD = -1  # instead of an exit code: the command did not end
HEAL_SECONDS = 120  # the executor tries again after 1, 2, 4, ... seconds

WRITING = ["write", "pwrite64", "fsync", "fdatasync", "ftruncate", "renameat", "unlinkat", "mkdirat", "symlinkat",
           "openat", "fchmodat", "setxattr"]
SQLITE = "disk I/O error"  # whatever the kernel said where it was asked to sync
ERRORS = {"ENOSPC": f"No space left on device|database or disk is full|{SQLITE}", "EIO": f"Input/output error|{SQLITE}"}
NOT_FILES = re.compile(r"<(anon_inode|socket|pipe):")
FILE = r"/(etc|var|opt|run|proc|sys|usr)/[^ :]+"


@pytest.fixture(scope="module")
def host():
    with boot("foreign", "bookworm") as made:
        yield made


def test_seeded_faults_at_writes(host, figure, tmp_path):
    """SAMPLE of all calls that write, each way, with each error, once or lasting."""
    forth, back = (sample(course, tmp_path) for course in (host.forth, host.back))
    hosts.remake_deleted(host.executor)
    seen = {"forth": 0, "back": 0}
    for pair in itertools.zip_longest(forth, back):
        for way, course, fault in zip(seen, (host.forth, host.back), pair):
            if fault is None:
                course.run([])
            else:
                seen[way] += run_with_fault(course, *fault)
        hosts.remake_deleted(host.executor)
    check_journal(host.executor, tmp_path)
    host.check_whole()
    assert min(seen.values()) > 0, "no fault was felt: they were injected elsewhere"
    figure(f"faults at writes: {len(forth) + len(back)} injected, {sum(seen.values())} stopped a plan, all healed")


def sample(course: kills.Course, tmp_path: Path) -> list[tuple[str, str, str]]:
    """Calls, errors and what is injected there: once, or from there on until the fault goes.

    Not so for write, which also wakes the executor's loop: no disk can make that fail.
    """
    calls = strace.counted(course.executor, WRITING, course.send, tmp_path / course.word, NOT_FILES)
    course.check_end("a run under strace")
    faults = [(call, error, f"error={error}:when={number}{more}")
              for call, number in calls for error in ERRORS for more in ("", "+")
              if (call, more) != ("write", "+")]
    random.Random(f"{SEED} {course.word}").shuffle(faults)
    return faults[:SAMPLE]


def run_with_fault(course: kills.Course, call: str, error: str, what: str) -> bool:
    """Whether the plan was stopped; some faults only delay what is done again anyway."""
    circumstances, executor = f"{call} with {what}", course.executor
    last = executor.last()
    with strace.injected(executor, call, what):
        result = sent(course, call)
        said = result.stdout + result.stderr
        assert executor.alive(), f"{circumstances}: {said}"
        course.check_instant(circumstances)
    stopped = result.returncode not in (0, UNHEARD)
    if stopped:
        assert re.search(ERRORS[error], said) and re.search(FILE, said), f"{circumstances}: {said}"
    heal(course, last, circumstances)
    return stopped


def sent(course: kills.Course, call: str) -> subprocess.CompletedProcess:
    """A write that was to wake the loop may be the one that fails: then nobody hears of the plan until later."""
    try:
        return course.send()
    except enter.CommandFailed:
        if call != "write":
            raise
        return subprocess.CompletedProcess([], UNHEARD, "", "")


def heal(course: kills.Course, last: str, circumstances: str) -> None:
    """A plan that the journal could not follow goes on by itself; one that failed is sent again."""
    now = waiting.until(f"the end of the plan after {circumstances}", lambda: ended(course.executor), HEAL_SECONDS)
    if now == last or now.startswith("failed"):
        again = course.send()
        assert again.returncode == 0, f"again after {circumstances}: {again.stdout}{again.stderr}"
    # The plan may have ended before its content could be forgotten: that is made good later.
    waiting.until(f"the host's end state after {circumstances}",
                  lambda: not state.difference(course.after, state.take(course.executor)), HEAL_SECONDS,
                  lambda: "\n".join(state.difference(course.after, state.take(course.executor))))
    course.check_end(f"after {circumstances}")


def ended(executor: Executor) -> str:
    shown = executor.node.run(["kubexmctl", "history", "--limit", "1"], check=False)
    return "" if shown.returncode != 0 or shown.stdout.startswith("running") else " ".join(shown.stdout.split())


def check_journal(executor: Executor, tmp_path: Path) -> None:
    executor.node.run(["systemctl", "stop", "kubexm-executor.service"])
    copy = tmp_path / "journal.db"
    copy.write_bytes((executor.root / "var/lib/kubexm-executor/journal.db").read_bytes())
    with sqlite3.connect(copy) as journal:
        assert journal.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    executor.start()


# --- file systems that are really full or read-only ---------------------------------------------------


@pytest.fixture(params=["/var/lib/kubexm-executor", "/etc/kubernetes"])
def small(request):
    """A bare host with a file system of its own on that directory, and the directory."""
    def mount(executor: Executor) -> None:
        executor.node.run(["systemctl", "stop", "kubexm-executor.service"])
        executor.node.run(["mkdir", "-p", request.param])
        executor.node.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=0755", "small", request.param])
        executor.start()

    with boot("bare", "bookworm", mount) as made:
        yield made, request.param


def check_stopped(host: Host, directory: str, complaint: str) -> None:
    result = host.forth.send()
    said = result.stdout + result.stderr
    assert result.returncode != 0, said
    assert re.search(complaint, said) and directory in said, said
    host.forth.check_instant(complaint)


def test_a_full_file_system_heals(small):
    host, directory = small
    last = host.executor.last()
    filler = host.executor.root / directory[1:] / "filler"
    fill(filler)
    check_stopped(host, directory, ERRORS["ENOSPC"])
    filler.unlink()
    check_healed(host, last)


def test_a_read_only_file_system_heals(small):
    """As the kernel makes one after errors: the file system, not the mount."""
    host, directory = small
    last = host.executor.last()
    host.executor.node.run(["systemctl", "stop", "kubexm-executor.service"])  # a mount cannot be changed while a process writes
    host.executor.node.run(["mount", "-o", "remount,ro", directory])
    host.executor.node.run(["mount", "-o", "remount,bind,rw", directory])
    host.executor.start()
    check_stopped(host, directory, "Read-only file system|readonly database")
    host.executor.node.run(["mount", "-o", "remount,rw", directory])
    check_healed(host, last)


@pytest.fixture
def roomy():
    """A bare host whose executor has a file system of its own, with a plan on it."""
    def mount(executor: Executor) -> None:
        executor.node.run(["systemctl", "stop", "kubexm-executor.service"])
        executor.node.run(["mount", "-t", "tmpfs", "-o", "size=32m,mode=0700", "roomy", STATE])
        executor.start()

    with boot("bare", "bookworm", mount) as made:
        yield made


def test_a_host_with_a_full_disk_is_given_back(roomy):
    roomy.forth.run([])
    filler = roomy.executor.root / STATE[1:] / "filler"
    reserve = filler.with_name("reserve")
    assert reserve.stat().st_size == 1 << 20
    fill(filler)
    done = roomy.executor.undo()
    assert done.returncode == 0, done.stdout + done.stderr
    assert not reserve.exists()
    filler.unlink()
    hosts.remake_deleted(roomy.executor)
    roomy.forth.run([])
    assert reserve.exists()
    roomy.back.run([])
    hosts.remake_deleted(roomy.executor)
    roomy.check_whole()


def fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                pass


def check_healed(host: Host, last: str) -> None:
    heal(host.forth, last, "the fault is gone")
    host.back.run([])
    hosts.remake_deleted(host.executor)
    host.check_whole()
