"""What a fault that lasts costs, or none: few restarts, few requests and few wakeups, for as long as it lasts."""

import base64
import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from testbed import api_proxy, assignment, image
from testbed.care import is_whole
from testbed.executor import gate
from testbed.host import Host
from testbed.node import Node

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
SECONDS = 180
RESTARTS, REQUESTS, WAKEUPS = 10, 30, 60  # at most, in that time
UNITS = ("kubexmd", "kubexm-executor")
STEPS = Path(__file__).parents[2] / "units/restart-steps.conf"
KUBECONFIGS = ("/etc/kubexm/bootstrap-kubeconfig", "/var/lib/kubexm/management.kubeconfig")
SQUATTER = "[Socket]\nListenStream=127.0.0.1:10240\n"
AWAY = "table inet fault {{ chain output {{ type filter hook output priority 0; ip daddr {address} drop; }}\n}}\n"


# Each begins a fault, and yields whether it is there; its end is the end of the fault.


@contextlib.contextmanager
def port_taken(host: Host, _) -> Iterator[Callable[[], bool]]:
    host.node.write("/run/systemd/system/squatter.socket", SQUATTER)
    host.node.write("/run/systemd/system/squatter.service", "[Service]\nExecStart=/usr/bin/sleep infinity\n")
    host.node.run(["systemctl", "stop", "kubexmd"])
    host.node.run(["systemctl", "daemon-reload"])
    host.node.run(["systemctl", "start", "squatter.socket", "kubexmd"])
    yield lambda: is_false(host, "LocalApiAvailable")


@contextlib.contextmanager
def executor_stopped(host: Host, _) -> Iterator[Callable[[], bool]]:
    host.node.run(["systemctl", "mask", "--runtime", "--now", "kubexm-executor.socket", "kubexm-executor.service"])
    yield lambda: is_false(host, "ExecutorAvailable")


@contextlib.contextmanager
def packets_dropped(host: Host, cluster) -> Iterator[Callable[[], bool]]:
    host.node.run(["nft", "-f", "-"], input=AWAY.format(address=cluster.server.split("//")[1].split(":")[0]))
    yield lambda: is_false(host, "ManagementClusterReachable")


@contextlib.contextmanager
def executor_dies(host: Host, _) -> Iterator[Callable[[], bool]]:
    die_in_every_start(host, "kubexm-executor")
    yield lambda: is_false(host, "ExecutorAvailable") and not host.is_active("kubexm-executor")


@contextlib.contextmanager
def kubexmd_dies(host: Host, _) -> Iterator[Callable[[], bool]]:
    """While somebody asks for its status: a request waits for the next start, and does not make it come earlier."""
    die_in_every_start(host, "kubexmd")
    ask = "while true; do curl -s --max-time 50 --unix-socket /run/kubexm/kubexmd.sock http://localhost/healthz; done"
    host.node.run(["systemd-run", "--unit=asking", "sh", "-c", ask])
    yield lambda: not host.is_active("kubexmd")


def die_in_every_start(host: Host, unit: str) -> None:
    """As packaged: without the testbed's drop-in, and from systemd 254 on with the one for it."""
    node, drop_ins = host.node, f"/etc/systemd/system/{unit}.service.d"
    node.run(["rm", f"{drop_ins}/soon.conf"])
    if node.suite != "bookworm":
        node.write(f"{drop_ins}/restart-steps.conf", STEPS.read_text())
    node.write(f"{drop_ins}/dies.conf", "[Service]\nExecStartPre=/bin/false\n")
    node.run(["systemctl", "daemon-reload"])
    node.run(["systemctl", "kill", "--signal=KILL", unit])


@contextlib.contextmanager
def bookmarks_stop(host: Host, cluster) -> Iterator[Callable[[], bool]]:
    """After the first one. The watch is renewed, and the server's bookmarks do not reach that one either."""
    node = host.node
    user = json.loads(node.read(KUBECONFIGS[1]))["users"][0]["user"]
    pair = cluster.directory / f"{node.name}.pem"
    pair.write_bytes(b"".join(base64.b64decode(user[f"client-{part}-data"]) for part in ("certificate", "key")))
    changes = api_proxy.Changes(pair=pair, bookmarks=1)
    with api_proxy.running(cluster, changes) as server:
        for path in KUBECONFIGS:
            node.run(["sed", "-i", f"s|{cluster.server}|{server}|", path])
        node.run(["systemctl", "restart", "kubexmd"])
        yield lambda: changes.bookmarks == 0 and not is_false(host, "ManagementClusterReachable")
        assert changes.dropped and len(changes.watches) >= 2, f"the watch was not renewed: {changes}"


