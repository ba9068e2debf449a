"""Assignments that a host cannot or must not follow: a condition says why, and the host does not change."""

import base64
import os
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from testbed import api_proxy, assignment, exit_code, snapshot
from testbed.assignment import (
    BOOTSTRAPPED, NODE_SIGNER, another_authority, assign, bootstrap_data, condition, requests, withdraw)

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
ELSEWHERE = "https://10.99.0.99:6443"
UNKNOWN_TOKEN = "abcdef.0123456789abcdef"
KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"


@pytest.fixture(scope="module")
def enrolled():
    """One host for all tests of this file; at the end nothing of what they did is left on it."""
    with assignment.enrolled(TREE) as (side, host):
        before = snapshot.settled(host.node)
        yield side, host
        assert not snapshot.lasting_diff(before, host.node)
        assert int(host.node.shown("NRestarts", "kubexmd")) == 0


@pytest.fixture
def place(enrolled):
    """The host without an assignment; whatever a test assigned to it is withdrawn."""
    side, host = enrolled
    yield side, host
    withdraw(side, host)
    assert host.kept() == ["kubexmd.lock", "management.kubeconfig", "memory.json"]


def changed(cluster, server: str = "", token: str = "", authority: str | None = None) -> str:
    """A bootstrap kubeconfig with something else in it; an empty authority is taken away."""
    config = yaml.safe_load(bootstrap_data(cluster)["bootstrap-kubeconfig"])
    where, who = config["clusters"][0]["cluster"], config["users"][0]["user"]
    where["server"], who["token"] = server or where["server"], token or who["token"]
    if authority is not None:
        where["certificate-authority-data"] = base64.b64encode(authority.encode()).decode()
    return yaml.safe_dump(config)


# What the secret holds, made from the cluster, and what is said of it.
SECRETS = {
    "is not there": (lambda _: None, ["secrets/by-hand", "404", "The bootstrap provider creates it"]),
    "lacks the kubeconfig": (lambda _: {"other": "x"}, ["secret by-hand", "data.bootstrap-kubeconfig is missing"]),
    "is garbage": (
        lambda _: {"bootstrap-kubeconfig": "{{{: \n\t- x"}, ["data.bootstrap-kubeconfig: ", "line 2: not YAML"]),
    "is a list": (lambda _: {"bootstrap-kubeconfig": "[1, 2]"}, ["data.bootstrap-kubeconfig", "expected a mapping"]),
    "lacks the CA of another server": (
        lambda cluster: {"bootstrap-kubeconfig": changed(cluster, ELSEWHERE, authority="")},
        ["data.ca.crt: expected the CA", "certificate-authority-data", ELSEWHERE]),
    "has a wrong CA": (
        lambda cluster: bootstrap_data(cluster, **{"ca.crt": another_authority()}),
        ["6443", "unable to get local issuer certificate", "check that the CA"]),
    "has a CA that is none": (
        lambda cluster: bootstrap_data(cluster, **{"ca.crt": "garbage"}),
        ["CA in secret by-hand", "expected a certificate, found none"]),
    "has an unknown token": (
        lambda cluster: {"bootstrap-kubeconfig": changed(cluster, token=UNKNOWN_TOKEN)},
        ["certificatesigningrequests", "401", "Unauthorized", "may have expired"]),
    "names a server with a path": (
        lambda cluster: {"bootstrap-kubeconfig": changed(cluster, server=f"{cluster.server}/k8s/clusters/c-1")},
        ["cluster-allowed", "6443/k8s/clusters/c-1", "https://HOST or https://HOST:PORT", "correct the server"]),
    "names a server without encryption": (
        lambda cluster: {"bootstrap-kubeconfig": changed(cluster, server=cluster.server.replace("https", "http"))},
        ["secret by-hand", "server", "expected https://HOST[:PORT][/PATH], without user and query"]),
    "names a server with a user": (
        lambda cluster: {"bootstrap-kubeconfig": changed(cluster, server=cluster.server.replace("//", "//admin:x@"))},
        ["secret by-hand", "server", "expected https://HOST[:PORT][/PATH], without user and query"]),
    "has a word for a number": (
        lambda cluster: bootstrap_data(cluster, **{"kubelet-config.yaml": f"{KUBELET}maxPods: many\n"}),
        ["secret by-hand", "data.kubelet-config.yaml", "maxPods", "expected a number"]),
    "has an absurd number": (
        lambda cluster: bootstrap_data(cluster, **{"kubelet-config.yaml": f"{KUBELET}maxPods: 4000000000\n"}),
        ["max_pods", "expected 1 to 65534", "4000000000"]),
    "has a command for an address": (
        lambda cluster: bootstrap_data(cluster, **{"kubelet-config.yaml": f"{KUBELET}clusterDNS: ['; rm -rf /']\n"}),
        ["cluster_dns[0]", "expected an IPv4 or IPv6 address"]),
    "has lines in a name": (
        lambda cluster: bootstrap_data(cluster, **{"kubelet-config.yaml": f"{KUBELET}clusterDomain: \"a\\nb\"\n"}),
        ["cluster_domain", "expected a DNS name"]),
    "has another object": (
        lambda cluster: bootstrap_data(cluster, **{"kubelet-config.yaml": "kind: Pod\n"}),
        ["data.kubelet-config.yaml", "kind", "expected KubeletConfiguration"]),
}

