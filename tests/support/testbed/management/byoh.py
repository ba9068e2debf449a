"""Profile `byoh`: the BYOH provider as released, with its own identity, roles and strict webhook."""

import json

from testbed import bootstrap
from testbed.cluster import KubectlError
from testbed.management import cluster_api, manifests, programs
from testbed.management.side import START_SECONDS, Management

CLUSTER_API = (*cluster_api.CORE, *cluster_api.KUBEADM)
NAMESPACE = "byoh-system"
PREFIX = "byoh-"
WEBHOOK_PORT, HEALTH_PORT = 9443, 9531  # the first is the manager's own, it cannot be changed

# As in the provider's config/rbac/kustomization.yaml, without its metrics proxy.
ROLES = ("service_account", "role", "role_binding", "leader_election_role", "leader_election_role_binding",
         "byohost_editor_role", "byohost_editor_clusterrolebinding", "byoh_csr_creator_clusterrole",
         "byoh_csr_creator_clusterrolebinding", "secret_reader_clusterrole", "secret_reader_clusterrolebinding")


def definitions() -> list[dict]:
    folder = programs.byoh_source() / "config/crd/bases"
    return manifests.labelled(manifests.load(sorted(folder.glob("*.yaml"))), manifests.CONTRACT)


def install_roles(side: Management) -> None:
    folder = programs.byoh_source() / "config/rbac"
    roles = manifests.load(folder / f"{name}.yaml" for name in ROLES)
    side.apply([namespace(), *manifests.prefixed(roles, PREFIX, NAMESPACE)])


def launch(side: Management, _pace: float, _timeout_factor: float) -> None:
    temporary = side.directory / "byoh-temporary"
    serving = temporary / "k8s-webhook-server/serving-certs"  # where this manager looks, below TMPDIR
    serving.parent.mkdir(parents=True)
    serving.symlink_to(side.certificates)
    command = [str(programs.byoh() / "byoh-manager"), "--metrics-addr=0",
               f"--health-probe-bind-address={side.home.address}:{HEALTH_PORT}"]
    side.start("byoh-manager", command, {"KUBECONFIG": identity(side), "TMPDIR": str(temporary)})


def namespace() -> dict:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}


def identity(side: Management) -> str:
    """The path of a kubeconfig with the manager's own service account, which the webhook lets pass."""
    account = f"{PREFIX}controller-manager"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 24 * 3600}}
    place = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
    token = json.loads(side.cluster.api.request("POST", place, request))["status"]["token"]
    path = side.directory / "manager.kubeconfig"
    path.write_text(bootstrap.kubeconfig(side.cluster.name, side.cluster.server, side.cluster.ca, {"token": token}))
    return str(path)


def wait(side: Management) -> None:
    url = f"http://{side.home.address}:{HEALTH_PORT}/readyz"
    side.processes["byoh-manager"].wait_until("a ready answer", lambda: cluster_api.says_ok(url), START_SECONDS)


def install_webhooks(side: Management) -> None:
    configurations = manifests.load([programs.byoh_source() / "config/webhook/manifests.yaml"])
    side.apply_webhooks(configurations, PREFIX, WEBHOOK_PORT)


def wait_for_webhooks(side: Management) -> None:
    side.wait_for("the strict admission webhook", lambda: _refuses_administrators(side))


def _refuses_administrators(side: Management) -> bool:
    """Whether somebody whose name is not that of a host is refused a ByoHost."""
    probe = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "ByoHost",
             "metadata": {"name": "probe", "namespace": "default"}}
    try:
        side.cluster.kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(probe))
    except KubectlError as error:
        return "is not a valid agent username" in str(error)
    return False
