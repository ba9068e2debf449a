"""What somebody changes is noticed by events, and put back from the ledger and the vault alone."""

import fcntl
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from testbed import assignment, executor_wire, image, waiting
from testbed.executor import client
from testbed.executor.client import plan, reason, shown
from testbed.executor.plan import (
    DOCUMENTS, NETWORKS, REGISTRIES, REGISTRY, access, pod_network, registry_hosts, step)
from testbed.executor_wire import Wire
from testbed.node import Node

OWNER = "machine-1"
KUBELET = "kubelet.service"
UNIT_FILE = f"/usr/local/lib/systemd/system/{KUBELET}"  # not in /etc, where it could not be masked
UNIT = """[Unit]
StartLimitIntervalSec=0
[Service]
ExecStart=/usr/bin/sleep infinity
[Install]
WantedBy=multi-user.target
"""
CA, KEY = assignment.another_authority().encode(), b"a secret key\n"
PKI = "/etc/kubernetes/pki"
CONFIG = "/var/lib/kubelet/config.yaml"
DROP_IN = "/etc/systemd/system/kubelet.service.d/10-kubexm-proxy.conf"
FORWARDING, KEEPALIVE = "net.ipv4.ip_forward", "net.ipv4.tcp_keepalive_time"  # the kernel tells of the first one only
CONFIGURATION = f"""
allow: {{documents: [{', '.join(DOCUMENTS)}], sysctls: [{FORWARDING}, {KEEPALIVE}]}}
preflight: {{ignore: [kubelet-active, kubelet-enabled]}}  # its unit is nobody's
"""
WAKES_SOON = "/etc/systemd/system/kubexm-executor.service.d/wakes-soon.conf"
SLOW_UNIT = "/run/systemd/system/slow.service"
SLOW = f"""[Unit]
Before={KUBELET}
[Service]
Type=oneshot
ExecStart=/usr/bin/sleep infinity
TimeoutStartSec=infinity
"""
MIRRORS, NETWORK = f"{REGISTRIES}/{REGISTRY}/hosts.toml", f"{NETWORKS}/10-kubexm.conflist"

STEPS = [
    step("sysctl", key=FORWARDING, value="1"),
    step("sysctl", key=KEEPALIVE, value="600"),
    step("directory", path="/etc/kubernetes", access=access("0755")),
    step("directory", path=PKI, access=access("0755")),
    step("directory", path="/var/lib/kubelet", access=access("0750")),
    step("directory", path="/etc/systemd/system/kubelet.service.d", access=access("0755")),
    step("data-file", path=f"{PKI}/ca.crt", kind="ca-bundle", access=access("0644"), digest=executor_wire.digest(CA)),
    step("secret-file", path=f"{PKI}/node.key", handle="key", access=access("0600"), digest=executor_wire.digest(KEY)),
    step("symlink", path=f"{PKI}/current.crt", target="ca.crt"),
    step("managed-block", path="/etc/hosts", name="own name", lines=["10.99.0.200 somebody"]),
    step("rendered-file", document={"type": "kubelet-configuration", "minor": 34, "cgroup_driver": "systemd",
                                    "cluster_dns": ["10.96.0.10"], "cluster_domain": "cluster.local",
                                    "fail_swap_on": True, "fail_cgroup_v1": False, "max_pods": 110}),
    step("rendered-file", document={"type": "proxy-drop-in", "service": "kubelet", "http_proxy": "http://10.99.0.1:3128",
                                    "https_proxy": "http://10.99.0.1:3128", "no_proxy": "10.0.0.0/8"}),
    step("directory", path=REGISTRIES, access=access("0755")),
    step("directory", path=f"{REGISTRIES}/{REGISTRY}", access=access("0755")),
    step("rendered-file", document=registry_hosts()),
    step("rendered-file", document=pod_network()),
    step("daemon-reload", units=[KUBELET]),
    step("unit-state", name=KUBELET, enabled=True, active=True, restart_key="1"),
]


@dataclass(frozen=True)
class Change:
    name: str
    command: str
    object: str  # that differs then
    restarts: bool = False  # kubelet is another process afterwards

    def __str__(self) -> str:
        return self.name