# What the ByoHost says besides, and what is said of it.
ORDERS = {
    "wants kubeadm": ({"joinMode": "kubeadm"}, ["joinMode kubeadm is not supported yet", "not changed"]),
    "says no mode": ({"joinMode": None}, ["is not supported yet", "expected tlsBootstrap"]),
    "has a label that is none": ({"labels": {"a b!\n": "x"}}, ["labels[0].key", "expected a label key"]),
    "has an option in a label": ({"labels": {"a": "x --root-dir=/"}}, ["labels[0].value", "expected at most 63"]),
    "has an endless label": ({"labels": {"a": "x" * 20000}}, ["labels[0].value", "expected at most"]),
    "has a taint that is none": ({"taints": [{"key": "-- x\n", "effect": "NoSchedule"}]}, ["taints[0].key"]),
    "has a taint without effect": ({"taints": [{"key": "a", "effect": "Never"}]}, ["taints[0].effect", "NoExecute"]),
    "has a version that is none": ({"version": "v1.banana"}, ["k8sversion", "v1.banana", "such as v1.34.1"]),
    "has an unknown version": ({"version": "v1.99.0"}, ["kubelet-version", "expected kubelet 1.99, as ordered", "kubelet v1."]),
}


def wait_for_words(side, host, words: list[str]) -> str:
    """Both places say all of it, but for the moment of the next try, and nothing runs."""
    def told() -> dict:
        here, there = host.condition(BOOTSTRAPPED), condition(side, host)
        same = all(here.get(member) == there.get(member) for member in ("status", "message"))
        return there if same and all(word in there.get("message", "") for word in words) else {}
    found = host.wait(f"a condition with {words}", told)
    message = found["message"]
    assert found["status"] == "False"
    assert host.phase() in ("joining", "failed")
    assert host.node.run(["systemctl", "cat", "kubelet.service"], check=False).returncode != 0
    return message


def test_a_host_that_is_not_ready_is_not_taken_over(place):
    """As one that was a control plane: kubelet would start what lies there."""
    side, host = place
    theirs = "/etc/kubernetes/manifests/etcd.yaml"
    host.node.run(["mkdir", "-p", "/etc/kubernetes/manifests"])
    host.node.write(theirs, "kind: Pod\n")
    asked = requests(side, NODE_SIGNER)
    assign(side, host, bootstrap_data(side.cluster))
    wait_for_words(side, host, ["static-pods-present", theirs, "move the files elsewhere"])
    assert host.phase() == "failed" and [each["id"] for each in host.status()["preflight"]] == ["static-pods-present"]
    assert "static-pods-present" in host.node.run(["kubexmctl", "status"]).stdout
    assert requests(side, NODE_SIGNER) == asked, "a certificate was requested for a host that cannot join"
    assert host.node.read(theirs) == b"kind: Pod\n"
    host.node.run(["rm", "-r", "/etc/kubernetes"])
    host.wait_for_phase("joined")
    assert host.status()["preflight"] == []


def test_a_clock_far_from_the_servers_stops_a_join(place):
    side, host = place
    asked = requests(side, NODE_SIGNER)
    with api_proxy.running(side.cluster, api_proxy.Changes(clock=timedelta(hours=2))) as server:
        assign(side, host, {"bootstrap-kubeconfig": changed(side.cluster, server=server)})
        wait_for_words(side, host, ["clock", "s behind the API server's", "timedatectl"])
    assert [each["id"] for each in host.status()["preflight"]] == ["clock"]
    shown = host.node.run(["kubexmctl", "preflight"], check=False)
    assert shown.returncode == exit_code.FAILED and "timedatectl" in shown.stdout and not shown.stderr
    assert requests(side, NODE_SIGNER) == asked


def test_an_api_server_that_does_not_answer_is_named(place):
    side, host = place
    assign(side, host, {"bootstrap-kubeconfig": changed(side.cluster, server="https://10.99.0.2:7443")})
    wait_for_words(side, host, ["GET /version at https://10.99.0.2:7443"])
    assert host.phase() == "joining" and [each["id"] for each in host.status()["preflight"]] == ["api-server"]


