"""A node outlives its management cluster: `clusterctl move`, a new bootstrap kubeconfig, and nothing on the host stops.

The cluster moves from a temporary management cluster into the workload cluster itself, and in the next test back.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import pytest

from testbed import assignment, cri, management, pods, snapshot
from testbed import host as hosts
from testbed.assignment import BOOTSTRAPPED, PACE, byohost, condition, is_ready, machines
from testbed.care import is_whole, serials
from testbed.host import BOOTSTRAP, STATE, Host
from testbed.management import example, moving
from testbed.management.side import Management
from testbed.node import Node

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
POD = "greeter"
LEASE = "byohost.infrastructure.cluster.x-k8s.io/lease"
WEBHOOK = "validatingwebhookconfiguration/byoh-validating-webhook-configuration"


@dataclass
class Place:
    """Two management clusters and a host that is enrolled with the one that has the Cluster."""

    host: Host
    sides: tuple[Management, Management]
    workload: Management  # the second of them, whose API server is the nodes' own, too

    def here_and_there(self) -> tuple[Management, Management]:
        """The side that has the Cluster now, and the other one."""
        here, there = self.sides
        return (here, there) if here.cluster.get("cluster", example.CLUSTER) else (there, here)


@pytest.fixture(scope="module")
def sides():
    with (management.started("kubexm", "temporary", pace=PACE) as first,
          management.started("kubexm", "workload", pace=PACE) as second):
        for side in (first, second):
            moving.take_inventory(side)
        hosts.allow_bootstrapping(second.cluster)
        hosts.allow_self_delete(second.cluster)
        first.apply(example.objects(second.cluster, replicas=0))
        yield first, second


@pytest.fixture(scope="module")
def place(sides):
    with Node() as node:
        host = Host(node, TREE)
        host.enrol(sides[0].cluster)
        host.wait_for_phase("waiting")
        yield Place(host, sides, sides[1])


def join(place: Place, side: Management) -> None:
    """The host becomes a node with a pod, and Cluster API knows: clusterctl moves no Machine that is on its way."""
    assignment.join(side, place.host)
    pods.run(place.workload.cluster, place.host, POD)
    wait_for_machine(side)


def wait_for_machine(side: Management) -> None:
    side.wait_for("a running Machine", lambda: [item["status"].get("phase") for item in machines(side)] == ["Running"])


def process_of(host: Host, unit: str) -> str:
    return host.node.shown("MainPID", f"{unit}.service")


def running(host: Host) -> list[str]:
    """What nobody may stop: kubexmd's process, kubelet's, the containers and the ids of their processes."""
    tasks = host.node.run(["ctr", "--namespace", "k8s.io", "tasks", "ls"]).stdout.splitlines()
    return [process_of(host, "kubexmd"), process_of(host, "kubelet"), *sorted(tasks)]


def owners(host: Host) -> list[str]:
    """Those that have objects in the ledger."""
    told = json.loads(host.node.run(["kubexmctl", "observe"]).stdout)
    return [owner["name"] for owner in told["owners"] if owner["objects"]]


def wait_for_hold(side: Management, host: Host) -> None:
    """The host asks this side, which names no machine for it yet: it has to wait for somebody's word."""
    side.wait_for("why the host is held",
                  lambda: "names no machine" in condition(side, host, "AssignmentApplied").get("message", ""))
    host.wait_for_phase("held")


def wait_for_owner(place: Place, side: Management, uid: str) -> None:
    """The node belongs to the machine with this uid, to nobody else, and everybody says so."""
    host, owner = place.host, f"machine-{uid}"
    host.wait(f"owner {owner} alone", lambda: owners(host) == [owner])
    host.wait_for_phase("joined")
    side.wait_for("the condition", lambda: condition(side, host, BOOTSTRAPPED).get("status") == "True")
    side.wait_for("the Node", lambda: is_ready(place.workload, host))
    wait_for_machine(side)
    joined = json.loads(host.node.read(f"{STATE}/memory.json"))["joined"]
    assert (joined["owner"], joined["management"]) == (owner, side.cluster.server)


def asked_since(side: Management, host: Host, moment: str) -> list[str]:
    """What the host has asked a management cluster."""
    return [event["requestURI"] for event in side.cluster.audit()
            if event["user"]["username"] == f"byoh:host:{host.node.name}" and event["requestReceivedTimestamp"] > moment]


def release_and_compare(place: Place, side: Management, before: snapshot.Snapshot) -> None:
    """A release from this side leaves the host as it was, but for kubexmd's memory and where it was told to ask."""
    place.workload.cluster.kubectl("delete", "pod", POD, "--force", "--grace-period=0")
    assignment.release(side, place.host)
    assert not snapshot.lasting_diff(before, place.host.node, apart_from=(f"{STATE}/", BOOTSTRAP))
    assert place.host.kept() == ["kubexmd.lock", "management.kubeconfig", "memory.json"]
    assert owners(place.host) == []
    place.workload.wait_for("the end of the Node", lambda: not place.workload.cluster.get("node", place.host.node.name))


