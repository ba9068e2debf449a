"""systemd in a container: starts systemd-nspawn on a root directory and waits until it is up."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from testbed import enter, network, sandbox

UNIFIED = Path("/sys/fs/cgroup/cgroup.controllers")
_REBOOT_STATUS = 133  # how systemd-nspawn --keep-unit says "start me again"


class NodeFailed(RuntimeError):
    """A node did not come up or go down; carries the end of its console."""


class Container:
    """One boot of a node."""

    def __init__(self, name: str, root: Path, binds: dict[Path, str], console: Path) -> None:
        self._name, self._console = name, console
        self._notify = _notify_socket(name)
        self._output = open(console, "ab")
        self._process = subprocess.Popen(
            enter.joining(_make_cgroups(name), _command(name, root, binds)), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT, env=_environment(name))

    def wait_ready(self, deadline: float) -> int:
        """Waits until systemd says it has started; returns its process id as seen from here."""
        leader, ready = 0, False
        while not (leader and ready):
            for line in self._next_message(deadline).splitlines():
                key, _, value = line.partition("=")
                leader = int(value) if key == "X_NSPAWN_LEADER_PID" else leader
                ready = ready or key == "READY"
        self._notify.close()  # systemd also reports every reload later, and would block when nothing reads that
        return leader

    def _next_message(self, deadline: float) -> str:
        while True:
            try:
                return self._notify.recv(4096).decode()
            except TimeoutError:
                self._check_alive(deadline)

    def _check_alive(self, deadline: float) -> None:
        if self._process.poll() is not None:
            raise self._failure(f"did not boot: systemd-nspawn ended with {self._process.returncode}")
        if time.monotonic() > deadline:
            raise self._failure("did not boot: systemd did not say in time that it has started")

    def _failure(self, what: str) -> NodeFailed:
        lines = [line for line in self._console.read_text(errors="replace").splitlines() if line.strip()]
        return NodeFailed(f"node {self._name} {what}; the end of its console:\n" + "\n".join(lines[-30:]))

    def wait_end(self, timeout: float) -> bool:
        """Waits until the container is gone; True if it asked to be started again."""
        try:
            status = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            failure = self._failure(f"did not go down within {timeout:g} s")
            self.kill(None)
            raise failure from None
        self._close()
        return status == _REBOOT_STATUS

    def kill(self, leader: int | None) -> None:
        """A power cut: no process of the node gets to do anything more."""
        if leader is not None:
            _kill(leader)  # the kernel takes the rest of its process namespace along
        try:
            self._process.wait(5 if leader is not None else 0)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(10)
        self._close()

    def _close(self) -> None:
        self._notify.close()
        self._output.close()
        sandbox.remove_cgroups(_group(self._name))  # as little survives a reboot on a real host


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _command(name: str, root: Path, binds: dict[Path, str]) -> list[str]:
    return ["systemd-nspawn", f"--directory={root}", f"--machine={name}", "--boot", "--console=read-only",
            "--notify-ready=yes", "--register=no", "--keep-unit",  # no system bus runs outside
            "--capability=all", "--system-call-filter=@known", f"--network-bridge={network.BRIDGE}",
            "--resolv-conf=off", "--timezone=off", "--link-journal=no",
            *(f"--bind={source}:{target}" for source, target in binds.items())]


def _environment(name: str) -> dict[str, str]:
    return enter.ENVIRONMENT | {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1" if UNIFIED.exists() else "0",
                                "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "1", "NOTIFY_SOCKET": f"@{_address(name)}",
                                "TERM": "dumb"}  # for a console log without colours


def _address(name: str) -> str:
    return f"kubexm-node-{name}"


def _notify_socket(name: str) -> socket.socket:
    """In the abstract name space: it belongs to the sandbox's network, and no path is too long."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    listening.bind("\0" + _address(name))
    listening.settimeout(0.05)
    return listening


def _group(name: str) -> str:
    return f"{network.run_directory().name}/{name}"


def _make_cgroups(name: str) -> list[Path]:
    """The node's own group in every hierarchy: two kubelets must not meet in one /kubepods."""
    groups = sandbox.cgroups(_group(name))
    for group in groups:
        for made in (group.parent, group):
            made.mkdir(exist_ok=True)
            _make_usable(made)
    return groups


def _make_usable(group: Path) -> None:
    if group.parts[4] == "cpuset":  # a new group has no processors or memory, so no process may join
        for limit in ("cpuset.cpus", "cpuset.mems"):
            (group / limit).write_text((group.parent / limit).read_text())
