"""Outages, changed orders and contradicting orders: the node keeps running, and the status is true."""

import base64
import contextlib
import json
import os
from pathlib import Path

import pytest

from testbed import assignment, search, snapshot
from testbed import host as hosts
from testbed.assignment import (PAUSED, UNREGISTERING, annotate, assign, bootstrap_data, byohost, condition, is_ready,
                                refer_to_machine, scale, withdraw)
from testbed.care import memory, never_reported_failed, owners
from testbed.executor import strace

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
SOCKET = "/run/kubexm/kubexmd.sock"
BOOTSTRAP = "/etc/kubexm/bootstrap-kubeconfig"
IDENTITY = "/var/lib/kubexm/management.kubeconfig"
PROCESSES = ["kubexmd.service", "kubexm-executor.socket", "kubexm-executor.service"]
KEPT = ["/var/lib/kubexm", "/var/lib/kubexm-executor"]
MAKE_SMALL = """
for directory; do
    mkdir /run/small
    mount -t tmpfs -o size=48m small /run/small
    cp -a "$directory/." /run/small
    mount --bind /run/small "$directory"
    umount /run/small
    rmdir /run/small
done
"""


@pytest.fixture(scope="module")
def enrolled():
    with assignment.enrolled(TREE) as (side, host):
        yield side, host, snapshot.settled(host.node)


@pytest.fixture
def place(enrolled):
    """The host without an assignment; whatever a test assigned to it is withdrawn, and nothing of it is left."""
    side, host, before = enrolled
    yield side, host
    withdraw(side, host)
    assert not snapshot.lasting_diff(before, host.node, apart_from=(IDENTITY,))
    assert host.kept() == ["kubexmd.lock", "management.kubeconfig", "memory.json"]


@pytest.fixture
def cramped(place):
    """The host with little space for what its processes keep; at the end they have what they had before."""
    side, host = place
    host.node.run(["systemctl", "stop", *PROCESSES])
    host.node.run(["sh", "-es", *KEPT], input=MAKE_SMALL)
    host.node.run(["systemctl", "start", *PROCESSES])
    host.wait_for_phase("waiting")
    yield side, host
    host.node.run(["systemctl", "stop", *PROCESSES])
    host.node.run(["umount", *KEPT])
    host.node.run(["systemctl", "start", *PROCESSES])


def fill(host) -> None:
    for directory in KEPT:
        done = host.node.run(["dd", "if=/dev/zero", f"of={directory}/filler", "bs=4k"], check=False)
        assert "No space left on device" in done.stderr


def make_room(host) -> None:
    host.node.run(["rm", *(f"{directory}/filler" for directory in KEPT)])


@pytest.fixture
def joined(place):
    """A node, and the process of its kubelet, which nobody has to touch."""
    side, host = place
    assign(side, host, bootstrap_data(side.cluster))
    host.wait_for_phase("joined")
    yield side, host, kubelet_of(host)


def kubelet_of(host) -> str:
    return process_of(host, "kubelet.service")


def process_of(host, unit: str) -> str:
    return host.node.shown("MainPID", unit)


def wait_for_hold(side, host, *words: str) -> None:
    """The orders do not fit, and that is all: the node is as good as it was."""
    def held() -> dict | None:
        said = condition(side, host, "AssignmentApplied")
        return said if said.get("status") == "False" and all(word in said["message"] for word in words) else None

    found = host.wait("a hold", held)
    assert found["reason"] == "ManualDecisionRequired" and host.phase() == "held"
    assert host.condition(found["type"])["message"] == found["message"]
    host.wait("the Node to be looked at", lambda: host.condition("NodeReady").get("status") == "True")
    side.wait_for("what is true of the node", lambda: condition(side, host).get("status") == "True")


