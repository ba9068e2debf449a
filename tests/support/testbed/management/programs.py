"""The programs of the management side and where their shipped manifests are.

Manifests are read from the sources of the very modules the programs were built from: what the
tests apply is what those projects ship.
"""

from pathlib import Path

from testbed import gobuild

MODULES = Path(__file__).parents[2] / "management"
CLUSTER_API = "sigs.k8s.io/cluster-api"
CLUSTER_API_VERSION = "v1.10.7"
BYOH = "github.com/vmware-tanzu/cluster-api-provider-bringyourownhost"


def cluster_api() -> Path:
    """The directory with Cluster API's core manager: all that hosts of the Kubexm mode need of it."""
    return _cluster_api(f"Cluster API {CLUSTER_API_VERSION}", {"core-manager": CLUSTER_API})


def kubeadm_providers() -> Path:
    """The directory with Cluster API's two managers for kubeadm, and clusterctl."""
    return _cluster_api("Cluster API's kubeadm providers and clusterctl", {
        "kubeadm-bootstrap-manager": f"{CLUSTER_API}/bootstrap/kubeadm",
        "kubeadm-control-plane-manager": f"{CLUSTER_API}/controlplane/kubeadm",
        "clusterctl": f"{CLUSTER_API}/cmd/clusterctl",
    })


def _cluster_api(title: str, programs: dict[str, str]) -> Path:
    version = f"{CLUSTER_API}/version"
    major, minor, _ = CLUSTER_API_VERSION.lstrip("v").split(".")
    # clusterctl compares its own version with that of the providers
    values = {"gitVersion": CLUSTER_API_VERSION, "gitMajor": major, "gitMinor": minor}
    ldflags = " ".join(f"-X {version}.{name}={value}" for name, value in values.items())
    return gobuild.build(title, MODULES / "cluster-api", programs, ldflags=ldflags)


def byoh() -> Path:
    """The directory with the manager and the host agent of the BYOH provider."""
    return gobuild.build("BYOH provider", MODULES / "byoh", {
        "byoh-manager": BYOH,
        "byoh-hostagent": f"{BYOH}/agent",
    })


def cluster_api_source() -> Path:
    return gobuild.source(MODULES / "cluster-api", CLUSTER_API)


def byoh_source() -> Path:
    return gobuild.source(MODULES / "byoh", BYOH)