def looked_after_without(place: Place, side: Management) -> None:
    """While the management cluster is away, and the node's own is not: also by a kubexmd that knows neither yet."""
    host = place.host

    def is_told(kind: str, status: str) -> bool:
        return host.condition(kind).get("status") == status
    side.cluster.processes["kube-apiserver"].kill()
    host.node.run(["systemctl", "restart", "kubexmd"])
    host.wait("the management cluster to be missed", lambda: is_told("ManagementClusterReachable", "False"))
    host.wait("the Node", lambda: is_told("NodeReady", "True"))
    before = process_of(host, "kubelet")
    host.node.run(["systemctl", "stop", "kubelet"])
    host.wait("another kubelet", lambda: process_of(host, "kubelet") not in ("0", before) and is_whole(host))
    host.wait("the Node", lambda: is_told("NodeReady", "True"))
    serial = serials(host)["node"]
    host.node.run(["kubexmctl", "certs", "renew"])
    host.wait("another certificate of the node", lambda: serials(host)["node"] != serial)
    assert host.phase() == "joined" and is_told("ManagementClusterReachable", "False")
    side.cluster.restart("kube-apiserver")
    host.wait("the management cluster", lambda: is_told("ManagementClusterReachable", "True"))
    wait_for_machine(side)


def test_a_host_follows_its_cluster_to_a_new_management_cluster(place):
    """clusterctl moves no ByoHost of its own accord: the host registers where its new bootstrap kubeconfig points.

    The provider's manager there takes it for a free host and would attach it, but for the secret of the first
    attachment, which has moved and is in its way. An administrator deletes it, and with it the lease that the failed
    attempt left and that would expire after 30 s. What stays on the old side is theirs to delete, too.
    """
    host, (here, there) = place.host, place.here_and_there()
    before = snapshot.settled(host.node)
    join(place, here)
    looked_after_without(place, here)
    stays, machine = running(host), byohost(here, host)["status"]["machineRef"]

    moving.move(here, there)
    uid = there.cluster.get("byomachine", machine["name"])["metadata"]["uid"]
    assert uid != machine["uid"]
    host.introduce(there.cluster)
    wait_for_hold(there, host)
    assert owners(host) == [f"machine-{machine['uid']}"]

    there.cluster.kubectl("delete", "secret", f"{machine['name']}-tls-bootstrap")
    assignment.annotate(there, host, LEASE, None)
    wait_for_owner(place, there, uid)
    assert running(host) == stays and len(cri.pods(host.node)) == 2
    moment = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    assignment.patch(here, host, {"status": {"machineRef": None}}, "status")
    here.cluster.kubectl("delete", "byohost", host.node.name)
    release_and_compare(place, there, before)
    assert asked_since(here, host, moment) == []


def test_a_moved_host_is_given_its_machine_by_hand(place):
    """A ByoHost with clusterctl's label moves, too, and with it the labels by which the manager knows its machine.

    The manager attaches it no more, so that nobody writes the machineRef, which was part of the status: an
    administrator does. Before, the webhook of the old side has to go: it refuses to let an attached ByoHost be deleted.
    """
    host, (here, there) = place.host, place.here_and_there()
    before = snapshot.settled(host.node)
    join(place, here)
    stays, machine = running(host), byohost(here, host)["status"]["machineRef"]

    with without_webhook(here):
        moving.move(here, there, f"byohost/{host.node.name}")
    uid = there.cluster.get("byomachine", machine["name"])["metadata"]["uid"]
    here.wait_for("a new ByoHost of a host that was not told", lambda: byohost(here, host))
    host.introduce(there.cluster)
    wait_for_hold(there, host)
    assert owners(host) == [f"machine-{machine['uid']}"]

    assignment.patch(there, host, {"status": {"machineRef": machine | {"uid": uid}}}, "status")
    wait_for_owner(place, there, uid)
    assert running(host) == stays

    here.cluster.kubectl("delete", "byohost", host.node.name)
    there.cluster.kubectl("label", "byohost", host.node.name, moving.LABEL.replace("=", "-"))
    release_and_compare(place, there, before)


@contextlib.contextmanager
def without_webhook(side: Management) -> Iterator[None]:
    found = json.loads(side.cluster.kubectl("get", WEBHOOK, "-o", "json"))
    side.cluster.kubectl("delete", WEBHOOK)
    yield
    side.apply([found | {"metadata": {"name": found["metadata"]["name"]}}])
