"""Cluster API and the stand-in of the Kubexm mode bring a host into a cluster and out again.

The agent's part is written by hand here: what an agent must be able to see stands in the assertions.
"""

import base64
import json
import subprocess
import urllib.error

import pytest
import yaml

from testbed import kubernetes, management
from testbed.api import Api
from testbed.cluster import Cluster
from testbed.management import example
from testbed.management.handmade import HandmadeHost
from testbed.watching import Watch

pytestmark = pytest.mark.selftest

PACE, TIMEOUT_FACTOR = 0.02, 0.06  # the stand-in looks again after 0.2 s instead of 10, and forces a release after 18 s
WORDS = "byoh.infrastructure.cluster.x-k8s.io"
NOTHING = {"metadata": {}}
LEASE = "byohost.infrastructure.cluster.x-k8s.io/lease"


@pytest.fixture(scope="module")
def workload():
    with Cluster("workload") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def side(workload):
    with management.started("kubexm", "management", PACE, TIMEOUT_FACTOR) as running:
        yield running


@pytest.fixture
def host(side):
    """A host whose agent is this test; not registered yet."""
    made = HandmadeHost(side, "h1")
    yield made
    if made.read():
        made.release()
        made.remove()


@pytest.fixture
def machine(request, side, workload, host):
    """The name of the one ByoMachine that a user's objects lead to; a parameter changes those objects first."""
    change = getattr(request, "param", lambda objects: objects)
    side.apply(change(example.objects(workload)))
    yield side.wait_for("a ByoMachine", lambda: names(side, "byomachines"))[0]
    pause(side, False)
    scale(side, 0)
    side.wait_for("a request to release the host, or no more machines",
                  lambda: not names(side, "machines") or has(host.read() or NOTHING, "unregistering"))
    if host.read():
        host.release()
    side.wait_for("the end of all Machines", lambda: not names(side, "machines"))
    side.cluster.kubectl("delete", "cluster", example.CLUSTER, "--timeout=150s")
    workload.kubectl("delete", "nodes", "--all")


def names(side, kind: str) -> list[str]:
    return [item["metadata"]["name"] for item in (side.cluster.get(kind) or {"items": []})["items"]]


def scale(side, replicas: int) -> None:
    side.cluster.kubectl("scale", "machinedeployment", example.DEPLOYMENT, f"--replicas={replicas}")


def host_ready(side, machine: str) -> dict:
    """The ByoMachine's condition BYOHostReady."""
    conditions = side.cluster.get("byomachine", machine).get("status", {}).get("conditions", [])
    return next((item for item in conditions if item["type"] == "BYOHostReady"), {})


def wait_for_reason(side, machine: str, reason: str) -> None:
    side.wait_for(f"BYOHostReady with reason {reason}", lambda: host_ready(side, machine).get("reason") == reason)


def watch_hosts(side) -> Watch:
    return Watch(side.cluster.kubeconfig.read_text(), "byohosts")


def wait_attached(watch: Watch, host: HandmadeHost) -> None:
    watch.wait_for("an installation secret", host.name, lambda version: version["spec"].get("installationSecret"))


def secret(side, name: str) -> dict[str, str]:
    data = side.cluster.get("secret", name)["data"]
    return {key: base64.b64decode(value).decode() for key, value in data.items()}


def test_a_host_is_attached_in_two_patches(side, workload, machine, host):
    wait_for_reason(side, machine, "BYOHostsUnavailable")
    with watch_hosts(side) as watch:
        host.register()
        wait_attached(watch, host)
        # the agent's own patch of its status comes somewhere in between
        lease, first, second, lease_end, installation = (
            change for change in watch.changes(host.name) if "hostinfo" not in change.get("status", {}))
    labels = side.cluster.get("machine", machine)["metadata"]["labels"]
    uid = side.cluster.get("byomachine", machine)["metadata"]["uid"]
    assert list(lease["metadata"]["annotations"]) == [LEASE]
    assert first == {
        "metadata": {
            "labels": {"cluster.x-k8s.io/cluster-name": "my-cluster", f"{WORDS}/byomachine-name": f"default.{machine}"},
            "annotations": {f"{WORDS}/endpointip": f"{workload.address}:6443", f"{WORDS}/bundle-registry": "",
                            f"{WORDS}/k8sversion": f"v{kubernetes.version()}"},
        },
        "spec": {
            "bootstrapSecret": {"kind": "Secret", "namespace": "default", "name": f"{machine}-tls-bootstrap"},
            "joinMode": "tlsBootstrap", "downloadMode": "offline", "manageKubeProxy": True,
            "labels": {key: value for key, value in labels.items() if key != "cluster.x-k8s.io/cluster-name"},
        },
    }
    assert second == {"status": {"machineRef": {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "ByoMachine",
        "namespace": "default", "name": machine, "uid": uid}}}
    assert lease_end == {"metadata": {"annotations": {LEASE: None}}}
    assert installation == {"spec": {"installationSecret": {"namespace": "default", "name": machine}}}