CHANGES = [
    Change("file-changed", f"echo more >> {PKI}/ca.crt", f"write {PKI}/ca.crt"),
    Change("file-removed", f"rm {PKI}/ca.crt", f"write {PKI}/ca.crt"),
    Change("file-replaced", f"echo other > /tmp/other; mv /tmp/other {PKI}/ca.crt", f"write {PKI}/ca.crt"),
    Change("file-truncated", f"truncate --size 0 {PKI}/ca.crt", f"write {PKI}/ca.crt"),
    Change("file-readable-by-all", f"chmod 0644 {PKI}/node.key", f"secret {PKI}/node.key"),
    Change("secret-removed", f"rm {PKI}/node.key", f"secret {PKI}/node.key"),
    Change("file-replaced-by-link", f"ln -sf /etc/passwd {PKI}/ca.crt", f"write {PKI}/ca.crt"),
    Change("link-changed", f"ln -sfn /etc/passwd {PKI}/current.crt", f"link {PKI}/current.crt to ca.crt"),
    Change("block-removed", "sed -i /somebody/d /etc/hosts", "own name"),
    Change("directory-moved", "mv /etc/kubernetes /etc/away", "create directory /etc/kubernetes ("),
    Change("configuration-changed", f"sed -i s/110/11/ {CONFIG}", f"write {CONFIG}", restarts=True),
    Change("mirror-replaced", f"sed -i s/mirror.test/other.test/ {MIRRORS}", f"write {MIRRORS}"),
    Change("pod-network-removed", f"rm {NETWORK}", f"write {NETWORK}"),
    Change("drop-in-removed", f"rm {DROP_IN}; systemctl daemon-reload", f"write {DROP_IN}", restarts=True),
    Change("stopped", f"systemctl stop {KUBELET}", KUBELET, restarts=True),
    Change("killed", f"systemctl kill --signal KILL {KUBELET}", KUBELET, restarts=True),
    Change("disabled", f"systemctl disable {KUBELET}", KUBELET),
    Change("masked", f"systemctl mask --now {KUBELET}", KUBELET, restarts=True),
    Change("masked-for-now", f"systemctl mask --runtime {KUBELET}", KUBELET),
    Change("forwarding-off", f"sysctl -w {FORWARDING}=0", FORWARDING),
]

_numbers = itertools.count(1)


@pytest.fixture(scope="module", params=image.USUAL)
def host(request) -> Iterator[Node]:
    with Node(suite=request.param) as node:
        client.install(node, CONFIGURATION)
        node.write(UNIT_FILE, UNIT)
        node.run(["systemctl", "daemon-reload"])
        with executor_wire.connect(node) as wire:
            wire.hello()
            assert client.apply(wire, plan("join", *STEPS) | {"owner": OWNER}, [CA, KEY]) == ""
        yield node


@pytest.fixture
def wire(host) -> Iterator[Wire]:
    """A subscriber that knows that all is as applied."""
    with executor_wire.connect(host) as wire:
        wire.hello()
        wire.send({"type": "subscribe"})
        assert wire.event("drift")["objects"] == []
        yield wire


def repair(node) -> str:
    """Returns why not."""
    identity = f"repair-{next(_numbers)}"
    with executor_wire.connect(node) as wire:
        wire.hello()
        reply = wire.ask({"type": "repair", "plan_id": identity, "owner": OWNER})
        return reason(reply) or reason(wire.ask({"type": "follow", "plan_id": identity}))


def state(node) -> str:
    """Everything that the plan made, as text."""
    script = f"""cd /etc/kubernetes && find . /var/lib/kubelet {DROP_IN} -printf '%p %y %m %U %G %l\\n' | sort
        cat {PKI}/* {CONFIG} {DROP_IN} {MIRRORS} {NETWORK} /etc/hosts; sysctl {FORWARDING} {KEEPALIVE}
        systemctl show -P ActiveState -P UnitFileState -P LoadState {KUBELET}"""
    return node.run(["sh", "-c", script], check=False).stdout


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_change_is_noticed_and_repaired(host, wire, change):
    before, pid = state(host), shown(host, "MainPID", KUBELET)
    host.run(["sh", "-c", change.command])
    objects = wire.event("drift")["objects"]
    while not any(change.object in each["object"] for each in objects):
        objects = wire.event("drift")["objects"]
    assert {each["owner"] for each in objects} == {OWNER}
    assert repair(host) == ""
    assert state(host) == before
    assert (shown(host, "MainPID", KUBELET) != pid) == change.restarts
    while wire.event("drift")["objects"]:
        pass


