"""A management cluster that is restored from a backup brings old orders back: no node is wiped because of them."""

import os
from pathlib import Path

import pytest

from testbed import assignment
from testbed.assignment import UNREGISTERING, annotate, assign, bootstrap_data, byohost, condition, refer_to_machine
from testbed.care import kubelet

TREE = Path(os.environ.get("KUBEXM_TREE", ""))


@pytest.fixture(scope="module")
def place():
    with assignment.enrolled(TREE) as (side, host):
        yield side, host


def test_a_release_order_from_a_backup_is_held_until_a_person_decides(place):
    """When the backup was made the host was to leave machine 1; since then it is the node of machine 2."""
    side, host = place
    assign(side, host, bootstrap_data(side.cluster), "by-hand-1")
    host.wait_for_phase("joined")
    host.node.run(["systemctl", "stop", "kubexmd"])
    annotate(side, host, UNREGISTERING)
    copy = side.cluster.backup()
    annotate(side, host, UNREGISTERING, None)
    refer_to_machine(side, host, "by-hand-2")
    host.node.run(["systemctl", "start", "kubexmd"])
    host.wait_for_phase("held")
    host.node.run(["kubexmctl", "adopt"])
    host.wait("the new owner", lambda: (now := host.status())["phase"] == "joined" and now["assignment"]["uid"] == "by-hand-2")
    before = kubelet(host)

    side.cluster.restore(copy)
    host.wait_for_phase("held")
    told = side.wait_for("the reason", lambda: (said := condition(side, host, "AssignmentApplied")).get(
        "reason") == "StaleReleaseOrder" and said)
    assert "machine by-hand with uid by-hand-1" in told["message"] and "kubexmctl leave" in told["message"]
    assert kubelet(host) == before and UNREGISTERING in byohost(side, host)["metadata"]["annotations"]
    host.node.run(["systemctl", "restart", "kubexmd"])
    assert host.wait_for_phase("held") and kubelet(host) == before

    host.node.run(["kubexmctl", "leave"])
    host.wait_for_phase("waiting")
    assert kubelet(host) == "0"
    side.wait_for("a free host", lambda: UNREGISTERING not in byohost(side, host)["metadata"].get("annotations", {}))
