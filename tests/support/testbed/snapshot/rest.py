"""Snapshots of a node that is at rest: not in the middle of what systemd or containerd do by themselves."""

from testbed import waiting
from testbed.snapshot.model import Snapshot
from testbed.snapshot.report import Report, diff

SETTLE_SECONDS = 120  # a unit that still stops, a dying control group, garbage of containerd, on a busy machine


def settled(node) -> Snapshot:
    """A snapshot of a node that was the same a moment before."""
    taken = [node.snapshot()]

    def changed() -> Report:
        taken.append(node.snapshot())
        return diff(*taken[-2:])

    assert not (report := waiting.until_none(changed, SETTLE_SECONDS)), f"{node.name} does not come to rest: {report}"
    return taken[-1]


def lasting_diff(before: Snapshot, node, apart_from: tuple[str, ...] = ()) -> Report:
    """What is different on a node that had the time to come to rest; `apart_from`: names that begin like this."""
    def report() -> Report:
        found = diff(before, node.snapshot()).changes
        return Report([change for change in found if not change.name.startswith(apart_from)])

    return waiting.until_none(report, SETTLE_SECONDS)