@contextlib.contextmanager
def executor_recovers(host: Host, _) -> Iterator[Callable[[], bool]]:
    """It died in a plan of root, which it resumes and waits in."""
    node = host.node
    node.run(["mkfifo", gate.GATE])
    node.write("/etc/kubexm/executor.yaml", gate.ALLOW_CAT)
    node.run(["systemctl", "restart", "kubexm-executor"])
    gate.begin_plan_at_gate(node, "long", user="root", owner="root")
    killed = node.shown("MainPID", "kubexm-executor")
    node.run(["kill", "-KILL", killed])
    gate.wait_picked_up(node, killed)
    yield lambda: node.shown("StatusText", "kubexm-executor").startswith("Plan long")


@contextlib.contextmanager
def nothing(host: Host, _) -> Iterator[Callable[[], bool]]:
    """A joined node, which is looked after by events: polling would cost more."""
    yield lambda: host.phase() == "joined" and host.condition("NodeReady").get("status") == "True" and is_whole(host)


@dataclass
class Fault:
    begin: Callable[[Host, object], contextlib.AbstractContextManager[Callable[[], bool]]]
    suite: str = image.SUITES[0]
    wakeups: int = WAKEUPS


FAULTS = {"port taken": Fault(port_taken), "executor stopped": Fault(executor_stopped),
          "packets dropped": Fault(packets_dropped), "executor dying": Fault(executor_dies),
          "kubexmd dying": Fault(kubexmd_dies, "trixie"), "no bookmarks": Fault(bookmarks_stop),
          "nothing": Fault(nothing, wakeups=30),
          "executor recovering": Fault(executor_recovers)}  # last: the step has five minutes


@dataclass
class Cost:
    seconds: float  # when it was taken
    restarts: int
    wakeups: int
    connections: int  # that the host opened
    requests: int  # that the API server saw

    def __sub__(self, before: "Cost") -> "Cost":
        return Cost(*(now - then for now, then in zip(vars(self).values(), vars(before).values())))


def cost(host: Host, cluster) -> Cost:
    node = host.node
    user = f"byoh:host:{node.name}"
    requests = {each["auditID"] for each in cluster.audit() if each["user"].get("username") == user}
    return Cost(time.monotonic(), sum(host.deaths(unit) for unit in UNITS), sum(switches(node, unit) for unit in UNITS), active_opens(node),
                len(requests))


def switches(node: Node, unit: str) -> int:
    """How often a thread of its process went to sleep, and so woke up; a new process begins anew. That a busy machine
    takes the processor away from it is not counted."""
    pid = node.shown("MainPID", unit)
    status = node.run(["sh", "-c", f"cat /proc/{pid}/task/*/status"], check=False).stdout
    return sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("voluntary_ctxt_switches"))


def active_opens(node: Node) -> int:
    names, values = (line.split() for line in node.read("/proc/net/snmp").decode().splitlines() if line.startswith("Tcp:"))
    return int(values[names.index("ActiveOpens")])


@pytest.fixture(scope="module")
def hosts_with_faults():
    """One for each fault: the time that is measured is the same for all."""
    with assignment.enrolled(TREE) as (side, first), contextlib.ExitStack() as stack:
        hosts = [first]
        for fault in list(FAULTS.values())[1:]:
            host = Host(stack.enter_context(Node(suite=fault.suite)), TREE)
            host.enrol(side.cluster)
            hosts.append(host)
        for host in hosts:
            host.wait_for_phase("waiting")
        named = dict(zip(FAULTS, hosts))
        assignment.assign(side, named["nothing"], assignment.bootstrap_data(side.cluster))
        named["nothing"].wait_for_phase("joined")
        yield side.cluster, named


def is_false(host: Host, kind: str) -> bool:
    """A condition, read from the socket: a fault may have taken the port."""
    shown = host.node.run(["kubexmctl", "status", "--output=json"], check=False)
    found = json.loads(shown.stdout)["conditions"] if shown.returncode == 0 else []
    return any(each["type"] == kind and each["status"] == "False" for each in found)


def test_a_fault_that_lasts_costs_little(hosts_with_faults, figure):
    cluster, hosts = hosts_with_faults
    with contextlib.ExitStack() as stack:
        is_there = {}
        for name, host in hosts.items():
            is_there[name] = stack.enter_context(FAULTS[name].begin(host, cluster))
            host.wait(name, is_there[name])
        before = {name: cost(host, cluster) for name, host in hosts.items()}
        time.sleep(SECONDS)  # this is the measurement, not a wait for something
        spent = {name: cost(host, cluster) - before[name] for name, host in hosts.items()}
        for name in hosts:
            figure(f"{SECONDS} s with {name}: {spent[name]}")
            assert is_there[name](), f"{name}: the fault is gone, and nothing was measured"
    for name, each in spent.items():
        # A busy machine takes longer than that to look at all hosts.
        limits = [most * each.seconds / SECONDS for most in (RESTARTS, FAULTS[name].wakeups, REQUESTS, REQUESTS)]
        found = (each.restarts, each.wakeups, each.connections, each.requests)
        assert all(one <= limit for one, limit in zip(found, limits)), f"{name}: {each}"
