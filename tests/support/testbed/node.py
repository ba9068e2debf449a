"""A host as a user brings it: Debian with systemd as PID 1, containerd running, no Kubernetes yet.

    with Node(suite="trixie") as node:
        node.run(["systemctl", "start", "something"])
        print(node.journal("--unit=something"))

Nodes live in a sandbox (testbed.sandbox); their image is made before (testbed.image).
"""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from testbed import enter, evidence, image, network, snapshot
from testbed.disk import Disk
from testbed.machine import Machine
from testbed.nspawn import Container, NodeFailed

BOOT_SECONDS = 180  # deadlines for busy machines; a boot takes one to three
END_SECONDS = 180
COMMAND_SECONDS = 300  # programs under a sanitizer are slow besides


class Node(Machine):
    def __init__(self, name: str | None = None, suite: str = "bookworm") -> None:
        self._image = image.require(suite)
        self.number = network.claim_node_number()
        self.suite = suite
        self.name = name or f"node-{self.number}"
        self.address = f"10.99.0.{self.number}"
        self.pod_cidr = f"10.244.{self.number}.0/24"
        self._directory = _make_directory(self.name)
        self.console = self._directory / "console.log"
        self._disk = Disk(self._directory, self._image)
        self._disk.personalise(self.name, self.address)
        self.boot_seconds = 0.0
        self._container: Container | None = None
        self._leader: int | None = None
        evidence.provide(self, self.save_logs)

    # --- life ---------------------------------------------------------------------------------

    def boot(self) -> None:
        """Starts the node and returns when systemd says `running`."""
        if self._container is not None:
            raise RuntimeError(f"node {self.name} is already running; poweroff() or kill() it first")
        started = time.monotonic()
        deadline = started + BOOT_SECONDS
        network.ensure_bridge()
        self._container = Container(self.name, self._disk.root, {self._disk.containerd: "/var/lib/containerd"}, self.console)
        self._leader = self._container.wait_ready(deadline)
        self.wait_running(deadline)
        self.boot_seconds = time.monotonic() - started
        print(f"  node {self.name} ({self.suite}, {self.address}) running after {self.boot_seconds:.2f} s",
              file=sys.stderr, flush=True)

    def wait_running(self, deadline: float) -> None:
        """Waits until no start job is left; anything but `running` is an error that shows why."""
        left = max(deadline - time.monotonic(), 1)
        state = self.run(["systemctl", "is-system-running", "--wait"], check=False, timeout=left).stdout.strip()
        if state != "running":
            listed = self.run(["systemctl", "--failed", "--no-legend", "--plain"], check=False).stdout
            failed = [line.split()[0] for line in listed.splitlines()]
            said = self.journal("--boot", "--lines=30", *(f"--unit={unit}" for unit in failed))
            raise NodeFailed(f"node {self.name} is {state!r}, expected 'running'; failed: {' '.join(failed)}; "
                             f"the end of its journal about that:\n{said}")

    def poweroff(self) -> None:
        """An orderly shutdown; boot() starts the node again with the same disk."""
        self.run(["systemctl", "poweroff"], check=False)  # it may be ended before it can report
        self._wait_end()

    def reboot(self) -> None:
        self.run(["systemctl", "reboot"], check=False)
        if not self._wait_end():
            raise NodeFailed(f"node {self.name} was told to reboot and powered off instead")
        self.boot()

    def kill(self) -> None:
        """Every process ends at once, as in a power cut; boot() starts the node again.

        What was written is there, synced or not: the kernel that holds it goes on.
        """
        container, leader = self._container, self._leader
        self._container = self._leader = None
        if container is not None:
            container.kill(leader)

    def close(self) -> None:
        """Ends the node and forgets its disk."""
        self.kill()
        evidence.withdraw(self)
        self._disk.close()
        shutil.rmtree(self._directory)
        network.release(self.number)

    def _wait_end(self) -> bool:
        container, self._container, self._leader = self._container, None, None
        return container.wait_end(END_SECONDS)

    # --- commands and files -------------------------------------------------------------------

    @property
    def leader(self) -> int:
        """The node's PID 1 as seen from the sandbox."""
        if self._leader is None:
            raise RuntimeError(f"node {self.name} is not running; boot() it first")
        return self._leader

    def run(self, argv: Sequence[str], *, input: str | None = None, check: bool = True,
            timeout: float = COMMAND_SECONDS, user: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command in the node and returns what it printed."""
        done = self._run(argv, input.encode() if input is not None else None, check, timeout, user)
        decoded = (part.decode(errors="surrogateescape") for part in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(done.args, done.returncode, *decoded)

    def popen(self, argv: Sequence[str], *, user: str | None = None, **options) -> subprocess.Popen:
        """Starts a command in the node; `options` as for subprocess.Popen."""
        return subprocess.Popen(enter.command(self.leader, argv, user), env=enter.ENVIRONMENT, **options)

    def attach(self, argv: Sequence[str]) -> int:
        """Runs a command with this process's terminal or pipes; Ctrl-C is the command's to handle."""
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            return self.popen(argv).wait()
        finally:
            signal.signal(signal.SIGINT, before)

    def read(self, path: str) -> bytes:
        return self._run(["cat", path]).stdout

    def write(self, path: str, content: str | bytes, mode: int = 0o644) -> None:
        """Replaces a file, making its directories."""
        data = content.encode() if isinstance(content, str) else content
        self._run(["install", "-D", f"--mode={mode:o}", "/dev/stdin", path], data)

    def push(self, local: Path, path: str) -> None:
        """Copies a file from outside, with its permission bits; not through a pipe, as it may be a large program."""
        target = Path(f"/proc/{self.leader}/root{path}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy(local, target)

    def install(self, tree: Path) -> None:
        """Installs a staging tree (DESTDIR) as a package would: files of root, then what postinst does."""
        packed = subprocess.run(["tar", "-C", str(tree), "--owner=0", "--group=0", "-c", "."],
                                check=True, capture_output=True).stdout
        self._run(["tar", "-C", "/", "--keep-directory-symlink", "--no-overwrite-dir", "-x"], packed)
        self.run(["systemd-sysusers"])
        self.run(["systemd-tmpfiles", "--create"])
        for unit in ("kubexmd", "kubexm-executor"):  # tests kill them often
            self.write(f"/etc/systemd/system/{unit}.service.d/soon.conf", "[Service]\nRestartSec=1\n")
        self.run(["systemctl", "daemon-reload"])

    def install_and_start(self, tree: Path) -> None:
        """kubexmd and its executor, without a management cluster."""
        self.install(tree)
        self.run(["systemctl", "enable", "--now", "kubexm-executor.socket", "kubexmd"])

    def _run(self, argv: Sequence[str], data: bytes | None = None, check: bool = True,
             timeout: float = COMMAND_SECONDS, user: str | None = None) -> subprocess.CompletedProcess[bytes]:
        done = enter.capture(self.name, argv, enter.command(self.leader, argv, user), data, timeout)
        if check and done.returncode != 0:
            printed = (done.stdout + done.stderr).decode(errors="replace")
            raise enter.CommandFailed(self.name, argv, f"ended with {done.returncode}, expected 0", printed)
        return done

    # --- looking at it ------------------------------------------------------------------------

    def snapshot(self) -> snapshot.Snapshot:
        """Everything a person could find changed on this host; testbed.snapshot compares two."""
        return snapshot.take(self.name, self.leader, lambda text: self.run(["sh", "-s"], input=text).stdout)

    def shown(self, name: str, unit: str) -> str:
        """A property of a unit, as systemctl show prints it."""
        return self.run(["systemctl", "show", "-P", name, unit]).stdout.strip()

    def journal(self, *options: str) -> str:
        """The journal, also of a node that is switched off."""
        argv = ["journalctl", "--no-pager", *options]
        outside = ["chroot", str(self._disk.root), *argv, "--directory=/var/log/journal"]
        full = enter.command(self._leader, argv) if self._leader else outside
        return enter.capture(self.name, argv, full, None, COMMAND_SECONDS).stdout.decode(errors="replace")

    def save_logs(self, directory: Path) -> None:
        (directory / f"{self.name}-console.log").write_bytes(self.console.read_bytes())
        (directory / f"{self.name}-journal.log").write_text(self.journal())


def _make_directory(name: str) -> Path:
    directory = network.run_directory() / "nodes" / name
    try:
        directory.mkdir(parents=True)
    except FileExistsError:
        raise RuntimeError(f"a node named {name} exists in this sandbox; close it first or take another name") from None
    return directory
