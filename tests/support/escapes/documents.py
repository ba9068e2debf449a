"""More in a rendered file than its parameters say, and files that lead to a server or registry of the attacker's."""

import itertools
from collections.abc import Callable

from escapes import CONTENTS, Escape, bundles, carry_out, kubeconfig, name_of, of_plan, rendered
from escapes.host import USUAL, at, narrow, put
from escapes.lists import CONTAINERD, FILES, HOSTS, KUBELET, KUBELET_CONFIGURATION, MIRROR, NETWORK, PROXY
from escapes.probes import says
from testbed import executor_wire
from testbed.executor.client import plan, reason
from testbed.executor.plan import step
from testbed.node import Node

_joins = itertools.count(1)
COMMAND = "\nExecStartPre=/bin/touch /run/ran\n"
OTHER_MIRROR = MIRROR | {"endpoint": "https://other.example"}
OWN_UNIT = b"[Service]\nExecStart=/bin/touch /run/ran\n"
CONTENTS[executor_wire.digest(OWN_UNIT)] = OWN_UNIT


def _smuggled(aim: str, text: str, stopped_by: str, because: str, type_: str, **parameters) -> Escape:
    return of_plan(aim, stopped_by, because, rendered(type_, **parameters), reached=says(FILES[type_], text))


def _kubelet(aim: str, because: str, **changes) -> Escape:
    return _smuggled(aim, COMMAND.rstrip(), "parameters preflight", because, "kubelet-service", **(KUBELET | changes))


def _configuration(aim: str, because: str, text: str, **changes) -> Escape:
    return _smuggled(aim, text, "parameters", because, "kubelet-configuration", **(KUBELET_CONFIGURATION | changes))


def _proxy(aim: str, parameter: str) -> Escape:
    return _smuggled(aim, COMMAND.rstrip(), "parameters", parameter, "proxy-drop-in",
                     **(PROXY | {parameter: f"http://192.0.2.1:3128{COMMAND}"}))


def _image(aim: str, image: str) -> Escape:
    return of_plan(aim, "registries", "is not in allow.registries",
                   rendered("containerd-configuration", **(CONTAINERD | {"sandbox_image": image})),
                   reached=says(FILES["containerd-configuration"], image), finding="A4", configuration=narrow("0" * 64))


def _mirror(aim: str, stopped_by: str, because: str, path: str, configuration: str = USUAL, **changes) -> Escape:
    return of_plan(aim, stopped_by, because, rendered("registry-hosts", **(HOSTS | changes)),
                   reached=says(path, "other.example"), finding="A4", configuration=configuration)


def _network(aim: str, stopped_by: str, because: str, text: str, **changes) -> Escape:
    return of_plan(aim, stopped_by, because, rendered("cni-configuration", **(NETWORK | changes)),
                   reached=says(FILES["cni-configuration"], text), finding="A4")


def _own_unit() -> Escape:
    """Only a repair may name the content of a rendered file: the ledger has it from an earlier rendering."""
    file = rendered("kubelet-service", **KUBELET)
    file["with"]["written"] = {"digest": executor_wire.digest(OWN_UNIT), "mode": "0644"}
    return of_plan("a unit that it wrote", "written content-size preflight", "written: expected none", file,
                   reached=says(FILES["kubelet-service"], "/run/ran"))


def _look(aim: str, each: dict, path: str, before: Callable[[Node], object] = lambda _: None) -> Escape:
    """A preview shows what would change."""
    shown: list[str] = []

    def attempt(node: Node) -> str:
        put(node, path, "password: root's own\n")
        before(node)
        with executor_wire.connect(node) as wire:
            wire.hello()
            wire.send({"type": "preview", "plan": plan(name_of(aim), each)})
            shown[:] = [str(wire.receive())]
            outcome = reason(wire.last())
        at(node, path).unlink()
        return outcome

    about = (each["type"], each["with"]["document"]["type"]) if "document" in each["with"] else (each["type"],)
    return Escape(aim, about, ("private-files",), "", attempt, lambda _: "password" in shown[0], finding="A9")


PRIVATE = "/etc/kubernetes/private"


def _block(line: str) -> dict:
    return step("managed-block", path=PRIVATE, name="n", lines=[line])


def _add_block(node: Node) -> None:
    assert carry_out(node, "block-of-its-own", _block("x")) == ""


