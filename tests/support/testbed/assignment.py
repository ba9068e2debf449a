"""What the management cluster says of a host, and how a test makes it want one.

    with assignment.enrolled(tree) as (side, host):
        assignment.join(side, host)
        assignment.release(side, host)
"""

import base64
import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from testbed import host as hosts
from testbed import kubernetes, management
from testbed.cluster import Cluster
from testbed.host import Host
from testbed.management import example
from testbed.management.side import Management
from testbed.node import Node

PACE = 0.05  # of the stand-in's waits: it looks again after 0.5 s instead of 10
BOOTSTRAPPED, INSTALLED = "K8sNodeBootstrapSucceeded", "K8sComponentsInstallationSucceeded"
HOST_SIGNER, NODE_SIGNER = "kubernetes.io/kube-apiserver-client", "kubernetes.io/kube-apiserver-client-kubelet"
UNREGISTERING = "byoh.infrastructure.cluster.x-k8s.io/unregistering"
VERSION = "byoh.infrastructure.cluster.x-k8s.io/k8sversion"
PAUSED = "cluster.x-k8s.io/paused"
GROUP = "infrastructure.cluster.x-k8s.io/v1beta1"


@contextlib.contextmanager
def enrolled(tree: Path) -> Iterator[tuple[Management, Host]]:
    """A management cluster that is also the workload cluster, as in the guide, and a host that nobody wants yet."""
    with management.started("kubexm", "demo", pace=PACE) as side, Node() as node:
        hosts.allow_bootstrapping(side.cluster)
        side.apply(example.objects(side.cluster, replicas=0))
        host = Host(node, tree)
        host.enrol(side.cluster)
        host.wait_for_phase("waiting")
        yield side, host


def bootstrap_kubeconfig(side: Management) -> str:
    """What the manager hands out for a BootstrapKubeconfig object."""
    authority = base64.b64encode(side.cluster.ca.read_bytes()).decode()
    side.apply([{"apiVersion": GROUP, "kind": "BootstrapKubeconfig", "metadata": {"name": "hosts", "namespace": "default"},
                 "spec": {"apiserver": side.cluster.server, "certificate-authority-data": authority}}])
    return side.wait_for("a bootstrap kubeconfig", lambda: side.cluster.get("bootstrapkubeconfig", "hosts")
                         .get("status", {}).get("bootstrapKubeconfigData"))


def scale(side: Management, replicas: int) -> None:
    side.cluster.patch("machinedeployment", example.DEPLOYMENT, {"spec": {"replicas": replicas}})


def machines(side: Management) -> list[dict]:
    return (side.cluster.get("machines") or {"items": []})["items"]


def byohost(side: Management, host: Host) -> dict | None:
    return side.cluster.get("byohost", host.node.name)


def condition(side: Management, host: Host, kind: str = BOOTSTRAPPED) -> dict:
    found = (byohost(side, host) or {}).get("status", {}).get("conditions", [])
    return next((item for item in found if item["type"] == kind), {})


def is_ready(side: Management, host: Host) -> bool:
    found = side.cluster.get("node", host.node.name) or {"status": {}}
    return any(item["type"] == "Ready" and item["status"] == "True" for item in found["status"].get("conditions", []))


def requests(side: Management, signer: str) -> set[str]:
    """Names of the certificate requests for a signer."""
    found = side.cluster.get("csr")["items"]
    return {item["metadata"]["name"] for item in found if item["spec"]["signerName"] == signer}


def join(side: Management, host: Host) -> dict:
    """The host becomes a node; returns what it says of itself then."""
    scale(side, 1)
    return host.wait_for_phase("joined")


def release(side: Management, host: Host) -> None:
    """The host is nobody's again, and nothing in the cluster remembers."""
    scale(side, 0)
    side.wait_for("the end of all Machines", lambda: not machines(side))
    host.wait_for_phase("waiting")


# --- by hand, where Cluster API and the provider would never write what a test wants to see refused ------------------

SECRET = "by-hand"


def bootstrap_data(cluster: Cluster, **changes: str) -> dict[str, str]:
    """What the secret of a good assignment holds, but for the changes."""
    token = cluster.create_bootstrap_token(example.GROUPS)
    return {"bootstrap-kubeconfig": cluster.bootstrap_kubeconfig(token)} | changes


def another_authority() -> str:
    """The certificate of a CA that no cluster knows."""
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", "/dev/null", "-subj", "/CN=another"]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def secret(data: dict[str, str]) -> dict:
    return {"apiVersion": "v1", "kind": "Secret", "stringData": data,
            "metadata": {"name": SECRET, "namespace": "default"}}


def assign(side: Management, host: Host, data: dict[str, str] | None, uid: str = "by-hand-1",
           version: str | None = None, **spec: object) -> None:
    """`data` is what the bootstrap secret holds; without it there is none."""
    side.cluster.kubectl("delete", "secret", SECRET, "--ignore-not-found")
    if data is not None:
        side.apply([secret(data)])
    reference = {"kind": "Secret", "namespace": "default", "name": SECRET}
    patch(side, host, {"metadata": {"annotations": {VERSION: version or f"v{kubernetes.version()}"}},
                       "spec": {"joinMode": "tlsBootstrap", "bootstrapSecret": reference} | spec})
    refer_to_machine(side, host, uid)


def refer_to_machine(side: Management, host: Host, uid: str | None) -> None:
    machine = {"kind": "ByoMachine", "namespace": "default", "name": "by-hand", "uid": uid}
    patch(side, host, {"status": {"machineRef": machine if uid is not None else None}}, "status")


def annotate(side: Management, host: Host, name: str, value: str | None = "") -> None:
    """Without a value the annotation goes."""
    patch(side, host, {"metadata": {"annotations": {name: value}}})


def patch(side: Management, host: Host, change: dict, subresource: str = "") -> None:
    side.cluster.patch("byohost", host.node.name, change, subresource)


def withdraw(side: Management, host: Host) -> None:
    """Asks for a release by hand, and waits for it; what a test had put into the ByoHost goes, too."""
    annotate(side, host, UNREGISTERING)
    side.wait_for("a free host", lambda: UNREGISTERING not in byohost(side, host)["metadata"].get("annotations", {}))
    patch(side, host, {"spec": {"joinMode": None, "labels": None, "taints": None}})
    host.wait_for_phase("waiting")
    side.cluster.kubectl("delete", "node", host.node.name, "--ignore-not-found")
