"""Whether the attacker has what it wanted."""

import os
import stat

from escapes import Probe
from escapes.host import UNIT_FILES, at
from testbed import executor_wire
from testbed.node import Node


def made(path: str) -> Probe:
    return lambda node: os.path.lexists(at(node, path))


def gone(path: str) -> Probe:
    return lambda node: not os.path.lexists(at(node, path))


def says(path: str, text: str) -> Probe:
    return lambda node: made(path)(node) and text in at(node, path).read_text()


def has_mode(path: str, mode: int) -> Probe:
    return lambda node: made(path)(node) and stat.S_IMODE(at(node, path).lstat().st_mode) == mode


def belongs_to(path: str, uid: int, gid: int) -> Probe:
    def found(node: Node) -> bool:
        return made(path)(node) and (at(node, path).lstat().st_uid, at(node, path).lstat().st_gid) == (uid, gid)
    return found


def sysctl(key: str, value: str) -> Probe:
    return lambda node: node.run(["sysctl", "-n", key]).stdout.strip() == value


def owns(owner: str) -> Probe:
    """An object in the ledger: its undo is asked for in this name, and none but that gives it back."""
    def found(node: Node) -> bool:
        with executor_wire.connect(node, "root") as wire:
            wire.hello()
            return any(each["objects"] for each in wire.ask({"type": "observe"})["owners"] if each["name"] == owner)
    return found


def unit(name: str, property_: str, value: str) -> Probe:
    return lambda node: node.shown(property_, name) == value


def unmounted(path: str) -> Probe:
    return lambda node: node.run(["mountpoint", "-q", path], check=False).returncode != 0


def without_link(name: str) -> Probe:
    """And there is none afterwards."""
    return lambda node: node.run(["ip", "link", "del", name], check=False).returncode != 0


def without_namespace(name: str) -> Probe:
    """And there is none afterwards."""
    return lambda node: node.run(["ip", "netns", "del", name], check=False).returncode != 0


def without_mount(path: str) -> Probe:
    """And there is none afterwards."""
    script = f"umount {path}; code=$?; rmdir {path}; exit $code"
    return lambda node: node.run(["sh", "-c", script], check=False).returncode != 0


# --- what root does before or after, so that there is something to see


def start(unit_name: str):
    return lambda node: node.run(["systemctl", "start", unit_name])


def edit_unit(name: str):
    """systemd has another file than the disk."""
    script = f"systemctl daemon-reload; systemctl start {name}; touch {UNIT_FILES}/{name}"
    return lambda node: node.run(["sh", "-ec", script])