def test_nothing_is_wiped_on_inference(joined):
    """A machine that vanishes or changes is no order to release, and when it is back so is everything."""
    side, host, kubelet = joined
    refer_to_machine(side, host, None)
    wait_for_hold(side, host, "machine-by-hand-1", "the node stays as it is", UNREGISTERING)
    refer_to_machine(side, host, "by-hand-2")
    wait_for_hold(side, host, "machine-by-hand-1", "by-hand-2")
    assert kubelet_of(host) == kubelet and is_ready(side, host)
    refer_to_machine(side, host, "by-hand-1")
    host.wait_for_phase("joined")
    side.wait_for("the end of the hold", lambda: condition(side, host, "AssignmentApplied")["status"] == "True")
    assert condition(side, host)["status"] == "True"


def test_a_paused_host_is_left_alone(joined):
    side, host, kubelet = joined
    annotate(side, host, PAUSED)
    host.wait_for_phase("paused")
    assert host.condition("NodeReady")["status"] == "True"  # still watched; nothing is written
    said = byohost(side, host)["status"]
    annotate(side, host, UNREGISTERING)
    host.node.run(["systemctl", "restart", "kubexmd"])  # which decides anew, with the order before it
    host.wait_for_phase("paused")
    assert kubelet_of(host) == kubelet and byohost(side, host)["status"]["conditions"] == said["conditions"]
    annotate(side, host, PAUSED, None)
    host.wait_for_phase("waiting")


def test_a_host_that_was_deleted_is_registered_anew_and_keeps_its_node(joined):
    side, host, kubelet = joined
    refer_to_machine(side, host, None)  # before that nobody may delete it
    wait_for_hold(side, host)
    first = byohost(side, host)["metadata"]["uid"]
    side.cluster.kubectl("delete", "byohost", host.node.name)
    side.wait_for("a new ByoHost", lambda: (byohost(side, host) or {"metadata": {}})["metadata"].get("uid", first) != first)
    wait_for_hold(side, host, "machine-by-hand-1", "names no machine")
    assert kubelet_of(host) == kubelet and is_ready(side, host)


def test_the_api_server_is_away_for_a_while(joined):
    side, host, kubelet = joined
    side.cluster.processes["kube-apiserver"].kill()
    for kind in ("ManagementClusterReachable", "NodeReady"):
        host.wait(f"{kind} to be false", lambda kind=kind: host.condition(kind).get("status") != "True")
    side.cluster.restart("kube-apiserver")
    for kind in ("ManagementClusterReachable", "NodeReady"):
        host.wait(f"{kind} to be true", lambda kind=kind: host.condition(kind).get("status") == "True")
    assert host.phase() == "joined" and kubelet_of(host) == kubelet


def test_all_ways_to_ask_tell_the_same(joined):
    """What is true may change between two questions: until nothing did."""
    _, host, _ = joined

    def agreed() -> dict | None:
        told = [json.loads(host.node.run(argv).stdout) for argv in (
            ["curl", "-s", "http://127.0.0.1:10240/v1/status"],
            ["curl", "-s", "--unix-socket", SOCKET, "http://localhost/v1/status"],
            ["kubexmctl", "status", "--output", "json"])]
        return told[0] if told[0] == told[1] == told[2] else None

    assert host.wait("the same answer three times", agreed)["phase"] == "joined"
    text = host.node.run(["kubexmctl", "status"]).stdout
    assert all(word in text for word in ("joined", host.node.name, "NodeReady"))