def test_an_attached_host_has_the_secrets_to_join_with(side, workload, machine, host):
    with watch_hosts(side) as watch:
        host.register()
        wait_attached(watch, host)
    bootstrap = secret(side, f"{machine}-tls-bootstrap")
    assert sorted(bootstrap) == [
        "bootstrap-kubeconfig", "kube-proxy-config.yaml", "kube-proxy.kubeconfig", "kubelet-config.yaml"]
    cluster = yaml.safe_load(bootstrap["bootstrap-kubeconfig"])["clusters"][0]["cluster"]
    assert cluster["server"] == workload.server
    assert base64.b64decode(cluster["certificate-authority-data"]) == workload.ca.read_bytes()
    assert set(secret(side, machine)) == {"install", "uninstall"}


def as_in_the_guide(objects: list[dict]) -> list[dict]:
    """With a BootstrapKubeconfigTemplate instead of a secret; `apiserver` may be empty, not missing."""
    template = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "BootstrapKubeconfigTemplate",
                "metadata": {"name": "my-cluster-workers", "namespace": "default"},
                "spec": {"template": {"spec": {"apiserver": ""}}}}
    deployment = next(item for item in objects if item["kind"] == "MachineDeployment")
    reference = {"apiVersion": template["apiVersion"], "kind": template["kind"], "name": "my-cluster-workers"}
    deployment["spec"]["template"]["spec"]["bootstrap"] = {"configRef": reference}
    return [*objects, template]


@pytest.mark.parametrize("machine", [as_in_the_guide], indirect=True)
def test_the_guides_own_objects_lead_to_a_host_without_a_ca_and_a_machine_that_waits(side, workload, machine, host):
    with watch_hosts(side) as watch:
        host.register()
        wait_attached(watch, host)
    filled = side.wait_for("a filled BootstrapKubeconfig", lambda: [
        item for item in side.cluster.get("bootstrapkubeconfigs")["items"] if "status" in item])[0]
    assert filled["spec"]["apiserver"] == f"{workload.address}:6443"
    given = yaml.safe_load(filled["status"]["bootstrapKubeconfigData"])["clusters"][0]["cluster"]
    assert given == {"server": f"{workload.address}:6443"}
    minted = yaml.safe_load(secret(side, f"{machine}-tls-bootstrap")["bootstrap-kubeconfig"])
    assert minted["clusters"][0]["cluster"] == {"server": workload.server}
    tokens = side.cluster.api.get("/api/v1/namespaces/kube-system/secrets?fieldSelector=type=bootstrap.kubernetes.io/token")
    made = [item for item in tokens["items"] if "description" in item["data"]]
    assert len(made) == 2  # one each, and not thousands
    waiting = [item["reason"] for item in side.cluster.get("machine", machine)["status"]["conditions"]
               if item["type"] == "BootstrapReady"]
    assert waiting == ["WaitingForDataSecret"]


def test_a_node_makes_the_machine_run(side, workload, machine, host):
    host.register()
    wait_for_reason(side, machine, "WaitingForNodeRef")
    workload.apply("{apiVersion: v1, kind: Node, metadata: {name: h1}}")
    side.wait_for("phase Running", lambda: side.cluster.get("machine", machine)["status"]["phase"] == "Running")
    assert workload.get("node", "h1")["spec"]["providerID"] == "byoh://h1"
    found = side.cluster.get("byomachine", machine)
    assert found["spec"]["providerID"] == "byoh://h1"
    assert found["status"]["addresses"] == [{"type": "ExternalIP", "address": "10.0.0.5/24"}]
    assert found["status"]["nodeRef"]["name"] == "h1"
    assert host_ready(side, machine)["status"] == "True"
    described = side.describe(example.CLUSTER)
    assert f"Machine/{machine}" in described and "BYOHostReady" in described


