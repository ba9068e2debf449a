"""A plan with every type of step that a node allows."""

import hashlib
import itertools
import json

from testbed.assignment import another_authority

OWNER = "test"
CA = another_authority()
KEY = "-----BEGIN PRIVATE KEY-----\nnot a real one\n-----END PRIVATE KEY-----\n"
BINARY = "#!/bin/sh\necho not a real one\n"
CONTENTS = {hashlib.sha256(content.encode()).hexdigest(): content for content in (CA, KEY, BINARY)}
CA_DIGEST, KEY_DIGEST, BINARY_DIGEST = CONTENTS

DROP_INS = "/etc/systemd/system/containerd.service.d"
PKI = "/etc/kubernetes/pki"
REGISTRY, REGISTRIES, NETWORKS = "registry.test:5000", "/etc/containerd/certs.d", "/etc/cni/net.d"
# Everything the plan makes or replaces, parents before children.
DIRECTORIES = ["/etc/kubernetes", PKI, "/var/lib/kubelet", DROP_INS, REGISTRIES, f"{REGISTRIES}/{REGISTRY}"]
RENDERED = ["/etc/sysctl.d/99-kubexm.conf", "/etc/modules-load.d/kubexm.conf", "/etc/systemd/system/kubelet.service",
            f"{DROP_INS}/10-kubexm-proxy.conf", "/var/lib/kubelet/config.yaml", "/etc/kubernetes/kubelet.conf",
            f"{REGISTRIES}/{REGISTRY}/hosts.toml", f"{NETWORKS}/10-kubexm.conflist"]
# More than root permits by default.
DOCUMENTS = ["kubelet-service", "kubelet-configuration", "kubeconfig", "containerd-configuration", "registry-hosts",
             "cni-configuration", "proxy-drop-in", "sysctl-file", "modules-file"]
CERTIFICATE, SECRET, LINK = f"{PKI}/ca.crt", f"{PKI}/kubelet.key", f"{PKI}/current.crt"
BLOCK = "/etc/hosts"
COMPONENT, IN_USE, VERSION = "/opt/kubexm/crictl", "/opt/kubexm/crictl/current", "v1.34.0"
TRUSTED = f"{BINARY_DIGEST}  crictl/{VERSION}/bin/crictl\n"
UNWANTED = "/var/lib/kube-proxy/old.conf"
# What undo cannot give back: it is made anew for every run of the plan.
DELETED_TREE, UNMOUNTED = "/opt/kubexm/old", "/run/netns/deleted"
CLAIMED = "/var/lib/kube-proxy"
SYSCTLS = {"net.ipv4.ip_forward": "1", "net.ipv4.tcp_keepalive_time": "600"}
UNITS = ["kubelet.service", "containerd.service", "shy.service", "loud.service"]

_numbers = itertools.count(1)


def step(type_: str, /, **parameters) -> dict:
    return {"type": type_, "with": parameters}


def text(*steps: dict, owner: str = OWNER) -> str:
    """A plan with an id of its own."""
    return json.dumps({"id": f"plan-{next(_numbers)}", "owner": owner, "steps": list(steps)})


def everything() -> str:
    return text(*_directories(), *_contents(), *_kernel(), *map(_rendered, _documents()), *_units())


def access(mode: str) -> dict:
    return {"mode": mode, "uid": 0, "gid": 0}


def _rendered(document: dict) -> dict:
    return step("rendered-file", document=document)


def _directories() -> list[dict]:
    return [step("directory", path=path, access=access("0750" if path == PKI else "0755")) for path in DIRECTORIES]


def _contents() -> list[dict]:
    return [
        step("data-file", path=CERTIFICATE, kind="ca-bundle", access=access("0644"), digest=CA_DIGEST),
        step("secret-file", path=SECRET, handle="kubelet-key", access=access("0600"), digest=KEY_DIGEST),
        step("symlink", path=LINK, target="ca.crt"),
        step("managed-block", path=BLOCK, name="own name", lines=["10.99.0.200 somebody"]),
        step("component-version", component="crictl", version=VERSION,
             files=[{"path": "bin/crictl", "digest": BINARY_DIGEST, "mode": "0755"}]),
        step("absent-path", path=UNWANTED),
        step("deleted-tree", path=DELETED_TREE),
    ]


def _kernel() -> list[dict]:
    settings = [step("sysctl", key=key, value=value) for key, value in SYSCTLS.items()]
    return [*settings, step("unmounted", below="/run/netns")]


def _documents() -> list[dict]:
    return [
        {"type": "sysctl-file", "values": [{"key": key, "value": value} for key, value in SYSCTLS.items()]},
        {"type": "modules-file", "modules": ["br_netfilter", "overlay"]},
        {"type": "kubelet-service", "node_name": "node-1", "node_ip": "10.99.0.3", "provider_id": "byoh://node-1",
         "labels": [], "taints": []},
        {"type": "proxy-drop-in", "service": "containerd", "http_proxy": "http://10.99.0.1:3128",
         "https_proxy": "http://10.99.0.1:3128", "no_proxy": "10.0.0.0/8"},
        {"type": "kubelet-configuration", "minor": 34, "cgroup_driver": "systemd", "cluster_dns": ["10.96.0.10"],
         "cluster_domain": "cluster.local", "fail_swap_on": True, "fail_cgroup_v1": False, "max_pods": 110},
        {"type": "kubeconfig", "user": "kubelet", "server": "https://10.99.0.2:6443"},
        registry_hosts(),
        pod_network(),
    ]


def registry_hosts(registry: str = REGISTRY, *endpoints: str) -> dict:
    mirrors = [{"endpoint": endpoint, "capabilities": ["pull", "resolve"], "ca": ""}
               for endpoint in endpoints or ["https://mirror.test"]]
    return {"type": "registry-hosts", "registry": registry, "mirrors": mirrors}


def pod_network(subnet: str = "10.244.77.0/24") -> dict:
    return {"type": "cni-configuration", "name": "kubexm-test", "bridge": "cni0", "ipv4_subnet": subnet,
            "ipv6_subnet": "fd00:10:244:77::/64", "mtu": 1400, "masquerade": True}


def _units() -> list[dict]:
    """What claims comes before shy.service, which makes what is claimed."""
    return [
        step("daemon-reload", units=["kubelet.service", "containerd.service"]),
        step("transient-unit", name="kubexm-test.service", argv=["/usr/bin/true"], timeout_seconds=30),
        step("claim", path=CLAIMED),
        *(step("side-effects", kind=kind) for kind in ("cgroups", "network-files", "routes", "links", "sets", "chains",
                                                           "pods")),
        step("unit-state", name="kubelet.service", enabled=True, restart_key=""),
        step("unit-state", name="shy.service", enabled=True, active=True, masked=False, restart_key=""),
        step("unit-state", name="loud.service", enabled=False, active=False, masked=True, restart_key=""),
    ]
