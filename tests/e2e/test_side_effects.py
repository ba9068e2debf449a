"""Undo of a plan that joined a kubelet, which ran a pod, leaves no trace.

What a cluster leaves besides files goes with the plan's side-effects: pods, chains, links, control groups.
"""

import json
import os
from pathlib import Path

import pytest
import yaml

from testbed import cri, exit_code, kubernetes, oci, snapshot, waiting, worker
from testbed.cluster import TROUBLE, Cluster
from testbed.executor import client, join
from testbed.executor.plan import step
from testbed.host import Host
from testbed.node import Node

WAIT_SECONDS = 180
UNDO_SECONDS = 300
EXECUTOR = "kubexm-executor"
POD = "greeter"

TRACES = kubernetes.MODULES / "traces"
PROXY_CONFIGURATION = """
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: {mode}
hostnameOverride: {name}
clientConnection: {{kubeconfig: /run/kube-proxy/kubeconfig}}
iptables: {{localhostNodePorts: false}}
# The kernel's own settings stay as they are.
conntrack: {{maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}}
"""

# By hand, where kubelet and volume plugins have theirs.
AMONG_KUBELETS = """cd /var/lib/kubelet; echo kept > meanwhile.txt
for directory in plugins/meanwhile/mount pods/meanwhile/mount; do
    mkdir -p $directory; mount -t tmpfs meanwhile $directory; echo kept > $directory/file
done"""

pytestmark = pytest.mark.usefixtures("forget")


@pytest.fixture(scope="module")
def cluster():
    with Cluster("workload") as running:
        yield running


@pytest.mark.parametrize("node, containerd, proxy", [
    ("bookworm", "debian", "iptables"), ("trixie", "debian", "nftables"), ("trixie", "2", None)], indirect=["node"])
def test_a_joined_node_is_given_back_without_a_trace(cluster, node, containerd, proxy, figure):
    _prepare(node, containerd, *(["kube-proxy"] if proxy else []))
    before = snapshot.settled(node)
    _join_and_run_a_pod(cluster, node)
    assert "KUBE-FIREWALL" in node.run(["nft", "list", "ruleset"]).stdout
    assert "cni0" in node.run(["ip", "link"]).stdout
    if proxy:
        _run_kube_proxy(cluster, node, proxy)
    undone = _undo(node)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    _assert_nothing_is_different(before, node)
    again = _undo(node)
    assert again.returncode == 0, again.stdout + again.stderr
    _assert_nothing_is_different(before, node)
    figure(f"memory of the executor after a join and its undo on {node.suite}: {_memory(node)}")


def test_what_others_have_stays_as_it_is(cluster, node):
    """What they had before the join, and what they made meanwhile, beside the leftovers of real and synthetic parts."""
    _prepare(node, "debian", "kube-proxy")
    node.run(["ip", "link", "add", "flannel.9", "type", "bridge"])
    node.run(["iptables", "-t", "mangle", "-N", "KUBE-THEIRS"])
    _make_others(node, "before", 0)
    _join_and_run_a_pod(cluster, node)
    _make_others(node, "meanwhile", 1)
    node.run(["sh", "-ec", AMONG_KUBELETS])
    _run_kube_proxy(cluster, node, "iptables")
    _trace(node, "calico", "cilium", "nodelocaldns")
    theirs = _others(node)
    undone = _undo(node)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert _others(node) == theirs
    for words in ("/run/netns stays with cni-4f1c2d3e-meanwhile, meanwhile, netns-4f1c2d3e-meanwhile: not made by pods",
                  "/var/lib/kubelet stays with meanwhile, meanwhile-busy, meanwhile-deep, meanwhile.txt, "
                  "plugins/meanwhile/mount, pods/meanwhile: not made by pods",
                  "/etc/kubernetes stays with meanwhile.txt: not made by pods",
                  "/etc/kubernetes/pki stays with meanwhile.txt: not made by pods",
                  "net.ipv4.ip_forward stays 1: docker1, cni-podman1, virbr1 appeared meanwhile",
                  "docker1, cni-podman1, virbr1 appeared meanwhile", "ip nat CNI-meanwhile",
                  "inet netavark-meanwhile", "/var/lib/cni/networks/podman-meanwhile appeared meanwhile"):
        assert words in undone.stdout
    left = node.run(["sh", "-c", "ip link; ip route show table all; nft list ruleset; find /etc/cni /opt /run /var/lib"]).stdout
    for name in ("cni0", "calico", "cali-", "cilium", "nodelocaldns", "NodeLocal", "KUBE-SERVICES", "proto 80"):
        assert name not in left.lower() and name not in left
    assert "flannel.9" in left and "KUBE-THEIRS" in left, "they were there before"


