"""Undo on a real node: several owners of an object, changed files, and an undo that cannot end at once."""

import hashlib
import json

import pytest

from testbed import image, snapshot, waiting
from testbed.assignment import another_authority
from testbed.executor import client

CA = another_authority()
CA_FILE, CONFIGURATION = "/etc/kubernetes/pki/ca.crt", "/var/lib/kubelet/config.yaml"
UNIT = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
ACCESS = {"mode": "0644", "uid": 0, "gid": 0}
OLD, NEW = "node-old", "node-new"


@pytest.fixture(params=image.USUAL)
def host(request, nodes):
    node = nodes(suite=request.param)
    client.install(node)
    node.write("/usr/local/lib/systemd/system/kubelet.service", UNIT)
    node.run(["systemctl", "daemon-reload"])
    node.write("/run/ca.crt", CA)
    node.write("/run/plan.json", "")
    return node


def step(type_: str, /, **parameters) -> dict:
    return {"type": type_, "with": parameters}


def join(identity: str, owner: str, max_pods: int = 110) -> str:
    directory = {**ACCESS, "mode": "0755"}
    steps = [
        step("sysctl", key="net.ipv4.ip_forward", value="1"),
        step("directory", path="/etc/kubernetes", access=directory),
        step("directory", path="/etc/kubernetes/pki", access=directory),
        step("directory", path="/var/lib/kubelet", access=directory),
        step("claim", path="/var/lib/kubelet"),
        step("data-file", path=CA_FILE, kind="ca-bundle", access=ACCESS, digest=hashlib.sha256(CA.encode()).hexdigest()),
        step("rendered-file", document={"type": "kubelet-configuration", "minor": 34, "cgroup_driver": "systemd",
                                        "cluster_dns": ["10.96.0.10"], "cluster_domain": "cluster.local",
                                        "fail_swap_on": True, "fail_cgroup_v1": False, "max_pods": max_pods}),
        step("daemon-reload", units=["kubelet.service"]),
        step("unit-state", name="kubelet.service", active=True, enabled=True, restart_key=f"{max_pods} pods"),
    ]
    return json.dumps({"id": identity, "owner": owner, "purpose": "install", "steps": steps})


def apply(node, text: str) -> list[str]:
    """The states that the steps reached."""
    node.write("/run/plan.json", text)
    done = node.run(["kubexmctl", "apply", "/run/plan.json", "--content", "/run/ca.crt"], check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split()[0] for line in done.stdout.splitlines() if not line.startswith("plan ")]


def undo(node, owner: str) -> str:
    undone = node.run(["kubexmctl", "undo", owner], check=False)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    return undone.stdout


def kubelet(node) -> tuple[str, str]:
    """Its process and since when it runs."""
    return client.shown(node, "MainPID", "kubelet.service"), client.shown(node, "ActiveEnterTimestamp", "kubelet.service")


def files(node) -> str:
    """A file that was written again is another one."""
    return node.run(["stat", "-c", "%n %i %Y %a", CA_FILE, CONFIGURATION, "/etc/kubernetes/pki"]).stdout


def test_a_node_gets_another_owner_without_noticing(host):
    host.write("/run/plan.json", join("j1", OLD))
    before = snapshot.settled(host)
    apply(host, join("j1", OLD))
    running, written = kubelet(host), files(host)
    assert running[0] != "0"
    assert set(apply(host, join("j2", NEW))) == {"skipped"}
    told = undo(host, OLD)
    assert f"keep for {NEW}" in told, told
    assert (kubelet(host), files(host)) == (running, written)
    undo(host, NEW)
    host.write("/run/plan.json", join("j1", OLD))
    report = snapshot.lasting_diff(before, host)
    assert not report, report


def test_the_wish_of_the_remaining_owner_is_applied_again(host):
    apply(host, join("j1", OLD, max_pods=110))
    first = kubelet(host)
    apply(host, join("j2", NEW, max_pods=50))
    assert kubelet(host) != first, "another configuration restarts kubelet"
    assert b"maxPods: 50" in host.read(CONFIGURATION)
    second = kubelet(host)
    undo(host, NEW)
    assert b"maxPods: 110" in host.read(CONFIGURATION)
    assert kubelet(host) != second and kubelet(host)[0] != "0", "it runs with the configuration that is there"
    undo(host, OLD)
    assert client.shown(host, "ActiveState", "kubelet.service") == "inactive"


def test_a_file_that_somebody_changed_is_moved_aside_and_named(host):
    apply(host, join("j1", OLD))
    host.write(CA_FILE, "by hand")
    assert "moved to /var/lib/kubexm-executor/changed/ca.crt-" in undo(host, OLD)
    assert not exists(host, "/etc/kubernetes"), "no half of a node stays"
    assert host.run(["sh", "-c", "cat /var/lib/kubexm-executor/changed/ca.crt-*"]).stdout == "by hand"
    assert host.run(["stat", "-c", "%a", "/var/lib/kubexm-executor/changed"]).stdout.strip() == "700"


def test_an_undo_goes_on_and_ends_at_the_next_start(host):
    """A file that cannot be removed keeps its directories; all else is undone, kubelet too."""
    apply(host, join("j1", OLD))
    host.run(["mount", "--bind", "/etc/hostname", CA_FILE])
    failed = host.run(["kubexmctl", "undo", OLD], check=False, timeout=120)
    assert failed.returncode != 0 and "ca.crt" in failed.stdout + failed.stderr, failed.stdout + failed.stderr
    assert client.shown(host, "ActiveState", "kubelet.service") == "inactive"
    assert host.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip() == "0"
    left = host.run(["kubexmctl", "journal", "show"]).stdout
    assert "ca.crt" in left and "/etc/kubernetes/pki" in left and CONFIGURATION not in left, left
    host.run(["umount", CA_FILE])
    host.run(["systemctl", "restart", "kubexm-executor.service"])
    waiting.until("the end of the undo", lambda: not exists(host, "/etc/kubernetes"), 60, lambda: host.journal("-n", "30"))


def exists(node, path: str) -> bool:
    return node.run(["test", "-e", path], check=False).returncode == 0
