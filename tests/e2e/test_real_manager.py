"""kubexmd with the BYOH provider's own manager, as released, its strict webhook and our policy.

That release knows kubeadm mode alone, which kubexmd has not: everything works but the join.
"""

import os
from pathlib import Path

import pytest

from testbed import management, snapshot
from testbed.assignment import HOST_SIGNER, bootstrap_kubeconfig, byohost, condition, machines, requests, scale
from testbed.cluster import KubectlError
from testbed.host import BOOTSTRAP, Host
from testbed.management import example
from testbed.node import Node

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
CLOUD_CONFIG = "#cloud-config\nruncmd:\n- touch /etc/followed\n"
OURS = "byoh.infrastructure.cluster.x-k8s.io/"
OF_ASSIGNMENTS = {"cluster.x-k8s.io/cluster-name", f"{OURS}byomachine-name"}
REFUSED, FREED = "JoinModeNotAvailable", "K8sNodeAbsent"


@pytest.fixture(scope="module")
def side():
    with management.started("byoh", "management") as running:
        running.apply(example.kubeadm_objects(running.cluster, CLOUD_CONFIG, replicas=0))
        yield running


@pytest.fixture(scope="module")
def host(side):
    with Node() as node:
        made = Host(node, TREE)
        made.enrol(side.cluster)
        made.wait_for_phase("waiting")
        yield made


@pytest.fixture
def untouched(host):
    """That the host is as before is checked at the end of the test."""
    before = snapshot.settled(host.node)
    yield
    assert not (report := snapshot.lasting_diff(before, host.node)), report
    assert host.node.run(["kubexmctl", "history"]).stdout == "", "no plan was made"


def conditions_of_request(side, name: str) -> list[tuple[str, str]]:
    status = side.cluster.get("csr", name)["status"]
    return [(each["type"], each["reason"]) for each in status["conditions"]]


def refused_requests(side) -> list[tuple[int, str]]:
    """Of all that kubexmd asked for, here: what the provider's roles, its webhook or our policy do not permit."""
    asked = [each for each in side.cluster.audit() if each.get("userAgent", "").startswith("kubexmd/")]
    assert asked
    refusals = [(each.get("responseStatus", {}).get("code", 200), each["requestURI"]) for each in asked]
    return [each for each in refusals if each[0] in (400, 401, 403, 422, 500)]


def machine_of(side, host) -> str | None:
    reference = byohost(side, host)["status"].get("machineRef")
    return reference and reference["uid"]


def wait_refused(side, host) -> str | None:
    """The host says that it cannot become a node of its machine, which is returned. The manager keeps that machine from
    now on: one that is deleted before its finalizer is written vanishes without a release."""
    said = side.wait_for("a refusal", lambda: (now := condition(side, host)).get("reason") == REFUSED and now)
    host.wait_for_phase("failed")
    side.wait_for("the finalizers", lambda: all(
        each["metadata"].get("finalizers") for each in side.cluster.get("byomachine")["items"]))
    assert (said["status"], said["severity"]) == ("False", "Warning")
    assert said["message"] == "joinMode kubeadm is not supported yet, expected tlsBootstrap; the host is not changed"
    return machine_of(side, host)


def wait_free(side, host) -> None:
    """Nothing of an assignment is left, and the next machine can have the host."""
    side.wait_for("a free host", lambda: not OF_ASSIGNMENTS & byohost(side, host)["metadata"]["labels"].keys())
    freed = byohost(side, host)
    assert "machineRef" not in freed["status"] and "bootstrapSecret" not in freed["spec"]
    assert not [name for name in freed["metadata"].get("annotations", {}) if name.startswith(OURS)]
    assert condition(side, host)["reason"] == FREED
    host.wait_for_phase("waiting")


def test_the_manager_approves_the_host_and_its_webhook_lets_it_register(side, host):
    (name,) = requests(side, HOST_SIGNER)
    assert conditions_of_request(side, name) == [("Approved", "Approved by ByoAdmission Controller")]
    found = byohost(side, host)
    assert found["status"]["hostinfo"] == {
        "osname": "linux", "architecture": "amd64", "osimage": "Debian GNU/Linux 12 (bookworm)"}
    addresses = [address for link in found["status"]["network"] for address in link.get("ipAddrs", [])]
    assert f"{host.node.address}/24" in addresses
    assert condition(side, host)["reason"] == "WaitingForMachineRefToBeAssigned"
    assert host.condition("ManagementClusterReachable")["status"] == "True"


def test_the_webhook_and_our_policy_are_both_asked(side, host, tmp_path):
    own = tmp_path / "kubeconfig"
    own.write_bytes(host.node.read("/var/lib/kubexm/management.kubeconfig"))
    label = ["label", "byohost", host.node.name, "tier=secret"]
    with pytest.raises(KubectlError, match="is not a valid agent username"):
        side.cluster.kubectl(*label)
    with pytest.raises(KubectlError, match="sets labels with the prefix"):
        side.cluster.kubectl(*label, kubeconfig=own)


def test_a_machine_is_refused_and_its_release_frees_the_host(side, host, untouched):
    scale(side, 1)
    first = wait_refused(side, host)
    (machine,) = machines(side)
    side.cluster.kubectl("delete", "machine", machine["metadata"]["name"])
    side.wait_for("another machine", lambda: machine_of(side, host) not in (None, first))  # it had been freed
    wait_refused(side, host)
    scale(side, 0)
    side.wait_for("the end of all Machines", lambda: not machines(side))
    wait_free(side, host)


def test_a_release_that_came_while_kubexmd_was_away(side, host, untouched):
    scale(side, 1)
    wait_refused(side, host)
    host.node.run(["systemctl", "stop", "kubexmd"])
    scale(side, 0)
    side.wait_for("the end of all Machines", lambda: not machines(side))
    assert f"{OURS}unregistering" in byohost(side, host)["metadata"]["annotations"]
    host.node.run(["systemctl", "start", "kubexmd"])
    wait_free(side, host)
    assert refused_requests(side) == []


def test_the_kubeconfig_that_the_manager_hands_out_is_enough(side, nodes):
    other = Host(nodes(name="other"), TREE)
    other.node.write(BOOTSTRAP, bootstrap_kubeconfig(side), 0o600)
    other.node.run(["systemctl", "enable", "--now", "kubexmd"])
    other.wait_for_phase("waiting")
    other.node.run(["systemctl", "stop", "kubexmd"])
    side.cluster.kubectl("delete", "byohost", other.node.name)
