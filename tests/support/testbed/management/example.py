"""A user's objects for one cluster of workers, ready to apply."""

from testbed import kubernetes
from testbed.cluster import Cluster
from testbed.management import manifests, programs

CLUSTER = "my-cluster"
DEPLOYMENT = "my-cluster-workers"
GROUPS = ("system:bootstrappers:byoh",)


def objects(workload: Cluster, replicas: int = 1) -> list[dict]:
    """Everything a user applies so that `replicas` hosts join `workload` by TLS bootstrapping."""
    token = workload.create_bootstrap_token(GROUPS)
    bootstrap = {"bootstrap-kubeconfig": workload.bootstrap_kubeconfig(token)}
    return _objects(workload, replicas, bootstrap)


def kubeadm_objects(workload: Cluster, cloud_config: str, replicas: int = 1) -> list[dict]:
    """The same for hosts that are to follow a cloud-config; without an installer, for either profile."""
    made = _objects(workload, replicas, {"value": cloud_config})
    next(item for item in made if item["kind"] == "ByoMachineTemplate")["spec"]["template"]["spec"] = {}
    return [item for item in made if item["kind"] != "K8sInstallerConfigTemplate"]


def _objects(workload: Cluster, replicas: int, bootstrap: dict[str, str]) -> list[dict]:
    made = manifests.load([programs.MODULES / "kubexm/example.yaml"])
    kinds = {item["kind"]: item for item in made}
    kinds["ByoCluster"]["spec"]["controlPlaneEndpoint"]["host"] = workload.address
    kinds["MachineDeployment"]["spec"]["replicas"] = replicas
    kinds["MachineDeployment"]["spec"]["template"]["spec"]["version"] = f"v{kubernetes.version()}"
    access = {"value": workload.kubeconfig.read_text()}  # what Cluster API reaches the workload cluster with
    return [_secret(f"{CLUSTER}-kubeconfig", access), _secret(f"{CLUSTER}-bootstrap", bootstrap), *made]


def _secret(name: str, values: dict[str, str]) -> dict:
    return {"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "stringData": values,
            "metadata": {"name": name, "namespace": "default", "labels": {"cluster.x-k8s.io/cluster-name": CLUSTER}}}
