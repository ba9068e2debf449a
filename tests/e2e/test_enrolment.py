"""A host requests its certificate and waits for approval."""

import json
import os
from pathlib import Path

import pytest

from testbed import host as hosts
from testbed.cluster import Cluster, KubectlError
from testbed.host import Host

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
NODE = "apiVersion: v1\nkind: Node\nmetadata: {{name: {}}}"


@pytest.fixture(scope="module")
def cluster():
    """Without the manager that approves requests, and without its kinds; without NodeRestriction, as kube-apiserver is
    unless somebody enables it."""
    with Cluster("plain", plugins="") as running:
        hosts.allow_bootstrapping(running)
        yield running


def main_pid(node) -> str:
    return node.shown("MainPID", "kubexmd")


def test_whoever_waits_for_approval_says_so_and_how(cluster, node):
    host = Host(node, TREE)
    host.enrol(cluster)
    said = host.wait("the wait for approval", lambda: host.condition("CertificateIssued"))
    assert (said["status"], said["reason"]) == ("False", "WaitingForApproval")
    assert host.phase() == "enrolling" and not host.status()["certificates"]
    killed = main_pid(node)
    node.run(["mv", "/usr/local/bin/kubelet", "/root"])
    node.run(["systemctl", "kill", "--signal=KILL", "kubexmd"])
    host.wait("the next process", lambda: main_pid(node) not in ("0", killed))
    again = host.wait("the wait for approval again", lambda: host.condition("CertificateIssued"))
    assert again["message"] == said["message"], "a killed kubexmd posts no second request"
    found = host.wait("what would refuse a join", lambda: [each["id"] for each in host.status().get("preflight", [])])
    assert found == ["kubelet-missing"]
    command = said["message"].split("kubectl ")[1].split()
    cluster.kubectl(*command)
    certificates = host.wait("a certificate", lambda: host.status().get("certificates"))
    assert [item["name"] for item in certificates] == ["management"]
    assert not host.condition("CertificateIssued")
    # It is who it says, and that is all: nobody here lets hosts register.
    name = f'User "byoh:host:{node.name}" cannot get resource "byohosts"'
    host.wait("to be told", lambda: name in host.condition("ManagementClusterReachable").get("message", ""))
    assert host.phase() == "enrolling"


def test_a_node_changes_and_deletes_its_own_node_only(cluster):
    hosts.allow_self_delete(cluster)
    for name in ("mine", "theirs"):
        cluster.apply(NODE.format(name))
    mine = ["--as=system:node:mine", "--as-group=system:nodes", "--as-group=system:authenticated"]
    theirs, words = cluster.get("node", "theirs"), "a node changes and deletes its own Node only"
    del theirs["metadata"]["resourceVersion"]  # the controllers change it, too, and a conflict is found before the policy
    put = ["replace", "--raw", "/api/v1/nodes/theirs", "-f", "-"]  # without a read before, which is forbidden, too
    text = json.dumps(theirs)
    cluster.wait_for("the policy", lambda: words in denied(cluster, *put, *mine, text=text))
    put[2] += "/status"
    assert words in denied(cluster, *put, *mine, text=text)
    assert words in denied(cluster, "delete", "node", "theirs", *mine)
    assert words in denied(cluster, "create", "-f", "-", *mine, text=NODE.format("third"))
    cluster.kubectl("label", "node", "mine", "a=b", *mine)
    cluster.kubectl("delete", "node", "mine", *mine)
    assert cluster.get("node", "theirs") and not cluster.get("node", "mine")


def denied(cluster: Cluster, *command: str, text: str | None = None) -> str:
    """Empty: it was permitted."""
    try:
        cluster.kubectl(*command, input=text)
    except KubectlError as error:
        return str(error)
    return ""
