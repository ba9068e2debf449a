"""The pods of a released host end as they would anywhere else: with their hooks, their time and their budgets."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from testbed import assignment, cri, worker
from testbed.assignment import UNREGISTERING, annotate, assign, bootstrap_data, byohost, condition, withdraw

NOTES = "/srv/notes"
RELEASE_SETTINGS = "/etc/kubexm/kubexmd.yaml.d/release.yaml"
GRACE_SECONDS = 12  # they leave after half of it
LEAST_AT_ONCE = 5  # on average, also on a busy machine; one after another would be 1
RELEASE_SECONDS = 280  # the management cluster waits for five minutes


@pytest.fixture
def joined(enrolled):
    side, host = enrolled
    assign(side, host, bootstrap_data(side.cluster))
    host.wait_for_phase("joined")
    host.node.run(["sh", "-c", f"rm -rf {NOTES}; mkdir -p {NOTES}; echo kept > {NOTES}/theirs"])
    yield side, host
    side.cluster.kubectl("delete", "pods,pdb,node", "--all", "--force", "--grace-period=0")
    host.node.run(["rm", "--force", RELEASE_SETTINGS])
    host.restart("kubexmd")


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


def times(host, what: str, names: list[str]) -> list[float]:
    """When the containers of these pods noted this."""
    lines = host.node.run(["sh", "-c", f"stat -c '%.Y %n' {NOTES}/*.{what}"]).stdout.splitlines()
    found = {Path(path).stem: float(time) for time, path in (line.split(" ", 1) for line in lines)}
    return [found[name] for name in names]


def protect(side, **labels: str) -> None:
    side.cluster.apply(yaml.safe_dump({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}}}))


def test_thirty_pods_get_their_hooks_and_their_time(joined, figure):
    side, host = joined
    host.node.write(RELEASE_SETTINGS, "release: {pods_timeout: 20s}\n")
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
    hooked, left = times(host, "hooked", names), times(host, "left", names)
    seconds = max(left) - min(hooked)
    figure(f"30 pods that leave {GRACE_SECONDS // 2} s after their hooks, with {GRACE_SECONDS} s of grace: the last left "
           f"{seconds:.0f} s after the first hook")
    assert sum(left) - sum(hooked) >= LEAST_AT_ONCE * seconds, "they wait for each other"
    assert "deleted against their disruption budgets: default/budgeted" in condition(side, host)["message"]
    assert host.node.read(f"{NOTES}/theirs") == b"kept\n"
    assert cri.pods(host.node) == []
    withdraw(side, host)


def test_kubexmd_killed_in_the_middle_of_the_drain_asks_each_pod_once(joined):
    """Before the Node is cordoned, before, between and after the evictions, and while it waits for the pods' end."""
    side, host = joined
    names = [f"calm-{number}" for number in range(5)]
    run_pods(side, host, names)
    points = ["drain.cordon:1", "drain.evict:1", "drain.evict:3", "drain.wait:1"]
    host.crash_at("kubexmd", *points)
    host.wait_for_phase("joined")
    annotate(side, host, UNREGISTERING)
    host.wait("as many deaths", lambda: host.deaths("kubexmd") == len(points))
    assert side.cluster.get("node", host.node.name)["spec"]["unschedulable"], "by the process that was killed later"
    host.wait("their end", lambda: noted(host, "left") == set(names), RELEASE_SECONDS)
    side.wait_for("a free host", lambda: UNREGISTERING not in byohost(side, host)["metadata"].get("annotations", {}))
    assert noted(host, "hooked") == noted(host, "terminated") == set(names)
    assert evictions(side) == dict.fromkeys(names, 1), "no pod was asked twice"
    assert cri.pods(host.node) == []
    withdraw(side, host)


def evictions(side) -> dict[str, int]:
    """How often each pod was evicted, as the API server has it."""
    asked = {each["auditID"]: each["objectRef"]["name"] for each in side.cluster.audit()
             if each.get("objectRef", {}).get("subresource") == "eviction" and each["verb"] == "create"
             and each.get("responseStatus", {}).get("code") == 201}
    return dict(Counter(name for name in asked.values() if name.startswith("calm-")))


def test_without_the_api_server_they_get_their_time_and_the_missing_hooks_are_named(joined):
    side, host = joined
    names = [f"alone-{number}" for number in range(4)]
    run_pods(side, host, names)
    side.cluster.processes["kube-apiserver"].kill()
    host.node.run(["kubexmctl", "leave"], check=False, timeout=RELEASE_SECONDS)
    host.wait("their end", lambda: noted(host, "left") == set(names), RELEASE_SECONDS)
    assert noted(host, "terminated") == set(names) and noted(host, "hooked") == set()
    assert max(times(host, "terminated", names)) < min(times(host, "left", names)), "one waited for another"
    host.wait("the end of kubelet", lambda: not host.is_active("kubelet"))
    host.wait("no pods", lambda: cri.pods(host.node) == [])
    assert host.node.read(f"{NOTES}/theirs") == b"kept\n"
    assert "without their preStop hooks" in host.node.journal("-u", "kubexmd")
    side.cluster.restart("kube-apiserver")
    host.node.run(["kubexmctl", "resume"])
    withdraw(side, host)
