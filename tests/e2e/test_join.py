"""A real assignment ends in a Ready node, and back: the seed's objects, real Cluster API, a real kubelet."""

import json
import os
import ssl
from pathlib import Path

import pytest

from testbed import host as hosts
from testbed import management, pods, snapshot
from testbed.assignment import BOOTSTRAPPED, INSTALLED, PACE, byohost, condition, is_ready, machines, release, scale
from testbed.browser import Browser
from testbed.host import Host
from testbed.management import example

TREE = Path(os.environ.get("KUBEXM_TREE", ""))


@pytest.fixture(scope="module")
def side():
    """A management cluster that is also the workload cluster, as in the guide."""
    with management.started("kubexm", "demo", pace=PACE) as running:
        hosts.allow_bootstrapping(running.cluster)
        running.apply(example.objects(running.cluster, replicas=0))
        yield running


@pytest.fixture
def host(side, node):
    """An enrolled host that no cluster wants yet; nothing of it is left after the test."""
    made = Host(node, TREE)
    made.enrol(side.cluster)
    made.wait_for_phase("waiting")
    yield made
    release(side, made)
    side.cluster.kubectl("delete", "byohost,node", "--all")


@pytest.mark.parametrize("node", ["bookworm", "trixie"], indirect=True)
def test_a_host_becomes_a_node_and_back(side, host):
    before = snapshot.settled(host.node)
    found = byohost(side, host)
    assert found["status"]["hostinfo"]["architecture"] == "amd64"
    assert condition(side, host, BOOTSTRAPPED)["reason"] == "WaitingForMachineRefToBeAssigned"

    scale(side, 1)
    status = host.wait_for_phase("joined")
    assert is_ready(side, host)
    side.wait_for("the condition", lambda: condition(side, host, BOOTSTRAPPED).get("status") == "True")
    assert condition(side, host, INSTALLED)["status"] == "True"
    node = side.cluster.get("node", host.node.name)
    assert node["spec"]["providerID"] == f"byoh://{host.node.name}"
    identity = host.node.read("/etc/machine-id").decode().strip()
    assert node["status"]["nodeInfo"]["machineID"] == identity
    assert identity not in json.dumps(status)
    served = ssl.get_server_certificate((host.node.address, 10250)).strip()
    assert served in host.node.read("/var/lib/kubelet/pki/kubelet-server-current.pem").decode()
    assert status["assignment"]["cluster"] == example.CLUSTER
    assert status["plan"]["state"] == "done"
    assert {item["name"] for item in status["certificates"]} == {"management", "node"}
    side.wait_for("a running Machine", lambda: [item["status"]["phase"] for item in machines(side)] == ["Running"])
    pod = f"greeter-{host.node.suite}"  # nodes of the next test have the names of these
    pods.run(side.cluster, host, pod)

    side.cluster.kubectl("delete", "pod", pod, "--wait=false")
    scale(side, 0)
    status = host.wait_for_phase("waiting")
    assert not snapshot.lasting_diff(before, host.node)
    assert [step for step in status["plan"]["steps"] if step["error"]] == []  # nothing that had to stay
    released = byohost(side, host)
    assert "machineRef" not in released["status"] and "bootstrapSecret" not in released["spec"]
    assert "cluster.x-k8s.io/cluster-name" not in released["metadata"].get("labels", {})
    assert "kubectl delete node" in condition(side, host, BOOTSTRAPPED)["message"]


@pytest.fixture
def self_delete(side):
    """Other tests expect that a released host may not delete its Node."""
    hosts.allow_self_delete(side.cluster)
    yield
    side.cluster.kubectl("delete", "-f", str(hosts.SELF_DELETE))


def test_a_released_host_deletes_its_node_where_that_is_allowed(side, host, self_delete):
    scale(side, 1)
    host.wait_for_phase("joined")
    scale(side, 0)
    host.wait_for_phase("waiting")
    assert side.cluster.get("node", host.node.name) is None
    assert condition(side, host, BOOTSTRAPPED)["message"] == "the host was released; its previous state is restored"


@pytest.mark.parametrize("language, waits, joined, silence", [
    ("en-US", "waits for an assignment", "became Ready", "does not answer"),
    ("zh-CN", "等待分配到集群", "曾达到 Ready 状态", "没有响应")])
def test_a_browser_shows_the_journey_while_it_happens(side, host, language, waits, joined, silence):
    with Browser(host.node.leader, "http://localhost:10240/", language) as page:
        page.wait_for("a host that waits", lambda: waits in page.text("#phase"))
        page.evaluate("window.opened = 'once'")
        scale(side, 1)
        page.wait_for("a node", lambda: joined in page.text("#phase"))
        steps = [f"{step['state']} {step['text']}" for step in host.status()["plan"]["steps"]]
        assert len(steps) > 10
        page.wait_for("every step", lambda: all(step in page.text("#steps") for step in steps))
        assert host.node.name in page.text("#host") and example.CLUSTER in page.text("#assignment")

        host.node.run(["systemctl", "stop", "kubexmd"])
        page.wait_for("silence", lambda: silence in page.text("#unreachable"))
        page.wait_for("nothing that nobody knows", lambda: page.text("#status") == "")
        host.node.run(["systemctl", "start", "kubexmd"])
        page.wait_for("the node again", lambda: joined in page.text("#phase"))
        assert page.text("#unreachable") == "" and page.evaluate("window.opened") == "once"
