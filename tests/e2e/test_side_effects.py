"""Undo of a plan that joined a kubelet, which ran a pod, leaves no trace.

What a cluster leaves besides files goes with the plan's side-effects: pods, chains, links, control groups.
"""

import json
import os
from pathlib import Path

import pytest
import yaml

from testbed import cri, snapshot, waiting, worker
from testbed.cluster import TROUBLE, Cluster
from testbed.executor import client, join
from testbed.executor.plan import step
from testbed.host import Host
from testbed.node import Node

WAIT_SECONDS = 180
UNDO_SECONDS = 300
EXECUTOR = "kubexm-executor"
POD = "greeter"

FOREIGN_RULES = """
table ip filter {
    chain INPUT { type filter hook input priority 0; policy accept; tcp dport 22 accept; jump KUBE-THEIRS; }
    chain KUBE-THEIRS { counter; }
}
table ip6 nat {
    chain KUBE-KUBELET-CANARY { }
}
table inet theirs {
    chain KUBE-FIREWALL { }
}
"""


@pytest.fixture(scope="module")
def cluster():
    with Cluster("workload") as running:
        yield running


@pytest.fixture(autouse=True)
def forget(cluster):
    """After a test and the end of its nodes: the next test has nodes of the same names."""
    yield
    cluster.kubectl("delete", "pods", "--all", "--force", "--grace-period=0")
    cluster.kubectl("delete", "nodes,csr", "--all")


@pytest.mark.parametrize("node, containerd", [("bookworm", "debian"), ("trixie", "debian"), ("trixie", "2")],
                         indirect=["node"])
def test_a_joined_node_is_given_back_without_a_trace(cluster, node, containerd, figure):
    _prepare(node, containerd)
    before = snapshot.settled(node)
    _join_and_run_a_pod(cluster, node)
    assert "KUBE-FIREWALL" in node.run(["nft", "list", "ruleset"]).stdout
    assert "cni0" in node.run(["ip", "link"]).stdout
    undone = _undo(node)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    _assert_nothing_is_different(before, node)
    again = _undo(node)
    assert again.returncode == 0, again.stdout + again.stderr
    _assert_nothing_is_different(before, node)
    figure(f"memory of the executor after a join and its undo on {node.suite}: {_memory(node)}")


def test_what_was_there_before_survives(cluster, node):
    _prepare(node)
    node.run(["ip", "link", "add", "flannel.1", "type", "bridge"])
    node.run(["nft", "-f", "-"], input=FOREIGN_RULES)
    node.run(["ip", "netns", "add", "blue"])
    node.run(["sh", "-c", "mkdir -p /var/lib/kubelet/theirs; mount -t tmpfs theirs /var/lib/kubelet/theirs; "
                          "echo kept > /var/lib/kubelet/theirs/file"])
    before = snapshot.settled(node)
    _join_and_run_a_pod(cluster, node)
    assert "cni-" in node.run(["ls", "/run/netns"]).stdout
    node.run(["ip", "link", "add", "their-link", "type", "bridge"])
    node.run(["ip", "netns", "add", "green"])
    node.run(["sh", "-c", "mkdir /var/lib/kubelet/data; mount -t tmpfs data /var/lib/kubelet/data; "
                          "echo kept > /var/lib/kubelet/data/file"])
    undone = _undo(node)
    assert undone.returncode == 0
    assert "/run/netns stays with green: not made by pods" in undone.stdout
    assert "/var/lib/kubelet stays with data: not made by pods" in undone.stdout
    for name in ("blue", "green"):
        node.run(["ip", "netns", "exec", name, "true"])
    for name in ("theirs", "data"):
        assert node.run(["cat", f"/var/lib/kubelet/{name}/file"]).stdout == "kept\n"
    node.run(["ip", "netns", "del", "green"])
    node.run(["sh", "-c", "umount /var/lib/kubelet/data; rmdir /var/lib/kubelet/data"])
    assert "their-link" in node.run(["ip", "link"]).stdout, "new, and not listed by root"
    node.run(["ip", "link", "del", "their-link"])
    _assert_nothing_is_different(before, node)


@pytest.mark.parametrize("node", ["bookworm", "trixie"], indirect=True)
@pytest.mark.parametrize("stopped_meanwhile", [False, True])
def test_a_pod_that_was_there_before_survives(node, stopped_meanwhile):
    """Without kubelet, which ends every pod that it does not know."""
    _prepare(node)
    theirs = cri.run_pod(node, "theirs")
    if stopped_meanwhile:
        node.run(["systemctl", "stop", "containerd"])
    node.write("/run/plan.json", json.dumps(client.plan("p1", step("side-effects", kind="pods"), owner="test")))
    node.run(["kubexmctl", "apply", "/run/plan.json"])
    node.run(["systemctl", "start", "containerd"])
    ours = cri.run_pod(node, "ours")
    assert cri.pods(node) == sorted([theirs, ours])
    node.run(["kubexmctl", "undo", "test"])
    assert cri.pods(node) == [theirs]


