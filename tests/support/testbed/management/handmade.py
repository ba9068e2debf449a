"""A ByoHost without a host behind it: a test writes by hand what an agent would write."""

from testbed.management.side import Management

HOSTS = "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/default/byohosts"
WORDS = "byoh.infrastructure.cluster.x-k8s.io"
MERGE = "application/merge-patch+json"
INFO = {"osname": "linux", "osimage": "Debian GNU/Linux 12 (bookworm)", "architecture": "amd64"}
NETWORK = [{"connected": True, "isDefault": True, "networkInterfaceName": "eth0", "macAddr": "52:54:00:00:00:01",
            "ipAddrs": ["10.0.0.5/24"]}]


class HandmadeHost:
    def __init__(self, side: Management, name: str):
        self._api, self.name, self._path = side.cluster.api, name, f"{HOSTS}/{name}"

    def register(self) -> None:
        """What an agent does when it starts."""
        self._api.request("POST", HOSTS, {
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "ByoHost", "metadata": {"name": self.name},
            "spec": {"capacity": {"cpu": "2", "memory": "4Gi"}}})
        self._patch_status({"hostinfo": INFO, "network": NETWORK})

    def release(self) -> None:
        """What an agent does when it has cleaned up: it says that the node is gone, then frees the host."""
        absent = {"status": "False", "severity": "Info", "reason": "K8sNodeAbsent",
                  "lastTransitionTime": "2026-01-01T00:00:00Z"}
        kinds = ("K8sComponentsInstallationSucceeded", "K8sNodeBootstrapSucceeded")
        self._patch_status({"machineRef": None, "conditions": [{"type": kind, **absent} for kind in kinds]})
        gone = ("unregistering", "endpointip", "k8sversion", "bundle-registry", "cleanup-started-at")
        self._patch({
            "metadata": {"labels": {"cluster.x-k8s.io/cluster-name": None, f"{WORDS}/byomachine-name": None},
                         "annotations": {f"{WORDS}/{word}": None for word in gone}},
            "spec": {"bootstrapSecret": None, "installationSecret": None, "uninstallationScript": None}})

    def remove(self) -> None:
        self._api.request("DELETE", self._path)

    def read(self) -> dict:
        return self._api.get(self._path)

    def annotation(self, word: str) -> str | None:
        return self.read()["metadata"].get("annotations", {}).get(word)

    def _patch(self, patch: dict) -> None:
        self._api.request("PATCH", self._path, patch, MERGE)

    def _patch_status(self, status: dict) -> None:
        self._api.request("PATCH", f"{self._path}/status", {"status": status}, MERGE)
