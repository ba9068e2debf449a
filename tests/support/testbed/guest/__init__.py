"""A host with a kernel of its own, for what nodes cannot do because they share the machine's: modules, swap,
a power cut that loses what was not synced, control groups of version 2.

    with Guest(tree) as guest:
        guest.run(["swapon", "--show"])
        guest.power_cut()
        guest.boot()

QEMU emulates it in software, so that it works wherever the tests do. Guests live in a sandbox; their image is
made before (testbed.guest.image).
"""

import base64
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from testbed import enter, evidence, network
from testbed.guest import control, image
from testbed.machine import Machine
from testbed.nspawn import NodeFailed
from testbed.process import Process

BOOT_SECONDS = 600  # deadlines for busy machines: the processor is emulated
COMMAND_SECONDS = 300

COMMAND_LINE = ("console=ttyS0 loglevel=4 mitigations=off sysctl.vm.dirty_writeback_centisecs=0 "
                "systemd.show_status=error systemd.mask=serial-getty@ttyS0.service")


class Guest(Machine):
    def __init__(self, tree: Path) -> None:
        """`tree`: a staging tree (DESTDIR) that install() takes from."""
        made = image.require()
        self.directory = network.run_directory() / "guest"
        self.directory.mkdir()
        self.console = self.directory / "console.log"
        subprocess.run(["cp", "--sparse=always", str(made / image.DISK), str(self.directory / "disk")], check=True)
        _pack(tree, self.directory / "tree")
        with open(self.directory / "blank", "wb") as blank:
            blank.truncate(64 << 20)
        self._qemu = Process("QEMU", _command(made, self.directory, self.console), self.directory / "qemu.log")
        self._control: control.Control | None = None
        evidence.provide(self, self.save_logs)

    # --- life ---------------------------------------------------------------------------------

    def boot(self) -> None:
        """Starts the guest and returns when systemd says `running`."""
        socket = self.directory / "control"
        socket.unlink(missing_ok=True)
        started = time.monotonic()
        self._qemu.start()
        self._control = self._qemu.wait_until("a control port", lambda: control.connect(socket), BOOT_SECONDS)
        self._wait_running(started)

    def reboot(self) -> None:
        """Whatever the kernel keeps in memory begins anew."""
        started = time.monotonic()
        self._control.send("systemctl reboot")
        self._wait_running(started)

    def power_cut(self) -> None:
        """The machine is gone at once; boot() starts it again with what is on the disk."""
        self._qemu.kill()
        if self._control is not None:
            self._control.close()

    def close(self) -> None:
        evidence.withdraw(self)
        self.power_cut()
        shutil.rmtree(self.directory)

    def _wait_running(self, started: float) -> None:
        try:
            self._control.wait_ready(started + BOOT_SECONDS)
        except control.Lost as error:
            raise NodeFailed(f"{error} in its boot; the end of its console:\n{self._console_end()}") from None
        asked = self.run(["systemctl", "is-system-running", "--wait"], check=False, timeout=BOOT_SECONDS)
        state = asked.stdout.strip()
        if state != "running":
            listed = self.run(["systemctl", "--failed", "--no-legend", "--plain"], check=False).stdout
            raise NodeFailed(f"the guest is {state!r}, expected 'running'; failed:\n{listed}")
        print(f"  guest running after {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)

    # --- commands and files -------------------------------------------------------------------

    def run(self, argv: Sequence[str], *, input: str | None = None, check: bool = True,
            timeout: float = COMMAND_SECONDS) -> subprocess.CompletedProcess[str]:
        """Runs a command in the guest and returns what it printed."""
        script = shlex.join(argv)
        if input is not None:
            script = f"base64 -d <<<{base64.b64encode(input.encode()).decode()} | {script}"
        code, out, err = self._control.run(script, timeout)
        decoded = (part.decode(errors="surrogateescape") for part in (out, err))
        done = subprocess.CompletedProcess(list(argv), code, *decoded)
        if check and code != 0:
            raise enter.CommandFailed("the guest", argv, f"ended with {code}, expected 0", done.stdout + done.stderr)
        return done

    def shell(self, script: str) -> str:
        return self.run(["bash", "-euc", script]).stdout

    def write(self, path: str, content: str, mode: int = 0o644) -> None:
        self.run(["install", "-D", f"--mode={mode:o}", "/dev/stdin", path], input=content)

    def install(self) -> None:
        """Installs the staging tree as a package would: files of root, then what postinst does."""
        self.shell("mount -o ro /dev/disk/by-id/virtio-tree /mnt; "
                   "tar -C /mnt --owner=0 --group=0 --exclude=./lost+found -c . | "
                   "tar -C / --keep-directory-symlink --no-overwrite-dir -x; "
                   "umount /mnt; systemd-sysusers; systemd-tmpfiles --create; systemctl daemon-reload; sync")

    def save_logs(self, directory: Path) -> None:
        shutil.copy(self.console, directory / "guest-console.log")
        shutil.copy(self._qemu.log, directory / "guest-qemu.log")
        (directory / "guest-journal.log").write_text(self.run(["journalctl", "--no-pager"], check=False).stdout)

    def _console_end(self) -> str:
        return "\n".join(self.console.read_text(errors="replace").splitlines()[-30:] + [self._qemu.tail()])


def _pack(tree: Path, disk: Path) -> None:
    """Without debug symbols: an emulated processor would copy what they weigh."""
    light = disk.with_name("light")
    shutil.copytree(tree, light, symlinks=True)
    programs = [path for path in light.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    subprocess.run(["strip", "--strip-debug", *programs], check=True)
    image.make_disk(disk, "256M", light)
    shutil.rmtree(light)


def _command(made: Path, directory: Path, console: Path) -> list[str]:
    return ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "qemu64,-svm", "-m", "1024",
            "-nodefaults", "-no-user-config", "-display", "none", "-nic", "none",
            "-kernel", str(made / image.KERNEL), "-initrd", str(made / image.INITRD), "-append", COMMAND_LINE,
            "-chardev", f"file,id=console,path={console},append=on", "-serial", "chardev:console",
            "-chardev", f"socket,id=control,path={directory / 'control'},server=on,wait=off",
            "-device", "virtio-serial-pci", "-device", "virtserialport,chardev=control,name=control",
            "-device", "virtio-rng-pci",
            *_disk(directory / "disk", "root"), *_disk(directory / "tree", "tree", "on"),
            *_disk(directory / "blank", "blank")]


def _disk(file: Path, serial: str, read_only: str = "off") -> list[str]:
    # The machine's own memory outlives QEMU: to the guest this is a disk without a cache that could be lost.
    return ["-drive", f"file={file},format=raw,if=none,id={serial},cache=writeback,read-only={read_only}",
            "-device", f"virtio-blk-pci,drive={serial},serial={serial}"]
