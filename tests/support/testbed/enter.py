"""Commands inside a node: in all namespaces and in the control groups of the node's PID 1; and connections there."""

import ctypes
import os
import shlex
import signal
import socket
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from testbed.sandbox import CLONE_NEWNET, libc

ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
               "LANG": "C.UTF-8", "TERM": os.environ.get("TERM", "dumb")}

# Joins the control groups whose files come first, then becomes the command after "--".
_JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1"; shift; done; shift; exec "$@"'


class CommandFailed(RuntimeError):
    """A command in a node ended otherwise than it should; says which, how, and what it printed."""

    def __init__(self, where: str, argv: Sequence[str], how: str, printed: str) -> None:
        super().__init__(f"on {where}: {shlex.join(argv)}\n{how}; it printed:\n{printed.strip() or '(nothing)'}")


def joining(groups: Sequence[Path], argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` in these control groups."""
    files = [str(group / "cgroup.procs") for group in groups]
    return ["sh", "-c", _JOIN, "join", *files, "--", *argv]


def command(leader: int, argv: Sequence[str], user: str | None = None) -> list[str]:
    """The command that runs `argv` beside process `leader`, the PID 1 of a node."""
    as_user = ["runuser", "-u", user, "--"] if user else []
    nsenter = ["nsenter", "--target", str(leader), "--all", "--wd", "--", *as_user, *argv]
    return joining(_groups_of(leader), nsenter)


def capture(where: str, argv: Sequence[str], full: Sequence[str], data: bytes | None,
            timeout: float) -> subprocess.CompletedProcess[bytes]:
    """Runs `full` to its end. `argv` is what the caller asked for, said in errors.

    A session of its own, because nsenter forks: only the whole group can be ended on time.
    """
    process = subprocess.Popen(full, stdin=subprocess.PIPE if data is not None else subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, start_new_session=True)
    try:
        out, err = process.communicate(data, timeout=timeout)
    except subprocess.TimeoutExpired as late:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
        printed = (late.stdout or b"") + (late.stderr or b"")
        raise CommandFailed(where, argv, f"did not end within {timeout:g} s", printed.decode(errors="replace")) from None
    return subprocess.CompletedProcess(list(argv), process.returncode, out, err)


def processes(leader: int, unit: str) -> list[int]:
    """Of a service of the node, as they are numbered here; its main process is the first."""
    group = next(group for group in _groups_of(leader) if group.name == "init.scope").parent / "system.slice" / unit
    try:
        return sorted(map(int, (group / "cgroup.procs").read_text().split()))
    except OSError:  # it does not run, or ends in this moment
        return []


def connect(leader: int, address: tuple[str, int], timeout: float) -> socket.socket:
    """A connection that begins beside process `leader`. A thread of its own joins the node's network for that."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_join_and_connect, leader, address, timeout).result()


def _join_and_connect(leader: int, address: tuple[str, int], timeout: float) -> socket.socket:
    with open(f"/proc/{leader}/ns/net") as network:
        if libc.setns(network.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot join the network of process {leader}")
    return socket.create_connection(address, timeout)


def _groups_of(leader: int) -> list[Path]:
    """Where a process is in each hierarchy; a line reads `number:controllers:path`."""
    groups = []
    for line in Path(f"/proc/{leader}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        group = _hierarchy(controllers) / path.lstrip("/")
        if group.is_dir():
            groups.append(group)
    return groups


def _hierarchy(controllers: str) -> Path:
    top = Path("/sys/fs/cgroup")
    if controllers:
        return top / controllers.removeprefix("name=")
    return top / "unified" if (top / "unified").is_dir() else top
