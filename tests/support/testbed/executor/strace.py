"""System calls of the executor, counted and tampered with from outside the node."""

import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from testbed.executor import Executor

NOTHING = re.compile(r"(?!)")


@contextmanager
def attached(pid: int, calls: Sequence[str], *options: str) -> Iterator[subprocess.Popen]:
    """Within it the process runs under strace. If it dies of that, wait for the end of strace before leaving."""
    command = ["strace", "-f", "-p", str(pid), "-e", f"trace={','.join(calls)}", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        assert "attached" in line, f"{' '.join(command)} said {line!r}"
        yield process
    finally:
        process.terminate()  # lets it go on
        process.communicate(timeout=30)


def counted(executor: Executor, calls: Sequence[str], send: Callable[[], object], file: Path,
            without: re.Pattern[str] = NOTHING) -> list[tuple[str, int]]:
    """Every call of an uninterrupted run, by name and number, except those whose arguments match `without`.

    strace counts each thread for itself: where two make the same call, its first is that of either.
    """
    with attached(executor.pid(), calls, "-y", "-o", str(file)):
        send()
    seen, found = Counter(), set()
    for thread, call, rest in re.findall(r"^(\d+) +(\w+)\((.*)", file.read_text(), re.MULTILINE):
        seen[thread, call] += 1
        if not without.search(rest):
            found.add((call, seen[thread, call]))
    return sorted(found)


@contextmanager
def injected(executor: Executor, call: str, what: str) -> Iterator[subprocess.Popen]:
    """injected(executor, "renameat", "signal=SIGKILL:when=3")"""
    with attached(executor.pid(), [call], "-o", "/dev/null", "-e", f"inject={call}:{what}") as process:
        yield process


@contextmanager
def slowed(pid: int, seconds: float) -> Iterator[None]:
    """Within it every write to the disk takes so much longer, and with it every step of a plan."""
    with attached(pid, ["fsync", "fdatasync"], "-o", "/dev/null",
                  "-e", f"inject=fsync,fdatasync:delay_enter={int(seconds * 1e6)}"):
        yield
