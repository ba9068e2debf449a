"""A stock kubelet joins by TLS bootstrapping, by hand, as the guide says with its mistakes corrected.

This proves the testbed end to end, and gives the floor for the time a join takes: nothing but
kubelet itself works here. The corrections to files of the node stand in tests/support/kubernetes/node
and in testbed/stock_kubelet.py; those to the steps of the guide stand here.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

from testbed import stock_kubelet, waiting, worker
from testbed.bootstrap import NODE_GROUP
from testbed.cluster import TROUBLE, Cluster, KubectlError
from testbed.node import Node

pytestmark = [pytest.mark.selftest, pytest.mark.usefixtures("forget")]

CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING_SIGNER = "kubernetes.io/kubelet-serving"
WAIT_SECONDS = 120
KERNEL_SETTINGS = [f"/proc/sys/{name}" for name in (
    "vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes")]


@pytest.fixture(scope="module")
def cluster():
    # The guide names the controller manager's signing certificate; it forgets that the API server
    # accepts bootstrap tokens only with --enable-bootstrap-token-auth, and that expired tokens are
    # cleaned away only with --controllers=*,tokencleaner. The testbed's cluster has all three.
    with Cluster("workload") as running:
        stock_kubelet.allow_bootstrapping(running)
        yield running


@pytest.mark.parametrize("node, containerd", [("bookworm", "debian"), ("trixie", "debian"),
                                              ("bookworm", "2"), ("trixie", "2")], indirect=["node"])
def test_a_stock_kubelet_joins_and_runs_a_pod(cluster, node, containerd, figure):
    worker.prepare(node, containerd)
    token = _configure(cluster, node)
    seconds = _join(cluster, node)
    runtime = _node(cluster, node)["status"]["nodeInfo"]["containerRuntimeVersion"]
    figure(f"floor of a join: kubelet start to Ready {seconds:.2f} s ({node.suite}, {runtime})")

    assert runtime.startswith("containerd://2." if containerd == "2" else "containerd://1.")
    _check_certificates(cluster, node, token)
    _check_pod(cluster, node)
    _check_audit(cluster, node, token)


def test_two_nodes_join_at_once(cluster, nodes, figure):
    both = nodes(), nodes()
    for node in both:
        worker.prepare(node)
        _configure(cluster, node)
    with ThreadPoolExecutor() as pool:
        times = list(pool.map(lambda node: _join(cluster, node), both))
    figure("floor of a join, two nodes at once: " + ", ".join(f"{seconds:.2f} s" for seconds in times))
    for node in both:
        _approve_serving_certificate(cluster, node)
        _check_pod(cluster, node)


def test_a_kubelet_changes_no_kernel_setting_of_the_machine(cluster, node):
    worker.prepare(node)
    node.reboot()
    # Not by values: the machine may have kubelet's own. Only what is not in /proc is safe to write to.
    kinds = node.run(["stat", "--file-system", "--format=%T", *KERNEL_SETTINGS]).stdout.split()
    assert kinds == ["tmpfs"] * len(KERNEL_SETTINGS)
    _configure(cluster, node)
    _join(cluster, node)
    assert node.read("/proc/sys/kernel/panic").strip() == b"10"  # kubelet's, so it found them writable


def test_a_token_of_another_group_cannot_join(cluster, node):
    # Why the bindings name an extra group: every token is in system:bootstrappers, which the guide binds.
    token = cluster.create_bootstrap_token(groups=("system:bootstrappers:something-else",))
    worker.prepare(node)
    stock_kubelet.configure(node, cluster, token)
    stock_kubelet.start(node)
    _wait(node, "kubelet to be refused", lambda: "cannot create resource" in node.journal("-u", "kubelet"))
    assert _node(cluster, node) is None


def _configure(cluster: Cluster, node: Node) -> str:
    # The guide's token never expires and has no extra group: it lets any finder join years later.
    token = cluster.create_bootstrap_token(groups=(NODE_GROUP,))
    stock_kubelet.configure(node, cluster, token)
    return token


def _wait(node: Node, what: str, condition):
    """For what kubelet has to do: when it does not, its journal says why."""
    return waiting.until(what, condition, WAIT_SECONDS, lambda: node.journal("-u", "kubelet", "--lines=40"), TROUBLE)


def _join(cluster: Cluster, node: Node) -> float:
    started = time.monotonic()
    stock_kubelet.start(node)
    _wait(node, f"node {node.name} to be Ready", lambda: _ready(cluster, node))
    return time.monotonic() - started


def _node(cluster: Cluster, node: Node) -> dict | None:
    return cluster.api.get(f"/api/v1/nodes/{node.name}")


def _ready(cluster: Cluster, node: Node) -> bool:
    found = _node(cluster, node) or {"status": {}}
    return any(condition["type"] == "Ready" and condition["status"] == "True"
               for condition in found["status"].get("conditions", []))


def _requests(cluster: Cluster, signer: str, requester: str) -> list[dict]:
    found = cluster.api.get("/apis/certificates.k8s.io/v1/certificatesigningrequests")["items"]
    return [request for request in found if request["spec"]["signerName"] == signer
            and request["spec"]["username"] == requester]


def _conditions(request: dict) -> list[tuple[str, str]]:
    return [(each["type"], each["reason"]) for each in request["status"].get("conditions", [])]


def _check_certificates(cluster: Cluster, node: Node, token: str) -> None:
    # Two of the guide's bindings work: the first client certificate is approved without a person.
    [client] = _requests(cluster, CLIENT_SIGNER, f"system:bootstrap:{token.split('.')[0]}")
    assert _conditions(client) == [("Approved", "AutoApproved")]
    # Its two for serving certificates do nothing (see bootstrap-rbac.yaml): nobody approves these,
    # and until then, kubelet's own port has no certificate and `kubectl logs` cannot work.
    assert _approve_serving_certificate(cluster, node) == []


def _approve_serving_certificate(cluster: Cluster, node: Node) -> list[tuple[str, str]]:
    """Approves it by hand; returns the conditions it had before."""
    [serving, *_] = _wait(node, "the request for a serving certificate",
                          lambda: _requests(cluster, SERVING_SIGNER, f"system:node:{node.name}"))
    cluster.kubectl("certificate", "approve", serving["metadata"]["name"])
    return _conditions(serving)


def _check_pod(cluster: Cluster, node: Node) -> None:
    name = f"greeter-on-{node.name}"
    cluster.apply(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"nodeName": node.name, "containers": [
            {"name": "greeter", "image": worker.GREETER, "imagePullPolicy": "Never"}]}}))
    pod = _wait(node, f"pod {name} to be ready", lambda: _running(cluster, name))
    assert pod["status"]["podIP"].startswith(node.pod_cidr.removesuffix("0/24"))
    # The cgroup driver is systemd: the container's group is a unit of the node's systemd.
    container = pod["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
    node.run(["systemctl", "is-active", f"cri-containerd-{container}.scope"])

    greeting = f"greetings from {name}\n"
    assert _wait(node, f"the log of pod {name}", lambda: _logs(cluster, name)) == greeting
    assert cluster.kubectl("exec", name, "--", "/greeter", "say", "hello", "again") == "hello again\n"
    assert node.run(["curl", "-s", f"http://{pod['status']['podIP']}:8080"]).stdout == greeting


def _running(cluster: Cluster, name: str) -> dict | None:
    pod = cluster.api.get(f"/api/v1/namespaces/default/pods/{name}")
    ready = any(condition["type"] == "Ready" and condition["status"] == "True"
                for condition in pod["status"].get("conditions", []))
    return pod if ready else None


def _logs(cluster: Cluster, name: str) -> str | None:
    """None while kubelet has not yet picked up the serving certificate that was just approved."""
    try:
        return cluster.kubectl("logs", name)
    except KubectlError:
        return None


def _check_audit(cluster: Cluster, node: Node, token: str) -> None:
    seen = {(event["user"]["username"], event["verb"], event["objectRef"]["resource"])
            for event in cluster.audit() if "objectRef" in event}
    assert (f"system:bootstrap:{token.split('.')[0]}", "create", "certificatesigningrequests") in seen
    assert (f"system:node:{node.name}", "create", "nodes") in seen
