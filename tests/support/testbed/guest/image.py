"""What guests start from: the packages of a node and a kernel, as a disk to boot; kept in the cache."""

import shutil
import subprocess
from pathlib import Path

from testbed import cache, image

SUITE = "bookworm"
RECIPE = image.RECIPE.parent / "guest-image"
KERNEL, INITRD, DISK = "kernel", "initrd", "disk"
DISK_SIZE = "2G"  # what is not written to takes no space


def path() -> Path:
    """The directory with kernel, initrd and disk; made now if it is not in the cache, in about three minutes."""
    return cache.entry("guest-image", _key(), "guest image", _make)


def require() -> Path:
    """The same where nothing can be downloaded: inside a sandbox."""
    made = cache.root() / "guest-image" / _key()
    if not made.is_dir():
        raise LookupError(f"there is no guest image at {made}, and a sandbox cannot download one; "
                          "make it first: python3 -m testbed prepare everything")
    return made


def make_disk(file: Path, size: str, content: Path) -> None:
    done = subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", str(content), str(file), size],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"cannot make a disk from {content}: {done.stderr.strip()}")


def _key() -> str:
    return cache.digest(image.key(SUITE), image.packages("guest"), DISK_SIZE, *image.recipe(RECIPE))


def _make(into: Path) -> None:
    root = into / "root"
    root.mkdir()
    image.make(SUITE, root, image.packages("every", SUITE, "guest"), [image.RECIPE, RECIPE])
    for name, pattern in ((KERNEL, "vmlinuz-*"), (INITRD, "initrd")):
        [found] = (root / "boot").glob(pattern)
        shutil.move(found, into / name)
    make_disk(into / DISK, DISK_SIZE, root)
    shutil.rmtree(root)
