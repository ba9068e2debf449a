"""Joins a node to a cluster with a stock kubelet and nothing else, as a person would by hand.

This follows the TLS bootstrapping guide step by step with its mistakes corrected (the reasons stand
at each step and in tests/support/kubernetes/node), and is what our own join is measured against.
"""

from testbed.cluster import Cluster
from testbed.node import Node
from testbed.worker import FILES

ARGUMENTS = (
    "--hostname-override={name}",
    "--config=/etc/kubernetes/kubelet.yaml",
    "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap.kubeconfig",
    "--kubeconfig=/etc/kubernetes/kubelet.kubeconfig",
    "--cert-dir=/etc/kubernetes/ssl",
    "--root-dir=/data/kubelet",
    "--v=2",
    # Not taken over: --network-plugin and --logtostderr, unknown flags that end kubelet at once,
    # and --pod-infra-container-image, which the runtime's own setting replaced (unknown from 1.35).
)


def allow_bootstrapping(cluster: Cluster) -> None:
    cluster.apply(FILES / "bootstrap-rbac.yaml")


def configure(node: Node, cluster: Cluster, token: str) -> None:
    """Writes every file of the guide and enables kubelet; it is not started."""
    arguments = " ".join(ARGUMENTS).format(name=node.name)
    files = {
        "/etc/kubernetes/ssl/ca.pem": cluster.ca.read_text(),
        # With the certificate authority inside: a path would be one more file to keep in step.
        "/etc/kubernetes/bootstrap.kubeconfig": cluster.bootstrap_kubeconfig(token),
        "/etc/kubernetes/kubelet.yaml": (FILES / "kubelet.yaml").read_text(),
        "/etc/kubernetes/kubelet": f'KUBELET_ARGS="{arguments}"\n',
        "/etc/systemd/system/kubelet.service": (FILES / "kubelet.service").read_text(),
    }
    for path, text in files.items():
        node.write(path, text)
    # Root's: kubelet has to be root, so a user kube is of no use, and neither an ACL for that user on
    # the kubeconfigs nor an SELinux label that lets containers read kubelet's keys.
    node.run(["mkdir", "-p", "-m", "700", "/data/kubelet", "/etc/kubernetes/manifests"])
    node.run(["chmod", "600", "/etc/kubernetes/bootstrap.kubeconfig"])
    node.run(["systemctl", "daemon-reload"])
    node.run(["systemctl", "enable", "kubelet"])


def start(node: Node) -> None:
    node.run(["systemctl", "start", "kubelet"])
