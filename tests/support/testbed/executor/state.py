"""What a plan of testbed.executor.plan can change on a host, quick to look at: a dictionary of plain text."""

import hashlib
import os
import stat
from pathlib import Path

from testbed.executor import Executor, plan

TREES = ["/etc/kubernetes", "/etc/cni", "/etc/containerd", "/etc/systemd/system", "/etc/sysctl.d", "/etc/modules-load.d", "/opt/kubexm",
         "/var/lib/kubelet", plan.CLAIMED, "/var/lib/kubexm-executor/content"]
PROPERTIES = "Id,LoadState,ActiveState,UnitFileState,NeedDaemonReload"

State = dict[str, str]


SIDE_EFFECTS = {"groups of pods": "systemctl list-units --plain --no-legend 'kubepods*'",
                "links": "ip -brief link | cut -d ' ' -f 1", "chains": "nft --stateless list ruleset"}
# One script: a test looks very often, and each command in a node costs more than what it prints.
SHOW = "set -e; " + "; printf '\\036'; ".join([
    f"systemctl show --property {PROPERTIES} {' '.join(plan.UNITS)}", f"sysctl -n {' '.join(plan.SYSCTLS)}",
    *SIDE_EFFECTS.values()])


def take(executor: Executor) -> State:
    units, sysctls, *side_effects = executor.node.run(["sh", "-c", SHOW]).stdout.split("\036")
    return (files(executor) | {f"unit {name}": text for name, text in zip(plan.UNITS, units.split("\n\n"), strict=True)}
            | {f"sysctl {key}": value for key, value in zip(plan.SYSCTLS, sysctls.split(), strict=True)}
            | dict(zip(SIDE_EFFECTS, side_effects, strict=True)))


def files(executor: Executor) -> State:
    """Also what a writer left beside them."""
    found = {}
    for tree in TREES:
        found |= _below(executor.root, tree)
    left = [path.name for path in (executor.root / "etc").glob(".kubexm-*")]
    for path in [plan.BLOCK, *(f"/etc/{name}" for name in left)]:
        found[path] = _describe(executor.root / path[1:])
    return found


def difference(expected: State, found: State) -> list[str]:
    return [f"{name}: expected {expected.get(name, 'nothing')}, found {found.get(name, 'nothing')}"
            for name in sorted(expected.keys() | found.keys()) if expected.get(name) != found.get(name)]


def halves(before: State, after: State, found: State) -> list[str]:
    """Files and links of the plan that are neither as before nor as after.

    Directories change in place, attribute by attribute; other names are a writer's own until it is done.
    """
    paths = [*plan.RENDERED, plan.CERTIFICATE, plan.SECRET, plan.LINK, plan.BLOCK, plan.UNWANTED, plan.IN_USE]
    whole = {path: (before.get(path, "nothing"), after.get(path, "nothing")) for path in paths}
    return [f"{path}: {found.get(path, 'nothing')} is neither {old} nor {new}"
            for path, (old, new) in whole.items() if found.get(path, "nothing") not in (old, new)]


def _below(root: Path, tree: str) -> State:
    top = root / tree[1:]
    if not os.path.lexists(top):
        return {}
    found = {tree: _describe(top)}
    for directory, directories, names in os.walk(top):
        for name in directories + names:
            path = Path(directory) / name
            found[f"/{path.relative_to(root)}"] = _describe(path)
    return found


def _describe(path: Path) -> str:
    status = path.lstat()
    kind = stat.S_IFMT(status.st_mode)
    content = ""
    if kind == stat.S_IFREG:
        content = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    elif kind == stat.S_IFLNK:
        content = os.readlink(path)
    xattrs = [f"{name}={os.getxattr(path, name, follow_symlinks=False).hex()}"
              for name in sorted(os.listxattr(path, follow_symlinks=False))]
    return " ".join([stat.filemode(status.st_mode), f"{status.st_uid}:{status.st_gid}", content, *xattrs])