def _join(wanted: dict):
    """The host is a node of one cluster, and the plan is for another."""
    def attempt(node: Node) -> str:
        joined = carry_out(node, f"joined-{next(_joins)}", *bundles(), kubeconfig("https://good.example:6443"))
        assert joined == "", joined
        return carry_out(node, f"another-{next(_joins)}", *bundles(), wanted)
    return attempt


SERVERS = [
    of_plan("a server of its own", "clusters", "is not in allow.clusters", *bundles(),
            kubeconfig("https://other.example:6443"), reached=says(FILES["kubeconfig"], "other.example"), finding="A1",
            configuration=narrow("0" * 64)),
    of_plan("another port of the server", "clusters", "is not in allow.clusters", *bundles(),
            kubeconfig("https://good.example:7443"), reached=says(FILES["kubeconfig"], "7443"), configuration=narrow("0" * 64)),
    of_plan("a server without encryption", "parameters", "server: expected", *bundles(), kubeconfig("http://good.example:6443"),
            reached=says(FILES["kubeconfig"], "http://good.example")),
    Escape("the node of another cluster", ("rendered-file", "kubeconfig"), ("node-server",), "the one of the node on this host",
           _join(kubeconfig("https://other.example:6443")), says(FILES["kubeconfig"], "other.example"), finding="A1"),
    Escape("another server of the same CA", ("rendered-file", "kubeconfig"), ("node-server",), "the one of the node on this host",
           _join(rendered("kubeconfig", user="kubelet", server="https://good.example:6443", server_name="other.example")),
           says(FILES["kubeconfig"], "other.example")),
    of_plan("a server whose CAs nobody judged", "ca-bundles", "expected its CA bundle in the plan",
            kubeconfig("https://other.example:6443"), reached=says(FILES["kubeconfig"], "other.example")),
    of_plan("a second server beside the judged one", "one-server", "expected kubeconfigs for one API server", *bundles(),
            kubeconfig("https://good.example:6443"), kubeconfig("https://other.example:6443", "kube-proxy"),
            reached=says("/etc/kubernetes/kube-proxy.conf", "other.example")),
]

ALL = [
    *SERVERS,
    _own_unit(),
    _kubelet("a command in the name of the node", "node_name", node_name=f"n1{COMMAND}"),
    _kubelet("a command in the id of the node", "provider_id", provider_id=f"byoh://n1{COMMAND}"),
    _kubelet("a command in a label", "labels[0].value", labels=[{"key": "a", "value": f"b{COMMAND}"}]),
    _configuration("more pods than the host bears", "max_pods", "maxPods: 4000000000", max_pods=4000000000),
    _configuration("names for pods from a service of this host", "cluster_dns", "127.0.0.1", cluster_dns=["127.0.0.1"]),
    _proxy("a command in the proxy", "http_proxy"),
    _proxy("a command in the other proxy", "https_proxy"),
    _image("a pause image of its own", "other.example/pause:3.9"),
    _image("a pause image of everybody", "pause:3.9"),
    _image("a pause image from this host", "localhost:5000/pause:3.9"),
    _mirror("a mirror of its own", "registries", "is not in allow.registries", FILES["registry-hosts"],
            configuration=narrow("0" * 64), mirrors=[OTHER_MIRROR]),
    _mirror("a mirror without encryption where any registry is good", "registries", "is not in allow.registries",
            FILES["registry-hosts"], mirrors=[MIRROR | {"endpoint": "http://other.example"}]),
    _mirror("a mirror for all registries", "parameters", "registry: expected",
            "/etc/containerd/certs.d/_default/hosts.toml", registry="_default", mirrors=[OTHER_MIRROR]),
    _mirror("a mirror file elsewhere", "parameters path-components", "registry: expected", "/srv/others/tree/hosts.toml",
            registry="../../../srv/others/tree", mirrors=[OTHER_MIRROR]),
    _network("pods on a link of the host", "links", "is not in allow.links", "eth0", bridge="eth0"),
    _network("all addresses for pods", "parameters", "ipv4_subnet: expected", "0.0.0.0/1", ipv4_subnet="0.0.0.0/1"),
    _look("to read a kubeconfig of root", kubeconfig("https://good.example:6443"), FILES["kubeconfig"]),
    _look("to read a private file of root", _block("x"), PRIVATE),
    _look("to read a private file of root beside a block of its own", _block("y"), PRIVATE, _add_block),
]
