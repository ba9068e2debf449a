"""Every file of a node, walked from outside: nothing is needed inside, and nothing is changed there."""

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from testbed.snapshot.model import Facts

_TYPES = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink", stat.S_IFSOCK: "socket",
          stat.S_IFIFO: "pipe", stat.S_IFCHR: "character device", stat.S_IFBLK: "block device"}
_BLOCK = 1 << 20
_SETTLED_NS = 10**9  # after which a change must show in the time of the last change
_known: dict[tuple, Facts] = {}  # by path and status: as long as a file's status is the same, so are its facts

Skip = Callable[[str], bool]


def walk(root: Path, skip: Skip) -> dict[str, Facts]:
    """Facts of all files below root by their path in the node; `skip(path)` leaves a tree out."""
    statuses = dict(_entries(root, "", skip))
    new = [path for path, status in statuses.items() if _key(path, status) not in _known]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # most of the work is to read new files
        read = dict(zip(new, pool.map(lambda path: _facts(root, path, statuses[path]), new)))
    return {path: read[path] if path in read else dict(_known[_key(path, status)]) for path, status in statuses.items()}


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


def _key(path: str, status: os.stat_result) -> tuple:
    return path, status.st_ino, status.st_ctime_ns, status.st_mode, status.st_size, status.st_nlink


def _facts(root: Path, path: str, status: os.stat_result) -> Facts:
    facts = _read_facts(f"{root}{path}", status)
    if time.time_ns() - status.st_ctime_ns >= _SETTLED_NS:
        _known[_key(path, status)] = dict(facts)
    return facts


def _read_facts(path: str, status: os.stat_result) -> Facts:
    kind = stat.S_IFMT(status.st_mode)
    facts = {"type": _TYPES[kind], "mode": f"{stat.S_IMODE(status.st_mode):04o}",
             "owner": f"{status.st_uid}:{status.st_gid}"}
    if kind == stat.S_IFREG:
        facts["size"] = str(status.st_size)
        if status.st_nlink > 1:
            facts["hard links"] = str(status.st_nlink)
    if kind in (stat.S_IFCHR, stat.S_IFBLK):
        facts["device"] = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    facts |= _target(path, kind) | _xattrs(path)
    return facts | {"content": _digest(path)} if kind == stat.S_IFREG else facts


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


def _digest(path: str) -> str:
    hasher = hashlib.sha256()
    try:
        with open(path, "rb") as handle:
            while block := handle.read(_BLOCK):
                hasher.update(block)
    except OSError as error:
        return f"unreadable ({error.strerror})"
    return f"sha256 {hasher.hexdigest()}"
