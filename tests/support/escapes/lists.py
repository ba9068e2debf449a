"""What root's lists have no word for: types of steps and of documents (finding A1: nothing could forbid them)."""

from collections.abc import Callable
from dataclasses import dataclass

from escapes import Escape, Probe, bundles, data, directory, kubeconfig, of_plan, rendered, secret
from escapes.host import LISTED_MOUNT, MADE_LATER, MODULES_ASKED_FOR, NO_DOCUMENTS, NO_STEPS, OWNER, PKI, RAN, give_back, put
from escapes.probes import edit_unit, gone, made, owns, says, start, sysctl, unit, unmounted, without_link
from testbed.executor import plan
from testbed.executor.plan import step
from testbed.node import Node


@dataclass(frozen=True)
class Example:
    """A step that root's usual lists permit, and how one sees its effect."""

    steps: list[dict]
    reached: Probe | None
    before: Callable[[Node], object] = lambda _: None
    after: Callable[[Node], object] = lambda _: None

    def escape(self, aim: str, stopped_by: str, because: str, **more) -> Escape:
        return of_plan(aim, stopped_by, because, *self.steps, reached=self.reached, before=self.before,
                       after=self.after, **more)


def make_and_give_back(path: str):
    """What the claim calls new is removed when the attacker gives the claim back."""
    def after(node: Node) -> None:
        put(node, path)
        give_back(node, user="kubexm")
    return after


def _add_link_and_give_back(node: Node) -> None:
    node.run(["sh", "-c", "ip link add cni0 type bridge"], check=False)
    give_back(node, user="kubexm")


def component(name: str = "crictl", version: str = plan.VERSION, **file) -> dict:
    return step("component-version", component=name, version=version,
                files=[{"path": "bin/crictl", "digest": plan.BINARY_DIGEST, "mode": "0755"} | file])


def touch(path: str, name: str = "kubexm-escape.service", program: str = "/usr/bin/touch") -> dict:
    return step("transient-unit", name=name, argv=[program, path], timeout_seconds=20)


def unit_state(name: str, **wanted) -> dict:
    return step("unit-state", name=name, restart_key="", **wanted)


SYSCTL_FILE = rendered("sysctl-file", values=[{"key": "net.ipv4.ip_forward", "value": "1"}])
MODULES_FILE = rendered("modules-file", modules=["overlay"])

STEPS = {
    "rendered-file": Example([SYSCTL_FILE], made("/etc/sysctl.d/99-kubexm.conf")),
    "data-file": Example([data(f"{PKI}/new.crt")], made(f"{PKI}/new.crt")),
    "secret-file": Example([secret(f"{PKI}/new.key")], made(f"{PKI}/new.key")),
    "directory": Example([directory("/etc/kubernetes/new")], made("/etc/kubernetes/new")),
    "symlink": Example([step("symlink", path=f"{PKI}/new", target="ca.crt")], made(f"{PKI}/new")),
    "managed-block": Example([step("managed-block", path="/etc/hosts", name="n", lines=["192.0.2.1 bank.example"])],
                             says("/etc/hosts", "bank.example")),
    "absent-path": Example([step("absent-path", path="/etc/kubernetes/unwanted")], gone("/etc/kubernetes/unwanted")),
    "deleted-tree": Example([step("deleted-tree", path="/etc/kubernetes/tree")], gone("/etc/kubernetes/tree")),
    "sysctl": Example([step("sysctl", key="net.ipv4.ip_forward", value="1")], sysctl("net.ipv4.ip_forward", "1")),
    "kernel-module": Example([MODULES_FILE, step("kernel-module", name="nobodys_module")], made(MODULES_ASKED_FOR)),
    # A node has no swap, as no container has: what it gets is that it is its.
    "swap-off": Example([step("swap-off")], owns(OWNER)),
    "unmounted": Example([step("unmounted", below="/var/lib/kubelet")], unmounted(LISTED_MOUNT),
                         before=start("var-lib-kubelet-mounted.mount")),
    "unit-state": Example([unit_state("listed.service", active=False)],
                          unit("listed.service", "ActiveState", "inactive"), before=start("listed.service")),
    "daemon-reload": Example([step("daemon-reload", units=["listed.service"])],
                             unit("listed.service", "NeedDaemonReload", "no"), before=edit_unit("listed.service")),
    "component-version": Example([component()], made("/opt/kubexm/crictl/current")),
    "transient-unit": Example([touch(RAN)], made(RAN)),
    "claim": Example([step("claim", path="/var/lib/kubelet")], gone(MADE_LATER), after=make_and_give_back(MADE_LATER)),
    "side-effects": Example([step("side-effects", kind="links")], without_link("cni0"), after=_add_link_and_give_back),
}

