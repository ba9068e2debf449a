"""The plan that joins a node to a cluster, as the product makes it, and the certificate that the plan carries."""

import base64
import json
import subprocess

import yaml

from testbed import kubernetes
from testbed.cluster import Cluster
from testbed.executor.plan import access, step
from testbed.executor_wire import digest
from testbed.node import Node

OWNER = "join"
SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_PKI = "/var/lib/kubelet/pki"
PAIR, CURRENT = f"{KUBELET_PKI}/kubelet-client-first.pem", f"{KUBELET_PKI}/kubelet-client-current.pem"

DIRECTORIES = {"/etc/kubernetes": "0755", "/etc/kubernetes/pki": "0755", "/etc/kubernetes/manifests": "0755",
               "/var/lib/kubelet": "0750", KUBELET_PKI: "0700"}
# Where kubelet and containerd make something by themselves.
CLAIMS = (
    "/run/containerd/io.containerd.grpc.v1.cri/containers",
    "/run/containerd/io.containerd.grpc.v1.cri/sandboxes",
    "/run/containerd/io.containerd.runtime.v2.task/k8s.io",
    "/run/containerd/runc/k8s.io",
    "/usr/libexec/kubernetes",
    "/var/lib/containerd/io.containerd.grpc.v1.cri/containers",
    "/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes",
    "/var/lib/containerd/io.containerd.runtime.v2.task/k8s.io",
    "/var/log/containers",
    "/var/log/pods",
    *DIRECTORIES)
# Their parents, which other clients of containerd may use.
SHARED = ("/run/containerd/io.containerd.grpc.v1.cri", "/run/containerd/runc", "/run/containerd/s",
          "/var/lib/containerd/io.containerd.grpc.v1.cri")
SIDE_EFFECTS = ("cgroups", "network-files", "routes", "links", "sets", "chains")
# What kubelet would set, and what pods need to be reached; a step each, so that undo gives them back.
SYSCTLS = {"net.ipv4.ip_forward": "1", "vm.overcommit_memory": "1", "vm.panic_on_oom": "0", "kernel.panic": "10",
           "kernel.panic_on_oops": "1", "kernel.keys.root_maxkeys": "1000000",
           "kernel.keys.root_maxbytes": "25000000"}


def plan(cluster: Cluster, node: Node, pair: bytes, identity: str = "join-1") -> dict:
    """In this order: undo goes the other way, so kubelet stops first and directories go last."""
    return {"id": identity, "owner": OWNER, "steps": [
        *(step("directory", path=path, access=access(mode)) for path, mode in DIRECTORIES.items()),
        *(step("side-effects", kind=kind) for kind in SIDE_EFFECTS),
        *(step("claim", path=path, if_empty=True) for path in SHARED),
        *(step("claim", path=path) for path in CLAIMS),
        step("claim", path="/run/netns", prefix="cni-"),
        *(step("sysctl", key=key, value=value) for key, value in SYSCTLS.items()),
        step("data-file", path="/etc/kubernetes/pki/ca.crt", kind="ca-bundle", access=access("0644"),
             digest=digest(cluster.ca.read_bytes())),
        step("data-file", path="/etc/kubernetes/pki/client-ca.crt", kind="ca-bundle", access=access("0644"),
             digest=digest(cluster.ca.read_bytes())),
        step("secret-file", path=PAIR, handle="kubelet-client", access=access("0600"), digest=digest(pair)),
        step("symlink", path=CURRENT, target=PAIR.rsplit("/", 1)[1]),
        *(step("rendered-file", document=document) for document in _documents(cluster, node)),
        step("daemon-reload", units=["kubelet.service"]),
        step("side-effects", kind="pods"),
        step("unit-state", name="kubelet.service", enabled=True, active=True, restart_key=""),
    ]}


def apply(cluster: Cluster, node: Node, pair: bytes, identity: str = "join-1"):
    contents = {"/run/join/ca.crt": cluster.ca.read_bytes(), "/run/join/pair.pem": pair,
                "/run/join/plan.json": json.dumps(plan(cluster, node, pair, identity)).encode()}
    for path, content in contents.items():
        node.write(path, content, 0o600)
    done = node.run(["kubexmctl", "apply", "/run/join/plan.json", "--content", "/run/join/ca.crt",
                     "--content", "/run/join/pair.pem"], check=False, timeout=120)
    node.run(["rm", "-r", "/run/join"])
    return done


def client_pair(cluster: Cluster, node: Node) -> bytes:
    """Certificate and key of a node, signed by the cluster as for any kubelet."""
    made = subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                           "-nodes", "-keyout", "-", "-subj", f"/O=system:nodes/CN=system:node:{node.name}"],
                          check=True, capture_output=True).stdout
    start = made.index(b"-----BEGIN CERTIFICATE REQUEST-----")
    return _signed(cluster, node.name, made[start:]) + made[:start]


def _signed(cluster: Cluster, name: str, request: bytes) -> bytes:
    cluster.apply(yaml.safe_dump({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
        "spec": {"request": base64.b64encode(request).decode(), "signerName": SIGNER,
                 "usages": ["digital signature", "client auth"]}}))
    cluster.kubectl("certificate", "approve", name)
    path = f"/apis/certificates.k8s.io/v1/certificatesigningrequests/{name}"
    return base64.b64decode(cluster.wait_for(f"the certificate of {name}",
                                             lambda: cluster.api.get(path)["status"].get("certificate")))


def _documents(cluster: Cluster, node: Node) -> list[dict]:
    driver = "systemd" if b"SystemdCgroup = true" in node.read("/etc/containerd/config.toml") else "cgroupfs"
    return [
        {"type": "kubelet-configuration", "minor": kubernetes.minor(), "cgroup_driver": driver,
         "cluster_dns": ["10.96.0.10"], "cluster_domain": "cluster.local", "fail_swap_on": False,
         "fail_cgroup_v1": False, "max_pods": 110},
        {"type": "kubeconfig", "user": "kubelet", "server": cluster.server},
        {"type": "kubelet-service", "node_name": node.name, "node_ip": node.address,
         "provider_id": f"byoh://{node.name}", "labels": [], "taints": []},
    ]
