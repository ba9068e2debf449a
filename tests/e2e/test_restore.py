"""A management cluster that is restored from a backup brings old orders back: no node is wiped because of them."""

import os
from pathlib import Path

import pytest

from testbed import assignment
from testbed.assignment import (UNREGISTERING, annotate, assign, bootstrap_data, byohost, condition, patch,
                                refer_to_machine, withdraw)
from testbed.care import kubelet
from testbed.standin import names

TREE = Path(os.environ.get("KUBEXM_TREE", ""))


@pytest.fixture(scope="module")
def place():
    """A node of machine 1, and a backup of its management cluster from when the host was to leave that machine."""
    with assignment.enrolled(TREE) as (side, host):
        assign(side, host, bootstrap_data(side.cluster), "by-hand-1")
        host.wait_for_phase("joined")
        host.node.run(["systemctl", "stop", "kubexmd"])
        annotate(side, host, UNREGISTERING)
        copy = side.cluster.backup()
        annotate(side, host, UNREGISTERING, None)
        host.node.run(["systemctl", "start", "kubexmd"])
        host.wait_for_phase("joined")
        yield side, host, copy


def wait_for_stale_order(side, host, *words: str) -> None:
    """The order to release the host is not followed, and the ByoHost says why."""
    host.wait_for_phase("held")
    side.wait_for("the reason", lambda: (said := condition(side, host, "AssignmentApplied")).get(
        "reason") == "StaleReleaseOrder" and all(word in said["message"] for word in words))


def test_a_release_order_from_a_backup_is_held_until_a_person_decides(place):
    """Since the backup the host has become the node of machine 2."""
    side, host, copy = place
    refer_to_machine(side, host, "by-hand-2")
    host.wait_for_phase("held")
    host.node.run(["kubexmctl", "adopt"])
    host.wait("the new owner", lambda: (now := host.status())["phase"] == "joined" and now["assignment"]["uid"] == "by-hand-2")
    before = kubelet(host)

    side.cluster.restore(copy)
    wait_for_stale_order(side, host, "machine by-hand with uid by-hand-1", "kubexmctl leave")
    assert kubelet(host) == before and UNREGISTERING in byohost(side, host)["metadata"]["annotations"]
    host.node.run(["systemctl", "restart", "kubexmd"])
    assert host.wait_for_phase("held") and kubelet(host) == before

    host.node.run(["kubexmctl", "leave"])
    host.wait_for_phase("waiting")
    assert kubelet(host) == "0"
    side.wait_for("a free host", lambda: UNREGISTERING not in byohost(side, host)["metadata"].get("annotations", {}))


def test_a_release_order_is_held_for_its_version_or_its_label_alone(place):
    """Since the backup the host has become a node of the same machine once more."""
    side, host, copy = place
    withdraw(side, host)
    assign(side, host, bootstrap_data(side.cluster), "by-hand-1")
    host.wait_for_phase("joined")
    before = kubelet(host)
    side.cluster.restore(copy)
    wait_for_stale_order(side, host, "which is older than the join")
    annotate(side, host, UNREGISTERING, None)
    host.wait_for_phase("joined")

    refer_to_machine(side, host, None)
    label = {names.LABEL_BYO_MACHINE: "default.other"}
    patch(side, host, {"metadata": {"annotations": {UNREGISTERING: ""}, "labels": label}})
    wait_for_stale_order(side, host, "asks for the release of machine default.other")
    assert kubelet(host) == before