def test_legacy_tables_are_not_passed_over_in_silence(node):
    _prepare(node)
    node.write("/run/plan.json", json.dumps(client.plan("p1", step("side-effects", kind="chains"), owner="test")))
    node.run(["kubexmctl", "apply", "/run/plan.json"])
    node.run(["iptables-legacy", "--new-chain", "KUBE-LEFT"])
    undone = node.run(["kubexmctl", "undo", "test"]).stdout
    assert "legacy iptables tables (IPv4 filter) were not checked" in undone


@pytest.mark.parametrize("ending, words", [
    (["stop"], "containerd is not running: 1 pods stay"),
    (["kill", "--kill-who=main", "--signal=STOP"], "containerd does not answer: 1 pods stay")], ids=["stopped", "hanging"])
def test_a_node_whose_containerd_is_dead_is_given_back(cluster, node, ending, words):
    _prepare(node)
    # The pod ignores SIGTERM, as the first process in a namespace does: systemd would wait for 90 seconds.
    node.write("/etc/systemd/system.conf.d/impatient.conf", "[Manager]\nDefaultTimeoutStopSec=2\n")
    node.run(["systemctl", "daemon-reexec"])
    _join_and_run_a_pod(cluster, node)
    node.run(["systemctl", *ending, "containerd"])
    undone = _undo(node)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert words in undone.stdout
    assert "KUBE-" not in node.run(["nft", "list", "ruleset"]).stdout
    assert "cni0" not in node.run(["ip", "link"]).stdout
    assert node.run(["pgrep", "greeter"], check=False).stdout == "", "its slice was stopped"
    node.run(["systemctl", "kill", "--kill-who=main", "--signal=CONT", "containerd"], check=False)
    node.run(["systemctl", "start", "containerd"])


def test_executor_killed_in_the_middle_of_an_undo_go_on(cluster, node):
    """When the pod has just ended, and all that comes after it is still there."""
    host = Host(node, Path(os.environ["KUBEXM_TREE"]))
    client.install(node)
    host.restart(EXECUTOR)
    before = snapshot.settled(node)
    _join_and_run_a_pod(cluster, node)
    host.crash_at(EXECUTOR, "pod.remove.after:1")
    assert _undo(node).returncode != 0
    waiting.until("the end of the undo", lambda: "undone" in node.run(
        ["kubexmctl", "history", "--limit", "1"], check=False).stdout, WAIT_SECONDS, lambda: node.journal("--lines=40"))
    client.until_logged(node, "resuming interrupted plan", "-u", EXECUTOR)
    _assert_nothing_is_different(before, node)


def _prepare(node: Node, containerd: str = "debian") -> None:
    worker.prepare(node, containerd)
    client.install(node)


def _join_and_run_a_pod(cluster: Cluster, node: Node) -> None:
    done = join.apply(cluster, node, join.client_pair(cluster, node))
    assert done.returncode == 0, done.stdout + done.stderr
    _wait(node, f"node {node.name} to be Ready", lambda: _is_ready(cluster, f"/api/v1/nodes/{node.name}"))
    cluster.apply(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD},
        "spec": {"nodeName": node.name, "containers": [
            {"name": POD, "image": worker.GREETER, "imagePullPolicy": "Never"}]}}))
    _wait(node, f"pod {POD} to be ready", lambda: _is_ready(cluster, f"/api/v1/namespaces/default/pods/{POD}"))


def _is_ready(cluster: Cluster, path: str) -> bool:
    found = cluster.api.get(path) or {"status": {}}
    return any(condition["type"] == "Ready" and condition["status"] == "True"
               for condition in found["status"].get("conditions", []))


def _wait(node: Node, what: str, condition) -> None:
    waiting.until(what, condition, WAIT_SECONDS, lambda: node.journal("-u", "kubelet", "--lines=40"), TROUBLE)


def _undo(node: Node):
    return node.run(["kubexmctl", "undo", join.OWNER], check=False, timeout=UNDO_SECONDS)


def _assert_nothing_is_different(before: snapshot.Snapshot, node: Node) -> None:
    report = snapshot.lasting_diff(before, node)
    assert not report, report


def _memory(node: Node) -> str:
    pid = client.shown(node, "MainPID")
    lines = node.read(f"/proc/{pid}/smaps_rollup").decode().splitlines()
    return next(" ".join(line.split()) for line in lines if line.startswith("Pss:"))
