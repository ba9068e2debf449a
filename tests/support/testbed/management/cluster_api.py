"""The managers of Cluster API that a profile has, with their webhooks."""

import json
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from testbed.management import manifests, programs
from testbed.management.side import START_SECONDS, Management

PROBE = {
    "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": {"name": "probe"},
    "spec": {"infrastructureRef": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "ByoCluster",
                                   "name": "probe"}},
}


@dataclass(frozen=True)
class Provider:
    name: str  # also that of its program
    folder: str  # of its manifests in the sources
    prefix: str  # of its webhook configurations
    first_port: int

    @property
    def webhook_port(self) -> int:
        return self.first_port

    @property
    def health_port(self) -> int:
        return self.first_port + 1

    @property
    def diagnostics_port(self) -> int:
        return self.first_port + 2


CORE = (Provider("core-manager", "config", "capi-", 9500),)
KUBEADM = (
    Provider("kubeadm-bootstrap-manager", "bootstrap/kubeadm/config", "capi-kubeadm-bootstrap-", 9510),
    Provider("kubeadm-control-plane-manager", "controlplane/kubeadm/config", "capi-kubeadm-control-plane-", 9520),
)


def definitions(providers: tuple[Provider, ...]) -> list[dict]:
    """The CRDs of these."""
    folders = [programs.cluster_api_source() / provider.folder / "crd/bases" for provider in providers]
    return manifests.labelled(manifests.load(path for folder in folders for path in _files(folder)), manifests.CONTRACT)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.yaml"))


def launch(side: Management, providers: tuple[Provider, ...]) -> None:
    """Starts the managers; their CRDs and those of the infrastructure provider are served already."""
    for provider in providers:
        side.start(provider.name, _command(side, provider))


def _command(side: Management, provider: Provider) -> list[str]:
    address = side.home.address
    folder = programs.cluster_api() if provider in CORE else programs.kubeadm_providers()
    return [str(folder / provider.name),
            f"--webhook-port={provider.webhook_port}", f"--webhook-cert-dir={side.certificates}",
            f"--health-addr={address}:{provider.health_port}",
            f"--diagnostics-address={address}:{provider.diagnostics_port}", "--insecure-diagnostics"]


def wait(side: Management, providers: tuple[Provider, ...]) -> None:
    """Returns when all managers are ready."""
    for provider in providers:
        url = f"http://{side.home.address}:{provider.health_port}/readyz"
        side.processes[provider.name].wait_until("a ready answer", lambda: says_ok(url), START_SECONDS)


def install_webhooks(side: Management, providers: tuple[Provider, ...]) -> None:
    for provider in providers:
        configurations = manifests.load([programs.cluster_api_source() / provider.folder / "webhook/manifests.yaml"])
        side.apply_webhooks(configurations, provider.prefix, provider.webhook_port)


def wait_for_webhooks(side: Management) -> None:
    side.wait_for("defaulting by Cluster API's webhook", lambda: _defaults(side))


def _defaults(side: Management) -> bool:
    """The webhook fills in the namespace of a reference: without it the users' manifests do not work."""
    path = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/clusters?dryRun=All"
    created = json.loads(side.cluster.api.request("POST", path, PROBE))
    return created["spec"]["infrastructureRef"].get("namespace") == "default"


def says_ok(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False