def test_nothing_is_repaired_where_nothing_differs(host, wire):
    assert "no drift" in repair(host)


def test_a_subscriber_sees_units_and_plans_of_others(host, wire):
    host.run(["systemctl", "stop", KUBELET])
    states = {}
    while states.get(KUBELET) != "inactive":
        states = {each["name"]: each["active"] for each in wire.event("units-changed")["units"]}
    wire.event("drift")
    assert repair(host) == ""
    begun, ended = wire.event("plan-summary"), wire.event("plan-summary")
    assert (begun["purpose"], begun["state"], begun["owner"]) == ("repair", "running", OWNER)
    assert (ended["plan_id"], ended["state"]) == (begun["plan_id"], "done")


def test_a_package_manager_at_work_is_waited_for(host, wire):
    path = f"/proc/{host.leader}/root/var/lib/dpkg/lock-frontend"
    with open(path, "a") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        host.run(["rm", f"{PKI}/current.crt"])
        assert "packages change" in repair(host)
    assert wire.event("drift")["objects"], "seen when the lock was released"
    assert repair(host) == ""


def test_a_running_job_is_waited_for(host, wire):
    """A restart whose start waits for another unit: kubelet is inactive, and nobody has stopped it."""
    host.write(SLOW_UNIT, SLOW)
    host.run(["systemctl", "daemon-reload"])
    host.run(["systemctl", "start", "--no-block", "slow"])
    host.run(["systemctl", "restart", "--no-block", KUBELET])
    waiting.until("kubelet's stop", lambda: shown(host, "ActiveState", KUBELET) == "inactive", 60)
    host.run(["rm", f"{PKI}/current.crt"])
    assert [each["object"] for each in wire.event("drift")["objects"]] == [f"link {PKI}/current.crt to ca.crt"]
    host.run(["systemctl", "cancel", shown(host, "Job", KUBELET)])
    assert any(KUBELET in each["object"] for each in wire.event("drift")["objects"])
    host.run(["systemctl", "stop", "slow"])
    host.run(["rm", SLOW_UNIT])
    host.run(["systemctl", "daemon-reload"])
    assert repair(host) == ""


def wake_soon(node, soon: bool) -> None:
    """systemd's watchdog is what an executor at rest wakes up for, every minute and a half."""
    if soon:
        node.write(WAKES_SOON, "[Service]\nWatchdogSec=4\n")
    else:
        node.run(["rm", WAKES_SOON])
    node.run(["systemctl", "daemon-reload"])
    node.run(["systemctl", "restart", client.SERVICE])


def test_a_setting_without_events_is_compared_at_the_next_wake_up(host):
    wake_soon(host, True)
    with executor_wire.connect(host) as wire:
        wire.hello()
        wire.send({"type": "subscribe"})
        assert wire.event("drift")["objects"] == []
        host.run(["sysctl", "-w", f"{KEEPALIVE}=700"])
        assert [(each["object"], each["found"]) for each in wire.event("drift")["objects"]] == [(f"set {KEEPALIVE} to 600", "700")]
    assert repair(host) == ""
    assert host.run(["sysctl", "-n", KEEPALIVE]).stdout.strip() == "600"
    wake_soon(host, False)


def test_a_newer_plan_does_not_restart_what_a_repair_restarted(host, wire):
    host.run(["sed", "-i", "s/110/12/", CONFIG])
    wire.event("drift")
    assert repair(host) == ""
    pid = shown(host, "MainPID", KUBELET)
    with executor_wire.connect(host) as other:
        other.hello()
        assert client.apply(other, plan("again", *STEPS) | {"owner": OWNER}, [CA, KEY]) == ""
    assert shown(host, "MainPID", KUBELET) == pid


def test_the_executor_wakes_up_for_nothing(host, wire):
    """Changes of files beside the managed ones are no reason for a check."""
    for number in range(20):
        host.run(["sh", "-c", f"echo {number} > {PKI}/other; mv {PKI}/other {PKI}/another"])
    host.run(["rm", f"{PKI}/another"])
    host.run(["systemctl", "stop", KUBELET])
    assert [each["object"] for each in wire.event("drift")["objects"]] == ["enable and start kubelet.service"]
    assert repair(host) == ""
    waiting.until("kubelet", lambda: shown(host, "ActiveState", KUBELET) == "active", 60)