def test_traces_of_pod_networks_are_given_back(node):
    """Synthetic ones, of all families that no test runs for real; without kubelet."""
    client.install(node)
    before = snapshot.settled(node)
    kinds = (step("side-effects", kind=kind) for kind in join.SIDE_EFFECTS)
    node.write("/run/plan.json", json.dumps(client.plan("p1", *kinds, owner="test")))
    node.run(["kubexmctl", "apply", "/run/plan.json"])
    _trace(node, "calico", "cilium", "flannel", "nodelocaldns")
    undone = node.run(["kubexmctl", "undo", "test"])
    assert "appeared meanwhile" not in undone.stdout
    node.run(["rm", "/run/plan.json"])
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


@pytest.mark.parametrize("driver, ending, words", [
    ("systemd", ["stop"], "containerd is not running: 1 pods stay"),
    ("cgroupfs", ["stop"], "containerd is not running: 1 pods stay"),
    ("systemd", ["kill", "--kill-who=main", "--signal=STOP"], "containerd does not answer: 1 pods stay")],
    ids=["stopped", "stopped-cgroupfs", "hanging"])
def test_a_node_whose_containerd_is_dead_is_given_back(cluster, node, driver, ending, words):
    _prepare(node)
    if driver == "cgroupfs":
        node.run(["sed", "-i", "s/SystemdCgroup = true/SystemdCgroup = false/", "/etc/containerd/config.toml"])
        node.run(["systemctl", "restart", "containerd"])
    # The pod ignores SIGTERM, as the first process in a namespace does: systemd would wait for 90 seconds.
    node.write("/etc/systemd/system.conf.d/impatient.conf", "[Manager]\nDefaultTimeoutStopSec=2\n")
    node.run(["systemctl", "daemon-reexec"])
    _join_and_run_a_pod(cluster, node)
    assert bool(_groups_of_kubelet(node)) == (driver == "cgroupfs")
    node.run(["systemctl", *ending, "containerd"])
    undone = _undo(node)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert words in undone.stdout
    assert "KUBE-" not in node.run(["nft", "list", "ruleset"]).stdout
    assert "cni0" not in node.run(["ip", "link"]).stdout
    assert node.run(["pgrep", "greeter"], check=False).stdout == "", "its slice or scope was stopped"
    assert _groups_of_kubelet(node) == "" and "control groups stay" not in undone.stdout
    node.run(["systemctl", "kill", "--kill-who=main", "--signal=CONT", "containerd"], check=False)
    node.run(["systemctl", "start", "containerd"])


def test_a_volume_of_a_pod_that_somebody_holds_is_named_until_they_let_go(cluster, node):
    _prepare(node)
    before = snapshot.settled(node)
    _join_and_run_a_pod(cluster, node)
    (volume,) = [path for path in node.run(["findmnt", "--raw", "--noheadings", "--output=TARGET"]).stdout.split()
                 if path.startswith("/var/lib/kubelet/pods/")]
    node.run(["systemd-run", "--unit=holder", f"--working-directory={volume}", "sleep", "infinity"])
    undone = _undo(node)
    assert undone.returncode == exit_code.FAILED
    assert f"stays: content of /var/lib/kubelet: undo: content of /var/lib/kubelet: mount {volume}: " in undone.stdout
    assert node.run(["ls", "/var/lib/kubelet"]).stdout.split() == ["pods"], "the rest is gone"
    assert node.run(["ls", "/etc/kubernetes", "/var/log/pods"], check=False).stdout == ""
    assert cri.pods(node) == [] and "cni0" not in node.run(["ip", "link"]).stdout
    assert "KUBE-" not in node.run(["nft", "list", "ruleset"]).stdout
    assert node.shown("ActiveState", "holder") == "active" and node.run(["findmnt", volume]).returncode == 0
    node.run(["systemctl", "stop", "holder"])
    undone = _undo(node)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    _assert_nothing_is_different(before, node)