def test_an_api_server_that_root_does_not_permit_is_not_asked_for_a_certificate(place):
    side, host = place
    asked = requests(side, NODE_SIGNER)
    rules = "/etc/kubexm/executor.yaml"
    before = host.node.read(rules)
    host.node.write(rules, 'allow: {clusters: ["10.0.0.9:6443"]}\n')
    host.node.run(["systemctl", "reload", "kubexm-executor"])
    assign(side, host, bootstrap_data(side.cluster))
    wait_for_words(side, host, ["cluster-allowed", "is not in allow.clusters", "reload kubexm-executor"])
    assert requests(side, NODE_SIGNER) == asked
    host.node.write(rules, before)
    host.node.run(["systemctl", "reload", "kubexm-executor"])
    host.wait_for_phase("joined")


def test_a_name_that_is_looked_up_for_long_is_a_warning(place):
    """kubelet waits for the answer before it registers."""
    side, host = place
    files = {name: host.node.read(name) for name in ("/etc/nsswitch.conf", "/etc/resolv.conf")}
    answers_nothing = ["systemd-run", "--quiet", "--collect", "--unit=mute", "socat", "-u", "UDP-RECV:53", "OPEN:/dev/null"]
    host.node.run(answers_nothing)
    host.node.run(["sh", "-ec", f"echo 'hosts: dns' > /etc/nsswitch.conf; echo nameserver {host.node.address} > /etc/resolv.conf"])
    assign(side, host, bootstrap_data(side.cluster))
    host.wait("the warning", lambda: [each["id"] for each in host.status()["preflight"]] == ["name-lookup"])
    for name, content in files.items():  # their modes stay
        host.node.run(["tee", name], input=content.decode())
    host.node.run(["systemctl", "stop", "mute"])
    host.wait_for_phase("joined")


@pytest.mark.parametrize("case", SECRETS)
def test_a_secret_that(place, case):
    side, host = place
    data, words = SECRETS[case]
    assign(side, host, data(side.cluster))
    message = wait_for_words(side, host, words)
    assert UNKNOWN_TOKEN not in message and "rm -rf" not in message


@pytest.mark.parametrize("case", ORDERS)
def test_a_host_that(place, case):
    side, host = place
    spec, words = ORDERS[case]
    assign(side, host, bootstrap_data(side.cluster), **spec)
    wait_for_words(side, host, words)


@pytest.mark.parametrize("uid", ["", "../../etc/passwd", "x" * 5000], ids=["empty", "a path", "endless"])
def test_a_machine_whose_uid_is(place, uid):
    side, host = place
    assign(side, host, bootstrap_data(side.cluster), uid=uid)
    told = wait_for_words(side, host, ["status.machineRef.uid", "expected 1 to 64 letters"])
    assert len(told) < 300 and host.condition("ManagementClusterReachable")["status"] == "True"


def test_a_node_of_another_machine_is_not_taken_over(place):
    side, host = place
    name = host.node.name
    side.apply([{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}])
    side.cluster.patch("node", name, {"status": {"nodeInfo": {"machineID": "another"}}}, "status")
    assign(side, host, bootstrap_data(side.cluster))
    words = [f"Node {name} belongs to another machine", "found another", f"kubectl delete node {name}"]
    wait_for_words(side, host, words)
    assert host.phase() == "failed"
    side.cluster.kubectl("delete", "node", name)
    host.wait_for_phase("joined")


def test_what_is_only_odd_is_done_as_far_as_possible(place):
    """Unknown fields are logged, labels that kubelet may not set left out; a missing CA is the management cluster's."""
    side, host = place
    data = {"bootstrap-kubeconfig": changed(side.cluster, authority=""),
            "kubelet-config.yaml": f"{KUBELET}maxPods: 42\nmagicField: 1\n"}
    assign(side, host, data, labels={"site": "a", "node-role.kubernetes.io/worker": "", "kubernetes.io/odd": "x"})
    host.wait_for_phase("joined")
    labels = side.cluster.get("node", host.node.name)["metadata"]["labels"]
    assert labels["site"] == "a"
    assert not {"node-role.kubernetes.io/worker", "kubernetes.io/odd"} & labels.keys()
    assert side.cluster.get("node", host.node.name)["status"]["capacity"]["pods"] == "42"
    assert "magicField is ignored" in host.node.journal("--unit=kubexmd")


def test_a_secret_that_comes_late_is_found(place):
    side, host = place
    assign(side, host, None)
    wait_for_words(side, host, ["404"])
    side.apply([assignment.secret(bootstrap_data(side.cluster))])
    host.wait_for_phase("joined")
