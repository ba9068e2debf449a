"""What the kernel and /etc/passwd say about a node: sysctls, mounts, modules, swap, groups, accounts."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from testbed import network, nspawn, sandbox
from testbed.snapshot.model import Facts


def sysctls(printed: str) -> dict[str, Facts]:
    """From `grep -rZ '' /proc/sys`: name, NUL, one line of the value."""
    found: dict[str, Facts] = {}
    for line in printed.splitlines():
        path, _, value = line.partition("\0")
        name = path.removeprefix("/proc/sys/").replace("/", ".")
        lines = [found[name]["value"]] if name in found else []
        found[name] = {"value": "\n".join([*lines, " ".join(value.split())])}
    return found


def mounts(leader: int) -> dict[str, Facts]:
    """As PID 1 sees them. Several on one place are numbered in the order they were made."""
    found: dict[str, Facts] = {}
    for line in Path(f"/proc/{leader}/mountinfo").read_text().splitlines():
        ours, _, theirs = line.partition(" - ")
        _, _, _, root, place, options, *propagation = ours.split()
        kind, source, settings = theirs.split(" ", 2)
        earlier = sum(1 for name in found if name == place or name.startswith(f"{place} (number "))
        found[f"{place} (number {earlier + 1})" if earlier else place] = {
            "type": kind, "source": source, "root": _without_random_name(root), "options": options, "settings": settings,
            "propagation": ",".join(word.split(":")[0] for word in propagation) or "private"}
    return found


def _without_random_name(root: str) -> str:
    """systemd-nspawn mounts files that it deletes at once; their random names say nothing."""
    return "(deleted)" if root.endswith("//deleted") else root


def swaps() -> dict[str, Facts]:
    lines = Path("/proc/swaps").read_text().splitlines()[1:]
    return {line.split()[0]: {"size": line.split()[2]} for line in lines}


def modules() -> dict[str, Facts]:
    listed = Path("/proc/modules")  # missing on a kernel without modules
    return {line.split()[0]: {} for line in listed.read_text().splitlines()} if listed.exists() else {}


def users(root: Path) -> dict[str, Facts]:
    fields = ("uid", "gid", "comment", "home", "shell")
    return {name: dict(zip(fields, rest)) for name, _, *rest in _colon_separated(root / "etc/passwd")}


def groups(root: Path) -> dict[str, Facts]:
    return {name: dict(zip(("gid", "members"), rest)) for name, _, *rest in _colon_separated(root / "etc/group")}


def cgroups(node: str) -> dict[str, Facts]:
    return {f"{hierarchy}:{path}": {} for hierarchy, path, _ in _groups(node)}


def processes(node: str) -> dict[int, str]:
    """Which program runs in which unit, by process id."""
    all_of_them = "unified" if nspawn.UNIFIED.exists() else "systemd"
    return {pid: f"{program} in {path}" for hierarchy, path, directory in _groups(node)
            if hierarchy == all_of_them for pid, program in _programs(directory)}


def lasting(earlier: dict[int, str], later: dict[int, str]) -> dict[str, Facts]:
    """How many of which program in which unit were seen twice: process ids come and go, and so do PID 1's helpers,
    which bear its name until they have taken one of their own."""
    found = Counter(name for pid, name in earlier.items() if later.get(pid) == name)
    return {name: {"count": str(count)} for name, count in found.items()}


def _groups(node: str) -> Iterator[tuple[str, str, Path]]:
    """All control groups of a node: hierarchy, path in the node, directory here."""
    for top in sandbox.cgroups(f"{network.run_directory().name}/{node}"):
        hierarchy = "unified" if nspawn.UNIFIED.exists() else top.parts[4]
        for directory, _, _ in os.walk(top):
            yield hierarchy, directory.removeprefix(str(top)) or "/", Path(directory)


def _programs(group: Path) -> Iterator[tuple[int, str]]:
    for pid in _text_of(group / "cgroup.procs").split():
        if program := _text_of(Path(f"/proc/{pid}/comm")).strip():
            yield int(pid), program


def _text_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process or the whole group ended
        return ""


def _colon_separated(path: Path) -> list[list[str]]:
    return [line.split(":") for line in path.read_text().splitlines() if ":" in line]
