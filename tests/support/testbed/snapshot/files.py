"""Every file of a node, walked from outside: nothing is needed inside, and nothing is changed there."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from testbed.snapshot.model import Facts

_TYPES = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink", stat.S_IFSOCK: "socket",
          stat.S_IFIFO: "pipe", stat.S_IFCHR: "character device", stat.S_IFBLK: "block device"}
_BLOCK = 1 << 20
_image_digests: dict[str, str] = {}  # by path in the cache: an image never changes

Skip = Callable[[str], bool]


def walk(root: Path, image: Path, skip: Skip) -> dict[str, Facts]:
    """Facts of all files below root by their path in the node; `skip(path)` leaves a tree out."""
    statuses = dict(_entries(root, "", skip))
    found = {path: _facts(f"{root}{path}", status) for path, status in statuses.items()}
    regular = [path for path, status in statuses.items() if stat.S_ISREG(status.st_mode)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        digests = pool.map(lambda path: _content(root, image, path, statuses[path]), regular)
        for path, digest in zip(regular, digests):
            found[path]["content"] = digest
    return found


def _entries(root: Path, below: str, skip: Skip) -> Iterator[tuple[str, os.stat_result]]:
    try:
        listed = sorted(os.scandir(f"{root}{below}/"), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):  # it went away while we walked
        return
    for entry in listed:
        path = f"{below}/{entry.name}"
        if skip(path):
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        yield path, status
        if stat.S_ISDIR(status.st_mode):
            yield from _entries(root, path, skip)


def _facts(path: str, status: os.stat_result) -> Facts:
    kind = stat.S_IFMT(status.st_mode)
    facts = {"type": _TYPES[kind], "mode": f"{stat.S_IMODE(status.st_mode):04o}",
             "owner": f"{status.st_uid}:{status.st_gid}"}
    if kind == stat.S_IFREG:
        facts["size"] = str(status.st_size)
        if status.st_nlink > 1:
            facts["hard links"] = str(status.st_nlink)
    if kind in (stat.S_IFCHR, stat.S_IFBLK):
        facts["device"] = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    return facts | _target(path, kind) | _xattrs(path)


def _target(path: str, kind: int) -> Facts:
    try:
        return {"target": os.readlink(path)} if kind == stat.S_IFLNK else {}
    except OSError:  # gone
        return {}


def _xattrs(path: str) -> Facts:
    """Capabilities, labels and access lists are extended attributes too."""
    try:
        return {f"xattr {name}": "0x" + os.getxattr(path, name, follow_symlinks=False).hex()
                for name in os.listxattr(path, follow_symlinks=False)}
    except OSError:  # gone, or a file system without them
        return {}


def _content(root: Path, image: Path, path: str, status: os.stat_result) -> str:
    """Of a file that still is the image's, the digest is computed only once."""
    if not _is_of_image(f"{image}{path}", status):
        return _digest(f"{root}{path}")
    if f"{image}{path}" not in _image_digests:
        _image_digests[f"{image}{path}"] = _digest(f"{image}{path}")
    return _image_digests[f"{image}{path}"]


def _is_of_image(original: str, status: os.stat_result) -> bool:
    """Whatever a node does to a file of the image makes a copy, and a copy has a younger ctime."""
    try:
        image = os.lstat(original)
    except OSError:
        return False
    return (image.st_ino, image.st_ctime_ns, image.st_size) == (status.st_ino, status.st_ctime_ns, status.st_size)


def _digest(path: str) -> str:
    hasher = hashlib.sha256()
    try:
        with open(path, "rb") as handle:
            while block := handle.read(_BLOCK):
                hasher.update(block)
    except OSError as error:
        return f"unreadable ({error.strerror})"
    return f"sha256 {hasher.hexdigest()}"
