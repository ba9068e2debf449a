"""The kubelet's and kube-proxy's configuration for a host: the workload cluster's own, else defaults."""

import yaml

from testbed.standin import tokens
from testbed.standin.client import ApiError, Client
from testbed.standin.objects import at

FALLBACK_DNS = "10.96.0.10"
KUBELET_CERTIFICATE = "/var/lib/kubelet/pki/kubelet-client-current.pem"


def kubelet(workload: Client | None, version: str) -> str:
    minor = ".".join(version.lstrip("v").split(".")[:2])
    for name in (f"kubelet-config-{minor}", "kubelet-config"):
        if text := _config_map(workload, name).get("kubelet"):
            return text
    return yaml.safe_dump(_default_kubelet(_cluster_dns(workload)))


def kube_proxy(workload: Client | None) -> str:
    stored = _config_map(workload, "kube-proxy")
    return stored.get("config.conf") or stored.get("config.yaml") or yaml.safe_dump({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
        "bindAddress": "0.0.0.0",
        "clientConnection": {"kubeconfig": "/etc/kubernetes/kube-proxy.kubeconfig"},
        "clusterCIDR": "", "mode": "",
        "healthzBindAddress": "0.0.0.0:10256", "metricsBindAddress": "127.0.0.1:10249",
    })


def kube_proxy_kubeconfig(workload: Client | None, bootstrap: str) -> str:
    """Derived from the bootstrap kubeconfig, whose CA may be empty: then it is empty here too."""
    if text := _config_map(workload, "kube-proxy").get("kube-proxy.kubeconfig"):
        return text
    config = yaml.safe_load(bootstrap)
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    certificate = {"client-certificate": KUBELET_CERTIFICATE, "client-key": KUBELET_CERTIFICATE}
    return tokens.kubeconfig(cluster["server"], cluster.get("certificate-authority-data", ""), False,
                             {"token": user["token"]} if "token" in user else certificate)


def _default_kubelet(dns: str) -> dict:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True, "cacheTTL": "2m0s"},
            "x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "systemd",
        "clusterDNS": [dns], "clusterDomain": "cluster.local",
        "healthzBindAddress": "127.0.0.1", "healthzPort": 10248,
        # kubelet's strict decoding does not know `text` in this place. On purpose.
        "logging": {"format": "text", "text": {"infoBufferSize": "0"}},
        "rotateCertificates": True,
        "staticPodPath": "/etc/kubernetes/manifests",
    }


def _cluster_dns(workload: Client | None) -> str:
    """The node-local cache if there is one, else the cluster's DNS service."""
    if local := _local_address(_read(workload, "daemonsets", "node-local-dns")):
        return local
    for name in ("kube-dns", "coredns"):
        if address := at(_read(workload, "services", name), "spec", "clusterIP"):
            return address
    return FALLBACK_DNS


def _local_address(daemon_set: dict | None) -> str | None:
    containers = at(daemon_set, "spec", "template", "spec", "containers", default=[])
    arguments = [word for container in containers for word in container.get("args", [])]
    if "-localip" not in arguments[:-1]:
        return None
    return arguments[arguments.index("-localip") + 1].split(",")[0]


def _config_map(workload: Client | None, name: str) -> dict[str, str]:
    return at(_read(workload, "configmaps", name), "data", default={})


def _read(workload: Client | None, resource: str, name: str) -> dict | None:
    """A workload cluster that cannot be asked is one that has nothing to say."""
    try:
        return workload.get(resource, "kube-system", name) if workload else None
    except (OSError, ApiError):
        return None
