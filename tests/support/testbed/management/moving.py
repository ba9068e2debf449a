"""Moving a cluster's objects to another management cluster, as an administrator does it with clusterctl.

    moving.take_inventory(source), moving.take_inventory(target)
    moving.move(source, target)

Objects and their specs move, with new uids; status never does. What no chain of owners connects with the Cluster stays,
unless it is labelled for the move.
"""

from datetime import datetime, timezone

from testbed.management import byoh, example, manifests, programs
from testbed.management.side import Management

LABEL = "clusterctl.cluster.x-k8s.io/move="
INITIALIZED = "ControlPlaneInitialized"
CORE_NAMESPACE = "capi-system"
PROVIDER_VERSION = "v0.6.26"  # the release whose part the stand-in plays
# The user's own, which name no owner: without them no further host could join on the other side.
UNOWNED = (f"secret/{example.CLUSTER}-bootstrap", f"k8sinstallerconfigtemplate/{example.CLUSTER}-worker-installer")


def take_inventory(side: Management) -> None:
    """What `clusterctl init` writes down: clusterctl moves only to a cluster with the providers of the first one."""
    folder = programs.cluster_api_source() / "cmd/clusterctl/config/crd/bases"
    side.apply_definitions(manifests.load([folder / "clusterctl.cluster.x-k8s.io_providers.yaml"]))
    side.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": CORE_NAMESPACE}},
                _provider("cluster-api", "CoreProvider", "cluster-api", CORE_NAMESPACE, programs.CLUSTER_API_VERSION),
                _provider("infrastructure-byoh", "InfrastructureProvider", "byoh", byoh.NAMESPACE, PROVIDER_VERSION)])


def _provider(instance: str, kind: str, name: str, namespace: str, version: str) -> dict:
    return {"apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Provider", "type": kind,
            "metadata": {"name": instance, "namespace": namespace}, "providerName": name, "version": version}


def move(source: Management, target: Management, *others: str) -> None:
    """The cluster of the example, with `others`: names of objects that go along, as in "byohost/h1"."""
    _call_initialized(source)
    source.cluster.kubectl("label", "--overwrite", *UNOWNED, *others, LABEL)
    source.clusterctl("move", "--namespace", "default", "--to-kubeconfig", str(target.cluster.kubeconfig))


def _call_initialized(side: Management) -> None:
    """clusterctl moves no cluster without a control plane, and Cluster API looks for one among its own Machines.

    A cluster of workers whose control plane somebody else looks after has none there: its administrator has to say
    that it is up.
    """
    def is_called() -> bool:
        cluster = side.cluster.get("cluster", example.CLUSTER)
        conditions = {item["type"]: item for item in cluster["status"]["conditions"]}
        if conditions.get(INITIALIZED, {}).get("status") == "True":
            return True
        conditions[INITIALIZED] = {"type": INITIALIZED, "status": "True", "lastTransitionTime": _now()}
        change = {"metadata": {"resourceVersion": cluster["metadata"]["resourceVersion"]},
                  "status": {"conditions": list(conditions.values())}}
        side.cluster.patch("cluster", example.CLUSTER, change, "status")
        return False

    side.wait_for("an initialized control plane", is_called)


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
