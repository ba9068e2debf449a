"""Where on a node some text can be found: files, the journal, and the processes' arguments, environment and memory."""

import base64
import os
import re
from collections.abc import Iterator
from pathlib import Path

TREES = ("/etc", "/home", "/root", "/run", "/srv", "/tmp", "/var")
_SKIPPED = {"containerd", "journal"}  # images, and journal files: what is in those is read with journalctl
_CHUNK = 1 << 22
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) r")


def spellings(text: str) -> list[bytes]:
    """The text and the forms in which a program may carry it along; of base64 what does not depend on its place."""
    plain = text.encode()
    shifted = [base64.b64encode(b"." * shift + plain)[4:-4] for shift in range(3)]
    return [plain, plain.hex().encode(), plain.hex().upper().encode(), *shifted]


def files(node, text: str) -> list[str]:
    """Paths of the files that hold it."""
    root = Path(f"/proc/{node.leader}/root")
    return sorted(str(path).removeprefix(str(root)) for tree in TREES for path in _below(root / tree.lstrip("/"))
                  if _holds(path, spellings(text)))


def _below(top: Path) -> Iterator[Path]:
    for directory, names, entries in os.walk(top):
        names[:] = [name for name in names if name not in _SKIPPED]
        yield from (path for name in entries if (path := Path(directory) / name).is_file() and not path.is_symlink())


def _holds(path: Path, needles: list[bytes]) -> bool:
    try:
        return _has(path.read_bytes(), needles)
    except OSError:
        return False  # gone meanwhile, or a file of the kernel that cannot be read


def journal(node, text: str) -> bool:
    node.run(["journalctl", "--sync"])
    return _has(node.journal("--all", "--output=export").encode(), spellings(text))


def processes(node) -> dict[int, str]:
    """The node's processes as seen from here, with their names."""
    ours = os.readlink(f"/proc/{node.leader}/ns/pid")
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{entry}/ns/pid") == ours:
                found[int(entry)] = Path(f"/proc/{entry}/comm").read_text().strip()
        except OSError:
            pass  # ended meanwhile
    return found


def arguments(node, text: str) -> list[str]:
    """Names of the processes that have it in their arguments or environment."""
    return sorted(name for pid, name in processes(node).items()
                  if any(_holds(Path(f"/proc/{pid}/{file}"), spellings(text)) for file in ("cmdline", "environ")))


def memory(pid: int, text: str) -> bool:
    """Whether it is anywhere in the memory of a process, as a core dump would have it."""
    needles = spellings(text)
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory_file:
        ranges = [tuple(int(end, 16) for end in found.groups()) for line in maps if (found := _MAPPING.match(line))]
        return any(_has(piece, needles) for begin, end in ranges for piece in _pieces(memory_file, begin, end))


def _pieces(memory_file, begin: int, end: int) -> Iterator[bytes]:
    """A mapping in pieces that overlap, so that nothing hides on a border."""
    for start in range(begin, end, _CHUNK):
        try:
            memory_file.seek(start)
            yield memory_file.read(min(_CHUNK + 4096, end - start))
        except (OSError, ValueError, OverflowError):
            pass  # the kernel's own pages


def _has(data: bytes, needles: list[bytes]) -> bool:
    return any(needle in data for needle in needles)
