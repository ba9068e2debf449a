"""A node of another installation, which the attacker wants to take over by parts of a join."""

from escapes import bundles, data, kubeconfig, of_plan, rendered, secret
from escapes.authorities import CLIENT_CA, SERVER_CA
from escapes.host import LOGS, PKI, USUAL, at, put
from escapes.lists import CONTAINERD, FILES, KUBELET_CONFIGURATION, PROXY, STEPS, make_and_give_back, unit_state
from escapes.probes import gone, made, says, unit
from testbed.executor.plan import step
from testbed.node import Node

POD = "/etc/kubernetes/manifests/theirs.yaml"


def _remove_pod(node: Node) -> None:
    at(node, POD).unlink()


def _of_theirs(aim: str, *steps: dict, reached, then=lambda _: None, **more):
    def after(node: Node) -> None:
        _remove_pod(node)
        then(node)

    return of_plan(aim, "preflight", "an empty /etc/kubernetes/manifests", *steps, reached=reached,
                   before=lambda node: put(node, POD), after=after, **more)


def _claim(directory: str, below: str):
    """Recorded now, and given back when there is more."""
    wider = USUAL.replace("claim: [", f"claim: [{directory}, ")
    return _of_theirs(f"what {directory} will have for another installation", step("claim", path=directory),
                      reached=gone(f"{directory}/{below}"), then=make_and_give_back(f"{directory}/{below}"),
                      configuration=wider)


CONTAINERD_PROXY = "/etc/systemd/system/containerd.service.d/10-kubexm-proxy.conf"

ALL = [
    _of_theirs("a CA for the server of another installation", data(SERVER_CA), reached=made(SERVER_CA)),
    _of_theirs("a CA for the clients of another installation", data(CLIENT_CA), reached=made(CLIENT_CA)),
    _of_theirs("a server for the kubelet of another installation", *bundles(), kubeconfig("https://other.example:6443"),
               reached=says(FILES["kubeconfig"], "other.example")),
    _of_theirs("settings for the kubelet of another installation",
               rendered("kubelet-configuration", **KUBELET_CONFIGURATION), reached=made(FILES["kubelet-configuration"])),
    _of_theirs("the kubelet of another installation masked", unit_state("kubelet.service", masked=True),
               reached=unit("kubelet.service", "UnitFileState", "masked")),
    # What its pods need.
    _of_theirs("the runtime of another installation masked", unit_state("containerd.service", masked=True),
               reached=unit("containerd.service", "UnitFileState", "masked")),
    _of_theirs("the settings of the runtime of another installation", rendered("containerd-configuration", **CONTAINERD),
               reached=says(FILES["containerd-configuration"], "good.example/pause")),
    _of_theirs("a proxy for the runtime of another installation", rendered("proxy-drop-in", **PROXY | {"service": "containerd"}),
               reached=says(CONTAINERD_PROXY, "192.0.2.1")),
    _of_theirs("the links that another installation will make", *STEPS["side-effects"].steps,
               reached=STEPS["side-effects"].reached, then=STEPS["side-effects"].after),
    _claim("/var/log/pods", LOGS),
    # What a control plane has beside a kubelet.
    _of_theirs("a CA for the front proxy of another installation", data(f"{PKI}/front-proxy-ca.crt"),
               reached=made(f"{PKI}/front-proxy-ca.crt")),
    _of_theirs("a key for the service accounts of another installation", secret(f"{PKI}/sa.pub"),
               reached=made(f"{PKI}/sa.pub")),
    _of_theirs("the files of another installation removed", step("deleted-tree", path="/etc/kubernetes/tree"),
               reached=gone("/etc/kubernetes/tree")),
    _of_theirs("a file of another installation removed", step("absent-path", path="/etc/kubernetes/unwanted"),
               reached=gone("/etc/kubernetes/unwanted")),
]
