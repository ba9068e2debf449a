"""The disk of a node: an overlay on the image, and what makes the node different from other nodes."""

import subprocess
import uuid
from pathlib import Path

from testbed import network


class Disk:
    """Files of one node. They outlive reboots and power cuts, and end with the node."""

    def __init__(self, directory: Path, image: Path) -> None:
        self.root = directory / "root"
        # containerd puts overlays of its own there, and an overlay cannot lie on an overlay
        self.containerd = directory / "containerd"
        upper, work = directory / "upper", directory / "work"
        for made in (self.root, self.containerd, upper, work):
            made.mkdir()
        upper.chmod(0o755)
        self.containerd.chmod(0o711)
        _must("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={image},upperdir={upper},workdir={work}",
              str(self.root))

    def personalise(self, name: str, address: str) -> None:
        _write(self.root / "etc/hostname", name)
        _write(self.root / "etc/hosts", f"127.0.0.1 localhost\n{address} {name}")
        _write(self.root / "etc/machine-id", uuid.uuid4().hex)
        _write(self.root / "etc/testbed/network", f"ADDRESS={address}\nGATEWAY={network.GATEWAY}")

    def close(self) -> None:
        _must("umount", "--lazy", str(self.root))  # a process that was killed may still be leaving


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text + "\n")
    path.chmod(0o644)


def _must(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