def test_a_host_is_released_in_two_patches_and_everything_goes_away(side, machine, host):
    with watch_hosts(side) as watch:
        host.register()
        wait_attached(watch, host)
        scale(side, 0)
        watch.wait_for("a release", host.name, lambda version: has(version, "cleanup-started-at"))
        first, second, started = watch.changes(host.name)[-3:]
        assert first == {"metadata": {"annotations": {f"{WORDS}/unregistering": ""}}}
        assert second == {"status": {"machineRef": None}}
        assert list(started["metadata"]["annotations"]) == [f"{WORDS}/cleanup-started-at"]
    assert side.cluster.get("byomachine", machine)["status"]["cleanupStarted"] is True
    host.release()
    side.wait_for("the end of all Machines", lambda: not names(side, "machines"))
    gone = (f"byomachine/{machine}", f"k8sinstallerconfig/{machine}",
            f"secret/{machine}", f"secret/{machine}-tls-bootstrap")
    side.wait_for("the end of what belonged to the machine", lambda: not any(
        side.cluster.get(*each.split("/")) for each in gone))
    assert "labels" not in host.read()["metadata"]


def test_a_host_whose_agent_is_silent_is_released_by_force(side, machine, host):
    with watch_hosts(side) as watch:
        host.register()
        wait_attached(watch, host)
        scale(side, 0)
        forced = watch.wait_for("the end of a forced release", host.name,
                                lambda version: is_called_bootstrapped(version) and not has(version, "unregistering"))
    assert forced["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"] == "my-cluster"
    assert not has(forced, "cleanup-started-at")
    assert "machineRef" not in forced["status"]
    side.wait_for("the request to come back", lambda: has(host.read(), "unregistering"))
    assert names(side, "byomachines") == [machine]


def has(version: dict, word: str) -> bool:
    return f"{WORDS}/{word}" in version["metadata"].get("annotations", {})


def is_called_bootstrapped(version: dict) -> bool:
    conditions = version.get("status", {}).get("conditions", [])
    return any(item["type"] == "K8sNodeBootstrapSucceeded" and item["status"] == "True" for item in conditions)


def test_a_paused_cluster_pauses_the_host(side, machine, host):
    host.register()
    wait_for_reason(side, machine, "WaitingForNodeRef")
    pause(side, True)
    side.wait_for("the annotation on the host", lambda: host.annotation("cluster.x-k8s.io/paused") == "")
    wait_for_reason(side, machine, "ClusterOrResourcePaused")
    pause(side, False)
    side.wait_for("its end", lambda: host.annotation("cluster.x-k8s.io/paused") is None)


def pause(side, paused: bool) -> None:
    patch = json.dumps({"spec": {"paused": paused}})
    side.cluster.kubectl("patch", "cluster", example.CLUSTER, "--type=merge", "-p", patch)


def test_an_attached_host_cannot_be_deleted(side, machine, host):
    host.register()
    side.wait_for("a machine", lambda: host.read()["status"].get("machineRef"))
    with pytest.raises(urllib.error.HTTPError) as refused:
        host.remove()
    assert b"cannot delete ByoHost when MachineRef is assigned" in refused.value.read()


def test_an_existing_bootstrap_secret_keeps_the_host_from_being_attached(side, machine, host):
    wait_for_reason(side, machine, "BYOHostsUnavailable")
    side.cluster.kubectl("create", "secret", "generic", f"{machine}-tls-bootstrap")
    host.register()
    log = side.processes["kubexm-stand-in"].log
    side.wait_for("the error", lambda: f'secrets "{machine}-tls-bootstrap" already exists' in log.read_text())
    assert "machineRef" not in host.read()["status"]
    assert "labels" not in host.read()["metadata"]


def test_the_manager_may_not_approve_the_certificate_of_a_kubelet(side, tmp_path):
    command = ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
               "-subj", "/O=system:nodes/CN=system:node:h1", "-keyout", str(tmp_path / "key")]
    request = subprocess.run(command, check=True, capture_output=True).stdout
    bootstrap_user = Api(side.cluster.bootstrap_kubeconfig(side.cluster.create_bootstrap_token(example.GROUPS)))
    wanted = {
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": "node-csr-h1"},
        "spec": {"request": base64.b64encode(request).decode(), "usages": ["client auth", "digital signature"],
                 "signerName": "kubernetes.io/kube-apiserver-client-kubelet"}}
    side.wait_for("the token to be known", lambda: bootstrap_user.request(
        "POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", wanted))
    log = side.processes["kubexm-stand-in"].log
    side.wait_for("the refusal", lambda: "certificate request node-csr-h1 not approved" in log.read_text())
    assert "conditions" not in side.cluster.get("certificatesigningrequest", "node-csr-h1").get("status", {})
