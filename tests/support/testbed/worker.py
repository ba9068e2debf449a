"""Makes a node ready to become a Kubernetes worker: programs, containerd, images, pod network.

The node is not joined to anything by this; that is the business of a test.
"""

import re

from testbed import kubernetes, oci, waiting
from testbed.node import Node

FILES = kubernetes.MODULES / "node"
GREETER = "kubexm.test/greeter:1"
CONTAINERD_SECONDS = 120


def prepare(node: Node, containerd: str = "debian", programs: tuple[str, ...] = ("kubelet",)) -> None:
    """Everything a worker needs. `containerd` is "debian" (1.6 or 1.7) or "2" (ours, 2.1)."""
    _protect_kernel(node)
    install(node, *programs)
    _use_containerd(node, containerd)
    configure_pod_network(node)
    import_images(node)


def install(node: Node, *programs: str) -> None:
    """Puts programs of Kubernetes onto a node, where the guide puts them."""
    for name in programs:
        node.push(kubernetes.on_nodes(name), f"/usr/local/bin/{name}")


def configure_pod_network(node: Node) -> None:
    """One bridge for the pods of a node, with the node's own range of addresses."""
    text = (FILES / "pod-network.conflist").read_text().replace("POD_CIDR", node.pod_cidr)
    node.write("/etc/cni/net.d/10-pods.conflist", text)


def import_images(node: Node) -> None:
    """Pods need two images: the one for their sandbox, whose name containerd knows, and one to run.

    The index of an archive is of no use after its import. The end of a lease lets containerd throw it away now, not
    after a test has looked at what is there.
    """
    programs = kubernetes.images()
    for reference, name in ((sandbox_image(node), "pause"), (GREETER, "greeter")):
        node.write("/run/image.tar", oci.archive(reference, programs / name))
        node.run(["ctr", "--namespace", "k8s.io", "images", "import", "/run/image.tar"])
    node.run(["rm", "/run/image.tar"])
    node.run(["ctr", "--namespace", "k8s.io", "leases", "create", "--id", "collect-garbage"])
    node.run(["ctr", "--namespace", "k8s.io", "leases", "delete", "--sync", "collect-garbage"])


def sandbox_image(node: Node) -> str:
    """The name under which containerd looks for the sandbox image; it differs between versions."""
    dump = node.run(["containerd", "config", "dump"]).stdout
    found = re.search(r"""^\s*sandbox(?:_image)? = ["'](\S+)["']""", dump, re.MULTILINE)
    if found is None:
        raise LookupError(f"`containerd config dump` in node {node.name} names no sandbox image:\n{dump}")
    return found.group(1)


def _protect_kernel(node: Node) -> None:
    """Kubelet changes settings of the kernel, which is the machine's: let it change copies of them.

    The executor changes them as well. It has a /proc of its own (ProtectProc=), which gets the copies, too.
    """
    node.push(FILES / "own-kernel-settings", "/usr/lib/testbed/own-kernel-settings")
    node.push(FILES / "own-kernel-settings.service", "/etc/systemd/system/own-kernel-settings.service")
    node.push(FILES / "kubexm-executor.conf", "/etc/systemd/system/kubexm-executor.service.d/own-kernel-settings.conf")
    node.run(["systemctl", "enable", "--now", "own-kernel-settings"])


def _use_containerd(node: Node, containerd: str) -> None:
    if containerd == "2":
        for program in kubernetes.containerd().iterdir():
            node.push(program, f"/usr/local/bin/{program.name}")
        node.write("/etc/systemd/system/containerd.service.d/version.conf", (FILES / "containerd-2.conf").read_text())
    generation = {"debian": 2, "2": 3}[containerd]
    config = FILES / f"containerd-config-{generation}.toml"
    node.write("/etc/containerd/config.toml", config.read_text())
    node.run(["systemctl", "daemon-reload"])
    node.run(["systemctl", "restart", "containerd"])
    waiting.until(f"containerd in node {node.name}",
                  lambda: node.run(["ctr", "version"], check=False).returncode == 0,
                  CONTAINERD_SECONDS, lambda: node.journal())
