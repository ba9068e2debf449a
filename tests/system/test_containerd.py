"""The documents for containerd, as containerd itself reads them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed import cri, waiting
from testbed.executor import client
from testbed.executor.plan import DOCUMENTS, REGISTRIES, access, pod_network, registry_hosts, step, text
from testbed.host import Host
from testbed.node import Node

VERSIONS = ["debian", "2"] if "KUBEXM_TEST_DEEP" in os.environ else ["debian"]
SOON = 60
REGISTRY, MIRRORS = "127.0.0.1:5000", ("127.0.0.1:5002", "127.0.0.1:5001")
LISTED = (REGISTRY, "registry.k8s.io", *(f"http://{endpoint}" for endpoint in MIRRORS))
# Notes that it was asked, and has no image.
MIRROR = r"""
while read -r line && [ "$line" != "$(printf '\r')" ]; do [ "${line#* /v2/}" = "$line" ] || echo "$1 $line" >> /run/asked; done
printf 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
"""
LEASES = "/var/lib/cni/networks/kubexm-test"


@pytest.fixture(scope="module", params=VERSIONS)
def node(request) -> Iterator[Node]:
    with Node() as made:
        Host(made, Path(os.environ["KUBEXM_TREE"]), request.param)
        made.write(client.CONFIGURATION, f"allow: {{documents: [{', '.join(DOCUMENTS)}], "
                                         f"registries: [{', '.join(LISTED)}]}}\n")
        made.run(["systemctl", "start", "kubexm-executor"])
        yield made


def apply(node: Node, *steps: dict) -> None:
    node.write("/run/plan.json", text(*steps, owner="by-hand"))
    node.run(["kubexmctl", "apply", "/run/plan.json"])


def start_mirror(node: Node, endpoint: str) -> None:
    address, port = endpoint.split(":")
    node.run(["systemd-run", "--quiet", f"--unit=mirror-{port}", "socat",
              f"TCP-LISTEN:{port},bind={address},fork,reuseaddr", f"EXEC:sh /run/mirror {port}"])
    waiting.until(f"a mirror on {endpoint}", lambda: node.run(["ss", "-Hltn", f"sport = :{port}"]).stdout, SOON)


def test_mirrors_are_asked_in_the_order_of_the_plan(node):
    node.write("/run/mirror", MIRROR)
    for endpoint in MIRRORS:
        start_mirror(node, endpoint)
    apply(node, *(step("directory", path=path, access=access("0755")) for path in (REGISTRIES, f"{REGISTRIES}/{REGISTRY}")),
          step("rendered-file", document=registry_hosts(REGISTRY, *(f"http://{endpoint}" for endpoint in MIRRORS))))
    pulled = node.run(["ctr", "images", "pull", "--hosts-dir", REGISTRIES, f"{REGISTRY}/greeter:1"], check=False)
    assert pulled.returncode != 0, "no server has it"
    assert f"{REGISTRY}/greeter:1" in pulled.stderr, pulled.stderr
    asked = [line.split() for line in node.read("/run/asked").decode().splitlines()]
    assert list(dict.fromkeys(line[0] for line in asked)) == [endpoint.split(":")[1] for endpoint in MIRRORS], asked
    assert all(line[2] == f"/v2/greeter/manifests/1?ns={REGISTRY.replace(':', '%3A')}" for line in asked), asked
    node.run(["kubexmctl", "undo", "by-hand"])
    assert node.run(["ls", "/etc/containerd"]).stdout.split() == ["config.toml"]


def test_a_pod_gets_its_addresses_from_the_subnets(node):
    apply(node, step("rendered-file", document=pod_network()))
    waiting.until("containerd to load the network", lambda: b"kubexm-test" in cri.ask(node, "Status", b"\x08\x01"), SOON)
    pod = cri.run_pod(node, "addressed", cri.OWN_NETWORK)
    try:
        leases = [name for name in node.run(["ls", LEASES]).stdout.split() if name.startswith(("10.244.77.", "fd00:10:244:77:"))]
        assert len(leases) == 2, leases
        for address in leases:
            node.run(["ping", "-c", "1", "-w", "10", address])
        assert " mtu 1400 " in node.run(["ip", "link", "show", "cni0"]).stdout
    finally:
        cri.remove_pod(node, pod)
    node.run(["kubexmctl", "undo", "by-hand"])
    assert node.run(["ls", "/etc/cni/net.d"]).stdout.split() == ["10-pods.conflist"]
