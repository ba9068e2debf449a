"""The pods of a released host end as they would anywhere else: with their hooks, their time and their budgets."""

import os
from pathlib import Path

import pytest
import yaml

from testbed import assignment, cri, worker
from testbed.assignment import UNREGISTERING, annotate, assign, bootstrap_data, byohost, condition, withdraw

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
NOTES = "/srv/notes"
GRACE_SECONDS = 12  # they leave after half of it
RELEASE_SECONDS = 280  # the management cluster waits for five minutes


@pytest.fixture(scope="module")
def enrolled():
    with assignment.enrolled(TREE) as (side, host):
        yield side, host


@pytest.fixture
def joined(enrolled):
    side, host = enrolled
    assign(side, host, bootstrap_data(side.cluster))
    host.wait_for_phase("joined")
    host.node.run(["sh", "-c", f"rm -rf {NOTES}; mkdir -p {NOTES}; echo kept > {NOTES}/theirs"])
    yield side, host
    side.cluster.kubectl("delete", "pods,pdb,node", "--all", "--force", "--grace-period=0")


def leaving(host, name: str, **labels: str) -> str:
    volume = {"name": "notes", "hostPath": {"path": NOTES}}
    hook = {"preStop": {"exec": {"command": ["/greeter", "note", "hooked", NOTES]}}}
    container = {"name": "greeter", "image": worker.GREETER, "imagePullPolicy": "Never", "lifecycle": hook,
                 "args": ["leave", f"{GRACE_SECONDS // 2}s", NOTES],
                 "volumeMounts": [{"name": "notes", "mountPath": NOTES}]}
    return yaml.safe_dump({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {"nodeName": host.node.name, "terminationGracePeriodSeconds": GRACE_SECONDS,
                 "volumes": [volume], "containers": [container]}})


def run_pods(side, host, names: list[str], **labels: str) -> None:
    side.cluster.apply("---\n".join(leaving(host, name, **labels) for name in names))
    host.wait("all pods", lambda: set(names) <= noted(host, "started"), RELEASE_SECONDS)


def noted(host, what: str) -> set[str]:
    """The pods that noted this."""
    return {name.removesuffix(f".{what}") for name in host.node.run(["ls", NOTES]).stdout.split()
            if name.endswith(f".{what}")}


def protect(side, **labels: str) -> None:
    side.cluster.apply(yaml.safe_dump({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}}}))


def test_thirty_pods_get_their_hooks_and_their_time(joined):
    side, host = joined
    host.node.write("/etc/kubexm/kubexmd.yaml.d/release.yaml", "release: {pods_timeout: 20s}\n")
    host.restart("kubexmd")
    host.wait_for_phase("joined")
    names = [f"pod-{number}" for number in range(30)]
    run_pods(side, host, names)
    run_pods(side, host, ["budgeted"], app="budgeted")
    protect(side, app="budgeted")
    annotate(side, host, UNREGISTERING)
    side.wait_for("word of the pods", lambda: "waiting for the end of" in
                  condition(side, host, "AssignmentApplied").get("message", ""))
    assert side.cluster.get("node", host.node.name)["spec"]["unschedulable"]
    everyone = {*names, "budgeted"}
    host.wait("their end", lambda: noted(host, "left") == everyone, RELEASE_SECONDS)
    side.wait_for("a free host", lambda: UNREGISTERING not in byohost(side, host)["metadata"].get("annotations", {}))
    assert noted(host, "hooked") == noted(host, "terminated") == everyone
    assert "deleted against their disruption budgets: default/budgeted" in condition(side, host)["message"]
    assert host.node.read(f"{NOTES}/theirs") == b"kept\n"
    assert cri.pods(host.node) == []
    withdraw(side, host)


def test_without_the_api_server_they_get_their_time_and_the_missing_hooks_are_named(joined):
    side, host = joined
    names = [f"alone-{number}" for number in range(4)]
    run_pods(side, host, names)
    side.cluster.processes["kube-apiserver"].kill()
    host.node.run(["kubexmctl", "leave"], check=False, timeout=RELEASE_SECONDS)
    host.wait("their end", lambda: noted(host, "left") == set(names), RELEASE_SECONDS)
    assert noted(host, "terminated") == set(names) and noted(host, "hooked") == set()
    host.wait("the end of kubelet", lambda: not host.is_active("kubelet"))
    host.wait("no pods", lambda: cri.pods(host.node) == [])
    assert host.node.read(f"{NOTES}/theirs") == b"kept\n"
    assert "without their preStop hooks" in host.node.journal("-u", "kubexmd")
    side.cluster.restart("kube-apiserver")
    host.node.run(["kubexmctl", "resume"])
    withdraw(side, host)