KUBELET = {"node_name": "n1", "node_ip": "", "provider_id": "byoh://n1", "labels": [], "taints": []}
KUBELET_CONFIGURATION = {"minor": 34, "cgroup_driver": "systemd", "cluster_dns": ["10.96.0.10"],
                         "cluster_domain": "cluster.local", "fail_swap_on": True, "fail_cgroup_v1": False, "max_pods": 110}
CONTAINERD = {"version": 2, "cgroup_driver": "systemd", "sandbox_image": "good.example/pause:3.9"}
PROXY = {"service": "kubelet", "http_proxy": "http://192.0.2.1:3128", "https_proxy": "", "no_proxy": ""}
MIRROR = {"endpoint": "https://good.example", "capabilities": ["pull"], "ca": ""}
HOSTS = {"registry": "good.example", "mirrors": [MIRROR]}
NETWORK = {"name": "pods", "bridge": "cni0", "ipv4_subnet": "10.244.1.0/24", "ipv6_subnet": "", "mtu": 0,
           "masquerade": True}
FILES = {
    "kubelet-service": "/etc/systemd/system/kubelet.service",
    "kubelet-configuration": "/var/lib/kubelet/config.yaml",
    "kubeconfig": "/etc/kubernetes/kubelet.conf",
    "containerd-configuration": "/etc/containerd/config.toml",
    "registry-hosts": "/etc/containerd/certs.d/good.example/hosts.toml",
    "cni-configuration": "/etc/cni/net.d/10-kubexm.conflist",
    "proxy-drop-in": "/etc/systemd/system/kubelet.service.d/10-kubexm-proxy.conf",
    "sysctl-file": "/etc/sysctl.d/99-kubexm.conf",
    "modules-file": "/etc/modules-load.d/kubexm.conf",
}
DOCUMENTS = {
    "kubelet-service": [rendered("kubelet-service", **KUBELET)],
    "kubelet-configuration": [rendered("kubelet-configuration", **KUBELET_CONFIGURATION)],
    "kubeconfig": [*bundles(), kubeconfig("https://good.example:6443")],
    "containerd-configuration": [rendered("containerd-configuration", **CONTAINERD)],
    "registry-hosts": [rendered("registry-hosts", **HOSTS)],
    "cni-configuration": [rendered("cni-configuration", **NETWORK)],
    "proxy-drop-in": [rendered("proxy-drop-in", **PROXY)],
    "sysctl-file": [SYSCTL_FILE],
    "modules-file": [MODULES_FILE],
}



def _is_written(type_: str) -> Probe:
    """CNI's files have no place for a notice."""
    return says(FILES[type_], "host-local" if type_ == "cni-configuration" else "kubexm")


ALL = [
    *(example.escape(f"a {type_} where root lists no step", "steps", "is not in allow.steps", finding="A1",
                     configuration=NO_STEPS) for type_, example in STEPS.items()),
    *(of_plan(f"a {type_} where root lists no document", "documents preflight", "is not in allow.documents", *steps,
              reached=_is_written(type_), finding="A1", configuration=NO_DOCUMENTS)
      for type_, steps in DOCUMENTS.items()),
]
