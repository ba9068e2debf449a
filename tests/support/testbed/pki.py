"""The certificates and kubeconfigs of a control plane, made by kubeadm as it makes them anywhere."""

import subprocess
from pathlib import Path

import yaml

from testbed import kubernetes

SERVICE_CIDR = "10.96.0.0/16"
KUBECONFIGS = ("super-admin", "controller-manager", "scheduler")


def make(directory: Path, cluster: str, address: str) -> None:
    """Fills `directory` with pki/ and one NAME.conf for each of KUBECONFIGS."""
    config = directory / "kubeadm.yaml"
    config.write_text(yaml.safe_dump_all(_configuration(directory, cluster, address)))
    _phase("certs", "all", "--config", str(config))
    for name in KUBECONFIGS:
        _phase("kubeconfig", name, "--config", str(config), "--kubeconfig-dir", str(directory))


def _configuration(directory: Path, cluster: str, address: str) -> list[dict]:
    api = "kubeadm.k8s.io/v1beta4" if kubernetes.minor() >= 31 else "kubeadm.k8s.io/v1beta3"
    init = {
        "apiVersion": api, "kind": "InitConfiguration",
        "localAPIEndpoint": {"advertiseAddress": address, "bindPort": 6443},
        # Both would otherwise be looked for on the machine that runs the tests.
        "nodeRegistration": {"name": cluster, "criSocket": "unix:///run/containerd/containerd.sock"},
    }
    plane = {
        "apiVersion": api, "kind": "ClusterConfiguration",
        "kubernetesVersion": f"v{kubernetes.version()}", "clusterName": cluster,
        "certificatesDir": str(directory / "pki"), "controlPlaneEndpoint": f"{address}:6443",
        "networking": {"serviceSubnet": SERVICE_CIDR},
    }
    if kubernetes.minor() >= 31:
        plane["encryptionAlgorithm"] = "ECDSA-P256"  # a dozen RSA keys take seconds
    return [init, plane]


def _phase(*arguments: str) -> None:
    command = [kubernetes.programs() / "kubeadm", "init", "phase", *arguments]
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"`kubeadm init phase {' '.join(arguments)}` ended with {done.returncode}:\n{done.stderr}")
