"""The BYOH provider's own agent registers from a real node: with the real manager and with the stand-in."""

import json

import pytest

from testbed import management, waiting
from testbed.assignment import bootstrap_kubeconfig
from testbed.cluster import KubectlError
from testbed.management import example, programs

pytestmark = pytest.mark.selftest

NAMESPACE = "default"
PACE = 0.1  # of the stand-in; the real manager has its own
CLOUD_CONFIG = """\
#cloud-config
write_files:
- {path: /run/answer, content: "yes\\n"}
runcmd:
- cp /run/answer /run/followed
"""
GROUP = "infrastructure.cluster.x-k8s.io/v1beta1"


@pytest.fixture(scope="module", params=["byoh", "kubexm"])
def side(request):
    with management.started(request.param, "management", pace=PACE) as running:
        yield running


@pytest.fixture
def agent(side, nodes):
    """A node on which the agent runs as an operator would start it."""
    node = nodes(name="worker")
    node.push(programs.byoh() / "byoh-hostagent", "/usr/local/bin/byoh-hostagent")
    node.write("/root/bootstrap.conf", bootstrap_kubeconfig(side), mode=0o600)
    # --property: the agent keeps its key in the working directory and its kubeconfig below HOME
    node.run(["systemd-run", "--unit=byoh-hostagent", "--property=WorkingDirectory=/root", "--setenv=HOME=/root",
              "/usr/local/bin/byoh-hostagent", "--bootstrap-kubeconfig=/root/bootstrap.conf", "--metricsbindaddress=0",
              "--label=site=a", "--skip-installation"])
    yield node
    node.run(["systemctl", "stop", "byoh-hostagent"])
    side.cluster.kubectl("delete", "byohosts,bootstrapkubeconfigs,csr", "--all")


def bootstrapped(side, name: str) -> str | None:
    """The status of the host's condition that its node was bootstrapped."""
    conditions = side.cluster.get("byohost", name).get("status", {}).get("conditions", [])
    return next((item["status"] for item in conditions if item["type"] == "K8sNodeBootstrapSucceeded"), None)


def wait_registered(side, node) -> dict:
    def registered() -> dict | None:
        host = side.cluster.get("byohost", node.name)
        return host if host and "hostinfo" in host.get("status", {}) else None

    try:
        return side.wait_for(f"ByoHost {node.name}", registered)
    except waiting.TimedOut as error:
        raise waiting.TimedOut(f"{error}\n{node.journal('--unit=byoh-hostagent', '--lines=20')}") from None


def test_the_agent_registers_its_host(side, agent):
    host = wait_registered(side, agent)
    assert host["metadata"]["labels"] == {"site": "a"}
    assert host["status"]["hostinfo"] == {
        "osname": "linux", "architecture": "amd64", "osimage": "Debian GNU/Linux 12 (bookworm)"}
    addresses = [address for link in host["status"]["network"] for address in link.get("ipAddrs", [])]
    assert f"{agent.address}/24" in addresses
    check_request(side, agent.name)
    check_rights(side, agent)


def check_request(side, name: str) -> None:
    request = side.cluster.get("certificatesigningrequest", f"byoh-csr-{name}")
    assert request["spec"]["groups"] == ["system:bootstrappers", "system:bootstrappers:byoh", "system:authenticated"]
    assert request["status"]["conditions"][0]["reason"] == "Approved by ByoAdmission Controller"


def check_rights(side, agent) -> None:
    """The real provider's webhook refuses a host any other name; the Kubexm mode's does not, but the policy does."""
    config = side.directory / f"{side.profile}-agent.conf"
    config.write_bytes(agent.read("/root/.byoh/config"))
    meta = {"name": "stranger", "namespace": NAMESPACE}
    stranger = json.dumps({"apiVersion": GROUP, "kind": "ByoHost", "metadata": meta})
    with pytest.raises(KubectlError, match="a host writes its own ByoHost only"):
        side.cluster.kubectl("create", "-f", "-", input=stranger, kubeconfig=config)


def test_the_agent_follows_a_machine_and_lets_go_of_it(side, agent):
    """In kubeadm mode, where the agent runs a cloud-config; the Node is made by hand."""
    wait_registered(side, agent)
    side.apply(example.kubeadm_objects(side.cluster, CLOUD_CONFIG))
    side.wait_for("a bootstrapped host", lambda: bootstrapped(side, agent.name) == "True")
    assert agent.read("/run/followed") == b"yes\n"
    side.cluster.apply(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": agent.name}}))
    side.wait_for("a running Machine", lambda: machine_phases(side) == ["Running"])
    assert side.cluster.get("node", agent.name)["spec"]["providerID"].startswith(f"byoh://{agent.name}")
    side.cluster.kubectl("scale", "machinedeployment", example.DEPLOYMENT, "--replicas=0")
    side.wait_for("the end of all Machines", lambda: not machine_phases(side))
    side.wait_for("a host that is free again", lambda: is_free(side.cluster.get("byohost", agent.name)))
    assert bootstrapped(side, agent.name) == "False"
    # Cluster API deletes no Node of a Cluster in which it knows no control plane: this one stays behind.
    side.cluster.kubectl("delete", "node", agent.name)
    side.cluster.kubectl("delete", "cluster", example.CLUSTER, "--timeout=150s")


def machine_phases(side) -> list[str]:
    return [item["status"]["phase"] for item in (side.cluster.get("machines") or {"items": []})["items"]]


def is_free(host: dict) -> bool:
    return "cluster.x-k8s.io/cluster-name" not in host["metadata"]["labels"] and "machineRef" not in host["status"]


@pytest.mark.parametrize("side", ["byoh"], indirect=True)
def test_two_management_sides_at_once(side):
    """The manager's webhook port is fixed; both have it nevertheless, and each serves its own cluster."""
    with management.started("byoh", "another") as another:
        assert another.cluster.server in bootstrap_kubeconfig(another)
        assert side.cluster.server in bootstrap_kubeconfig(side)