def test_the_token_and_the_keys_are_nowhere_else(joined):
    side, host, _ = joined
    secret = side.cluster.get("secret", assignment.SECRET)
    token = next(line.split()[-1] for line in decoded(secret)["bootstrap-kubeconfig"].splitlines() if "token:" in line)
    pair = host.node.run(["cat", "/var/lib/kubelet/pki/kubelet-client-current.pem"]).stdout
    key = pair.split("PRIVATE KEY-----")[1].split("\n")[1]
    for found in (token.split(".")[1], key):
        assert not search.journal(host.node, found)
        assert not search.arguments(host.node, found)
        for path in search.files(host.node, found):
            mode, owner = host.node.run(["stat", "-c", "%a %U", path]).stdout.split()
            assert mode == "600" and owner in ("root", "kubexm"), f"{path} has mode {mode} of {owner}"
    assert search.files(host.node, key) and not search.files(host.node, token.split(".")[1])
    for pid, name in search.processes(host.node).items():
        if name in ("kubexmd", "kubexm-executor"):
            # The status makes it use its stacks again: what a call left there is not wiped, but overwritten.
            host.wait(f"{name} to forget the token", lambda pid=pid: host.status() and not search.memory(
                pid, token.split(".")[1]))
    host.node.run(["rm", "/run/systemd/journal/synced"])  # which the search left


def decoded(secret: dict) -> dict[str, str]:
    return {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}


def slow_executor(host):
    """Within it a plan takes long enough to be met in the middle."""
    [pid] = [pid for pid, name in search.processes(host.node).items() if name == "kubexm-executor"]
    return strace.slowed(pid, 0.2)


def replace_kubexmd(host) -> None:
    """Returns when the next process says how it is."""
    host.node.run(["systemctl", "restart", "kubexmd"])


def test_kubexmd_restarts_in_every_phase(place):
    side, host = place
    with slow_executor(host):
        assign(side, host, bootstrap_data(side.cluster))
        host.wait_for_phase("joining")
        replace_kubexmd(host)
    host.wait_for_phase("joined")
    kubelet = kubelet_of(host)
    replace_kubexmd(host)
    host.wait_for_phase("joined")
    assert kubelet_of(host) == kubelet
    with slow_executor(host):
        annotate(side, host, UNREGISTERING)
        host.wait_for_phase("releasing")
        replace_kubexmd(host)
    host.wait_for_phase("waiting")
    replace_kubexmd(host)
    host.wait_for_phase("waiting")


def test_the_executor_is_stopped_in_the_middle_of_a_plan(place):
    """Its dozens of steps are made to take long: a stop waits for one of them, not for all."""
    side, host = place
    with never_reported_failed(side, host):
        with slow_executor(host):
            assign(side, host, bootstrap_data(side.cluster))
            host.wait("a plan", lambda: (host.status().get("plan") or {}).get("state") == "running")
            host.node.run(["systemctl", "stop", "kubexm-executor.service", "kubexm-executor.socket"])
        host.wait("to be told", lambda: host.condition("ExecutorAvailable").get("status") == "False")
        plan = host.status()["plan"]
        assert plan["state"] == "running" and any(step["state"] in ("pending", "prepared") for step in plan["steps"])
        finished = sum(step["state"] in ("done", "skipped") for step in plan["steps"])
        progress = f"{finished} of {len(plan['steps'])} steps done"
        side.wait_for("its progress", lambda: progress in condition(side, host, "AssignmentApplied").get("message", ""))
        host.node.run(["systemctl", "start", "kubexm-executor.socket"])
        joined = host.wait_for_phase("joined")
        side.wait_for("the condition", lambda: condition(side, host).get("status") == "True")
    assert (joined["plan"]["id"], joined["plan"]["state"]) == (plan["id"], "done"), "there is no second plan"


@contextlib.contextmanager
def without_approval(cluster):
    """Nobody approves the certificates of new nodes but an administrator."""
    token = {"user": "system:bootstrap:any", "groups": ["system:bootstrappers:byoh"], "resourceAttributes": {
        "group": "certificates.k8s.io", "resource": "certificatesigningrequests", "subresource": "nodeclient", "verb": "create"}}

    def is_approved() -> bool:
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": token}
        return json.loads(cluster.api.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review))["status"]["allowed"]
    assert is_approved()
    cluster.kubectl("delete", "clusterrolebinding", "kubexm-approve-node-client")
    cluster.wait_for("the end of approvals", lambda: not is_approved())
    yield
    hosts.allow_bootstrapping(cluster)


