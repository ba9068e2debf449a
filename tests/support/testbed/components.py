"""The command lines of a control plane: etcd, API server, controller manager and scheduler.

Every component listens on the cluster's own address with its usual port, so that several clusters
run side by side. The flags are those that kubeadm gives, unless a comment says why not.
"""

import ssl
import urllib.request
from pathlib import Path

from testbed import kubernetes, pki
from testbed.api import TIMEOUT_SECONDS, Api

HEALTH_PORTS = {"kube-controller-manager": 10257, "kube-scheduler": 10259}
NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")

AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
"""


def commands(directory: Path, address: str, signing_duration: str, plugins: str) -> dict[str, list[str]]:
    """Component name -> command line, for a directory that pki.make has filled."""
    (directory / "audit-policy.yaml").write_text(AUDIT_POLICY)
    flags = {
        "etcd": _etcd(directory, address),
        "kube-apiserver": {**_apiserver(directory, address), "enable-admission-plugins": plugins},
        "kube-controller-manager": _controller_manager(directory, address, signing_duration),
        "kube-scheduler": _client(directory / "scheduler.conf", address),
    }
    return {name: [str(kubernetes.programs() / name), *_arguments(flags[name])] for name in NAMES}


def is_healthy(name: str, address: str, api: Api) -> bool:
    """Whether a component answers that all is well; etcd is asked through the API server."""
    if name not in HEALTH_PORTS:
        return api.says_ok("/readyz")
    unverified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE  # they sign a certificate for themselves at each start
    url = f"https://{address}:{HEALTH_PORTS[name]}/healthz"
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS, context=unverified) as answer:
            return answer.read() == b"ok"
    except OSError:
        return False


def _arguments(flags: dict[str, object]) -> list[str]:
    return [f"--{name}={value}" for name, value in flags.items()]


def _etcd(directory: Path, address: str) -> dict[str, object]:
    certificates = directory / "pki/etcd"
    return {
        "name": "testbed",
        "data-dir": directory / "etcd",
        "unsafe-no-fsync": "true",  # the data only has to survive the death of the process
        "listen-client-urls": f"https://{address}:2379",
        "advertise-client-urls": f"https://{address}:2379",
        "listen-peer-urls": f"https://{address}:2380",
        "initial-advertise-peer-urls": f"https://{address}:2380",
        "initial-cluster": f"testbed=https://{address}:2380",
        "client-cert-auth": "true",
        "trusted-ca-file": certificates / "ca.crt",
        "cert-file": certificates / "server.crt",
        "key-file": certificates / "server.key",
        "peer-client-cert-auth": "true",
        "peer-trusted-ca-file": certificates / "ca.crt",
        "peer-cert-file": certificates / "peer.crt",
        "peer-key-file": certificates / "peer.key",
    }


def _apiserver(directory: Path, address: str) -> dict[str, object]:
    certificates = directory / "pki"
    return {
        "bind-address": address,
        "advertise-address": address,
        "secure-port": 6443,
        "service-cluster-ip-range": pki.SERVICE_CIDR,
        "allow-privileged": "true",
        "authorization-mode": "Node,RBAC",
        "enable-bootstrap-token-auth": "true",
        "client-ca-file": certificates / "ca.crt",
        "tls-cert-file": certificates / "apiserver.crt",
        "tls-private-key-file": certificates / "apiserver.key",
        "etcd-servers": f"https://{address}:2379",
        "etcd-cafile": certificates / "etcd/ca.crt",
        "etcd-certfile": certificates / "apiserver-etcd-client.crt",
        "etcd-keyfile": certificates / "apiserver-etcd-client.key",
        "kubelet-client-certificate": certificates / "apiserver-kubelet-client.crt",
        "kubelet-client-key": certificates / "apiserver-kubelet-client.key",
        "kubelet-preferred-address-types": "InternalIP,Hostname",  # no name server knows the nodes
        "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
        "service-account-key-file": certificates / "sa.pub",
        "service-account-signing-key-file": certificates / "sa.key",
        "proxy-client-cert-file": certificates / "front-proxy-client.crt",
        "proxy-client-key-file": certificates / "front-proxy-client.key",
        "requestheader-client-ca-file": certificates / "front-proxy-ca.crt",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-username-headers": "X-Remote-User",
        "audit-policy-file": directory / "audit-policy.yaml",
        "audit-log-path": directory / "audit.log",
    }


def _controller_manager(directory: Path, address: str, signing_duration: str) -> dict[str, object]:
    certificates = directory / "pki"
    return _client(directory / "controller-manager.conf", address) | {
        "controllers": "*,bootstrapsigner,tokencleaner",  # the last two are off by default
        "use-service-account-credentials": "true",
        "root-ca-file": certificates / "ca.crt",
        "service-account-private-key-file": certificates / "sa.key",
        "cluster-signing-cert-file": certificates / "ca.crt",
        "cluster-signing-key-file": certificates / "ca.key",
        "cluster-signing-duration": signing_duration,
        # Its usual limit of 20 requests a second makes it need five seconds to start its controllers.
        "kube-api-qps": 1000,
        "kube-api-burst": 1000,
    }


def _client(kubeconfig: Path, address: str) -> dict[str, object]:
    return {
        "bind-address": address,
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        "leader-elect": "false",  # there is no second one, and winning an election takes seconds
    }
