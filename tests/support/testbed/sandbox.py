"""Runs a command with process, mount and network namespaces of its own, as root.

    python3 -m testbed.sandbox COMMAND [ARGUMENT...]

Nodes, clusters and tests live in a sandbox. When the command ends, or the sandbox is killed in
whatever way, the kernel ends every process, unmounts every mount and removes every bridge and
network namespace that was made inside; and because the network is private, two checkouts never
meet in an address or a port. What the kernel does not clean, the working directory and the
cgroups, is removed here; what a killed sandbox left of those, by the next one.

The command finds its working directory in KUBEXM_RUN and its cgroups as /<name of that directory>
in every hierarchy.
"""

import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from testbed import cache

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x8000000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG = 1
INOTIFY_INSTANCES = 1024
GRACE_SECONDS = 60  # for an interrupted command to write down what it was doing, also on a busy machine

libc = ctypes.CDLL(None, use_errno=True)


def cgroups(name: str) -> list[Path]:
    """The cgroup of this name in every hierarchy that is mounted (v1: several, v2: one)."""
    top = Path("/sys/fs/cgroup")
    hierarchies = [top] if (top / "cgroup.procs").exists() else top.iterdir()
    return [path / name for path in hierarchies if (path / "cgroup.procs").exists()]


def remove_cgroups(name: str) -> None:
    for group in cgroups(name):
        for directory, _, _ in os.walk(group, topdown=False):
            _remove_cgroup(Path(directory))


def _enter_cgroup(name: str) -> None:
    """On cgroup v2 a program takes what the group of process 1 offers for all there is, so process 1
    needs a group with every controller; nodes get theirs beside it."""
    top = Path("/sys/fs/cgroup")
    if not (top / "cgroup.controllers").exists():
        return
    group = top / name / "sandbox"
    group.mkdir(parents=True)
    for parent in (top, group.parent):
        controllers = (parent / "cgroup.controllers").read_text().split()
        (parent / "cgroup.subtree_control").write_text(" ".join(f"+{controller}" for controller in controllers))
    (group / "cgroup.procs").write_text("0")


def _remove(run: Path) -> None:
    remove_cgroups(run.name)
    shutil.rmtree(run, ignore_errors=True)


def _remove_cgroup(group: Path) -> None:
    deadline = time.monotonic() + 5
    while group.is_dir():
        try:
            group.rmdir()
        except OSError:  # a process that was killed a moment ago is still leaving
            if time.monotonic() > deadline:
                return
            time.sleep(0.02)


def _claim() -> tuple[Path, int]:
    """Makes the working directory; its lock lives as long as this process."""
    while True:
        run = cache.root() / "run" / f"kubexm-{os.getpid()}-{time.time_ns() % 10**9}"
        run.mkdir(parents=True)
        lock = os.open(run, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if run.is_dir():
            return run, lock
        os.close(lock)  # another sandbox took it for a stale one before it was locked


def _remove_stale() -> None:
    for run in (cache.root() / "run").glob("kubexm-*"):
        try:
            handle = os.open(run, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(run)
        except BlockingIOError:  # alive
            pass
        finally:
            os.close(handle)


def _init(name: str, command: list[str]) -> int:
    """Process 1 of the sandbox: starts the command, reaps orphans, ends with the command."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    _enter_cgroup(name)
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-t", "proc", "proc", "/proc"], check=True)
    # locks and sockets of tools that think they own the machine (nspawn, iptables, ip netns)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/run"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    child = subprocess.Popen(command)
    signal.signal(signal.SIGINT, lambda *_: None)  # the terminal sends it to the command as well
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child.pid, signal.SIGTERM))
    while True:
        pid, status = os.wait()
        if pid == child.pid:
            child.returncode = 0  # reaped here, not by Popen
            return os.waitstatus_to_exitcode(status)


def _allow_many_nodes() -> None:
    """The kernel counts the inotify instances of root over all sandboxes, and every systemd has a dozen."""
    limit = Path("/proc/sys/fs/inotify/max_user_instances")
    if int(limit.read_text()) < INOTIFY_INSTANCES:
        limit.write_text(str(INOTIFY_INSTANCES))


def _supervise(init: int) -> int:
    """Waits for the sandbox; an interrupted one has GRACE_SECONDS to end by itself."""
    def stop(*_):
        signal.alarm(GRACE_SECONDS)
        os.kill(init, signal.SIGTERM)

    signal.signal(signal.SIGALRM, lambda *_: os.kill(init, signal.SIGKILL))
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    return os.waitstatus_to_exitcode(os.waitpid(init, 0)[1])


def run(command: list[str]) -> int:
    if os.geteuid() != 0:
        sys.exit("this needs root: nodes live in mount, process and network namespaces")
    _remove_stale()
    _allow_many_nodes()
    directory, lock = _claim()
    os.environ["KUBEXM_RUN"] = str(directory)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    outside = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    if libc.unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET) != 0:
        sys.exit(f"cannot make namespaces: {os.strerror(ctypes.get_errno())}")
    init = os.fork()
    if init == 0:
        code = _init(directory.name, command)
        os._exit(code if code >= 0 else 128 - code)
    # Back out, so that the sandbox's mounts end with its processes and are never walked into here.
    if libc.setns(outside, CLONE_NEWNS) != 0:
        sys.exit(f"cannot leave the sandbox's mounts: {os.strerror(ctypes.get_errno())}")
    try:
        return _supervise(init)
    finally:
        _remove(directory)
        os.close(lock)


if __name__ == "__main__":
    code = run(sys.argv[1:])
    sys.exit(code if code >= 0 else 128 - code)