def test_a_node_certificate_that_waits_for_approval_says_how_to_approve_it(place):
    side, host = place
    with without_approval(side.cluster):
        assign(side, host, bootstrap_data(side.cluster))
        said = side.wait_for("the wait", lambda: (now := condition(side, host, "CertificateIssued")).get("status") == "False" and now)
        assert said["reason"] == "WaitingForApproval" and host.phase() == "joining"
        side.cluster.kubectl(*said["message"].split("kubectl ")[1].split())
    host.wait_for_phase("joined")
    side.wait_for("the certificate", lambda: condition(side, host, "CertificateIssued")["status"] == "True")


def test_the_api_server_restarts_while_it_joins(place):
    side, host = place
    assign(side, host, bootstrap_data(side.cluster))
    host.wait_for_phase("joining")
    side.cluster.restart("kube-apiserver")
    host.wait_for_phase("joined")


def test_a_host_with_full_disks_is_released_and_may_leave(cramped):
    side, host = cramped
    assign(side, host, bootstrap_data(side.cluster))
    host.wait_for_phase("joined")
    fill(host)
    annotate(side, host, UNREGISTERING)
    side.wait_for("a free host", lambda: UNREGISTERING not in byohost(side, host)["metadata"].get("annotations", {}))
    host.wait_for_phase("waiting")
    assert kubelet_of(host) == "0" and not [name for name in host.kept() if name.startswith("machine-")]

    make_room(host)
    assign(side, host, bootstrap_data(side.cluster), uid="by-hand-2")
    host.wait_for_phase("joined")
    fill(host)
    said = host.node.run(["kubexmctl", "leave"], timeout=100).stdout
    assert "releasing machine-by-hand-2" in said and "No space left on device" in said
    host.wait_for_phase("held")
    assert kubelet_of(host) == "0" and not owners(host)
    make_room(host)
    host.wait("the word, on the disk", lambda: memory(host).get("leave", {}).get("owner") == "machine-by-hand-2")
    assert "joined" not in memory(host)


def test_a_host_that_knows_no_cluster_says_so(enrolled):
    _, host, _ = enrolled
    host.node.run(["systemctl", "stop", "kubexmd"])
    host.node.run(["sh", "-c", f"mv {BOOTSTRAP} /root/kept && rm {IDENTITY}"])
    host.node.run(["systemctl", "start", "kubexmd"])
    host.wait_for_phase("unconfigured")
    said = host.wait("to be told", lambda: host.condition("ManagementClusterReachable"))
    assert (said["reason"], said["status"]) == ("NotConfigured", "False")
    assert BOOTSTRAP in said["message"]
    kubexmd = process_of(host, "kubexmd.service")
    host.node.run(["mv", "/root/kept", BOOTSTRAP])
    host.wait_for_phase("waiting")
    assert process_of(host, "kubexmd.service") == kubexmd, "no restart is needed"
    replace_kubexmd(host)  # so that systemd's credential is the one of before, too
    host.wait_for_phase("waiting")


def test_many_orders_in_a_short_time(place):
    """Also a release that is asked for in the middle of a join."""
    side, host = place
    for replicas in (1, 0, 1, 0):
        scale(side, replicas)
        if replicas:
            host.wait("an assignment", lambda: host.phase() in ("joining", "joined"))
            # Until then its ByoMachine vanishes without a release: the manager's affair, not the host's.
            side.wait_for("a machine that the manager keeps", lambda: all(
                each["metadata"].get("finalizers") for each in side.cluster.get("byomachine")["items"]))
    assignment.release(side, host)
    assert host.kept() == ["kubexmd.lock", "management.kubeconfig", "memory.json"]
    assert host.node.run(["systemctl", "cat", "kubelet.service"], check=False).returncode != 0