def test_an_executor_killed_in_the_middle_of_an_undo_goes_on(cluster, node):
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


def _prepare(node: Node, containerd: str = "debian", *programs: str) -> None:
    worker.prepare(node, containerd, ("kubelet", *programs))
    client.install(node)


def _run_kube_proxy(cluster: Cluster, node: Node, mode: str) -> None:
    """Until it has written its rules, which stay when it ends."""
    node.write("/run/kube-proxy/kubeconfig", cluster.kubeconfig.read_text(), 0o600)
    node.write("/run/kube-proxy/config.yaml", PROXY_CONFIGURATION.format(mode=mode, name=node.name))
    node.run(["systemd-run", "--collect", "--unit=test-kube-proxy", "kube-proxy", "--config=/run/kube-proxy/config.yaml"])
    written = {"iptables": "KUBE-SVC-", "nftables": "table ip kube-proxy"}[mode]
    waiting.until(f"rules of kube-proxy in mode {mode}", lambda: written in node.run(["nft", "list", "ruleset"]).stdout,
                  WAIT_SECONDS, lambda: node.journal("-u", "test-kube-proxy", "--lines=40"))
    node.run(["systemctl", "stop", "test-kube-proxy"])
    waiting.until("the end of kube-proxy's unit", lambda: node.shown("LoadState", "test-kube-proxy.service") == "not-found",
                  WAIT_SECONDS)
    assert written in node.run(["nft", "list", "ruleset"]).stdout
    node.run(["rm", "-r", "/run/kube-proxy"])


def _trace(node: Node, *names: str) -> None:
    for name in names:
        node.run(["sh", "-s"], input=(TRACES / f"{name}.sh").read_text())


def _make_others(node: Node, name: str, number: int) -> None:
    node.write("/run/image.tar", oci.archive(worker.GREETER, kubernetes.images() / "greeter"))
    node.run(["sh", "-s", name, str(number), "/run/image.tar"], input=(TRACES / "others.sh").read_text())
    node.run(["rm", "/run/image.tar"])


def _others(node: Node) -> dict[str, str]:
    """What others have, with the numbers that tell an object from another of the same name."""
    commands = {
        "links": "ip -oneline link | grep -E 'docker|podman|virbr' | cut -d: -f1,2",
        "chains": "nft --stateless --handle list ruleset | grep -E 'DOCKER|NETAVARK|netavark|LIBVIRT|CNI-(before|meanwhile)'",
        "namespaces": "cd /run/netns; stat -c '%n %i' *before *meanwhile",
        "mounts": "grep -E 'before|meanwhile' /proc/1/mountinfo | grep -v overlay",
        "files": "cd /var/lib/kubelet && tail -n +1 *.txt */file */below/file */*/mount/file /etc/kubernetes/*.txt /etc/kubernetes/pki/*.txt",
        "networks": "ls -R /var/lib/cni/networks/podman* /var/lib/cni/networks/nerdctl*; grep kubelet /etc/fstab",
        "processes": "systemctl show --property=MainPID busy-before busy-meanwhile",
        "containers": "for name in before meanwhile; do ctr --namespace $name tasks ls; done",
    }
    return {what: node.run(["sh", "-c", command]).stdout for what, command in commands.items()}


def _join_and_run_a_pod(cluster: Cluster, node: Node) -> None:
    done = join.apply(cluster, node, join.client_pair(cluster, node))
    assert done.returncode == 0, done.stdout + done.stderr
    _wait(node, f"node {node.name} to be Ready", lambda: _is_ready(cluster, f"/api/v1/nodes/{node.name}"))
    cluster.apply(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD},
        "spec": {"nodeName": node.name, "containers": [
            {"name": POD, "image": worker.GREETER, "imagePullPolicy": "Never"}]}}))
    _wait(node, f"pod {POD} to be ready", lambda: _is_ready(cluster, f"/api/v1/namespaces/default/pods/{POD}"))


def _groups_of_kubelet(node: Node) -> str:
    """Control groups of pods that systemd does not know."""
    return node.run(["find", "/sys/fs/cgroup", "-maxdepth", "2", "-name", "kubepods"]).stdout


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
