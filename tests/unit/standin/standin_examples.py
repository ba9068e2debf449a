"""Objects as a management cluster has them in the middle of a join."""

import copy

NOW = "2026-02-03T04:05:06+00:00"

HOST = {
    "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "ByoHost",
    "metadata": {"name": "h1", "namespace": "default", "labels": {"site": "a"}},
    "spec": {"capacity": {"cpu": "8", "memory": "16326656Ki"}},
    "status": {"hostinfo": {"osname": "linux", "osimage": "Debian GNU/Linux 12 (bookworm)", "architecture": "amd64"},
               "network": [{"connected": True, "isDefault": True, "networkInterfaceName": "eth0",
                            "macAddr": "52:54:00:00:00:01", "ipAddrs": ["10.0.0.5/24"]}]},
}

BYO_MACHINE = {
    "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "ByoMachine",
    "metadata": {"name": "w-1", "namespace": "team", "uid": "u-1", "labels": {"cluster.x-k8s.io/cluster-name": "c1"}},
    "spec": {"joinMode": "tlsBootstrap", "downloadMode": "offline"},
}

MACHINE = {
    "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine",
    "metadata": {"name": "w-1", "namespace": "team",
                 "labels": {"cluster.x-k8s.io/cluster-name": "c1", "cluster.x-k8s.io/set-name": "w"}},
    "spec": {"version": "v1.34.1+vendor", "bootstrap": {"dataSecretName": "given"}},
}

CLUSTER = {
    "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster",
    "metadata": {"name": "c1", "namespace": "team", "uid": "u-c"},
    "spec": {"controlPlaneEndpoint": {"host": "10.99.0.2", "port": 6443}},
    "status": {"infrastructureReady": True},
}

BYO_CLUSTER = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "ByoCluster",
               "metadata": {"name": "c1", "namespace": "team"}, "spec": {}}


def changed(value: dict, path: str, new) -> dict:
    """A copy with another value at a path such as "spec/joinMode"."""
    result = copy.deepcopy(value)
    *parents, last = path.split("/")
    place = result
    for name in parents:
        place = place.setdefault(name, {})
    place[last] = new
    return result


class Recorder:
    """Stands where a Client does: knows some objects, and writes down the patches it is sent."""

    def __init__(self, objects: dict[tuple[str, str, str], dict] | None = None):
        self.objects = objects or {}
        self.patches: list[tuple[str, dict]] = []
        self.created: list[dict] = []

    def get(self, resource: str, namespace: str, name: str) -> dict | None:
        return self.objects.get((resource, namespace, name))

    def create(self, resource: str, body: dict) -> dict:
        self.created.append(body)
        return body

    def merge(self, resource: str, target: dict, patch: dict, subresource: str = "") -> dict:
        self.patches.append((subresource, patch))
        return target
