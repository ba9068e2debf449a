"""What a fault that lasts costs: few restarts, few requests and few wakeups, for as long as it lasts."""

import contextlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from testbed import assignment
from testbed.host import Host
from testbed.node import Node

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
SECONDS = 180
RESTARTS, REQUESTS, WAKEUPS = 10, 30, 60  # at most, in that time
UNITS = ("kubexmd", "kubexm-executor")
SQUATTER = "[Socket]\nListenStream=127.0.0.1:10240\n"
AWAY = "table inet fault {{ chain output {{ type filter hook output priority 0; ip daddr {address} drop; }}\n}}\n"


def take_port(host: Host, _) -> None:
    host.node.write("/run/systemd/system/squatter.socket", SQUATTER)
    host.node.write("/run/systemd/system/squatter.service", "[Service]\nExecStart=/usr/bin/sleep infinity\n")
    host.node.run(["systemctl", "stop", "kubexmd"])
    host.node.run(["systemctl", "daemon-reload"])
    host.node.run(["systemctl", "start", "squatter.socket", "kubexmd"])


def stop_executor(host: Host, _) -> None:
    host.node.run(["systemctl", "mask", "--runtime", "--now", "kubexm-executor.socket", "kubexm-executor.service"])


def drop_packets(host: Host, cluster) -> None:
    host.node.run(["nft", "-f", "-"], input=AWAY.format(address=cluster.server.split("//")[1].split(":")[0]))


@dataclass
class Fault:
    begin: Callable[[Host, object], None]
    condition: str  # which says so


FAULTS = {"port taken": Fault(take_port, "LocalApiAvailable"),
          "executor stopped": Fault(stop_executor, "ExecutorAvailable"),
          "packets dropped": Fault(drop_packets, "ManagementClusterReachable")}


@dataclass
class Cost:
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
    return Cost(sum(host.deaths(unit) for unit in UNITS), sum(switches(node, unit) for unit in UNITS), active_opens(node),
                len(requests))


def switches(node: Node, unit: str) -> int:
    """How often the kernel has put a thread of its process on a processor; a new process begins anew."""
    pid = node.shown("MainPID", unit)
    status = node.run(["sh", "-c", f"cat /proc/{pid}/task/*/status"], check=False).stdout
    return sum(int(line.split()[1]) for line in status.splitlines() if "ctxt_switches" in line)


def active_opens(node: Node) -> int:
    names, values = (line.split() for line in node.read("/proc/net/snmp").decode().splitlines() if line.startswith("Tcp:"))
    return int(values[names.index("ActiveOpens")])


@pytest.fixture(scope="module")
def hosts_with_faults():
    """One for each fault: the time that is measured is the same for all."""
    with assignment.enrolled(TREE) as (side, first), contextlib.ExitStack() as stack:
        hosts = [first]
        for _ in range(len(FAULTS) - 1):
            host = Host(stack.enter_context(Node()), TREE)
            host.enrol(side.cluster)
            hosts.append(host)
        for host in hosts:
            host.wait_for_phase("waiting")
        yield side.cluster, dict(zip(FAULTS, hosts))


def said(host: Host, kind: str) -> str:
    """By the socket: a fault may have taken the port."""
    shown = host.node.run(["kubexmctl", "status", "--output=json"], check=False)
    found = json.loads(shown.stdout)["conditions"] if shown.returncode == 0 else []
    return next((each["status"] for each in found if each["type"] == kind), "")


def test_a_fault_that_lasts_costs_little(hosts_with_faults, figure):
    cluster, hosts = hosts_with_faults
    for name, host in hosts.items():
        FAULTS[name].begin(host, cluster)
    for name, host in hosts.items():
        host.wait(f"the condition of {name}", lambda: said(host, FAULTS[name].condition) == "False")
    before = {name: cost(host, cluster) for name, host in hosts.items()}
    time.sleep(SECONDS)  # this is the measurement, not a wait for something
    spent = {name: cost(host, cluster) - before[name] for name, host in hosts.items()}
    for name, host in hosts.items():
        figure(f"{SECONDS} s with {name}: {spent[name]}")
        assert said(host, FAULTS[name].condition) == "False", f"{name}: the fault is gone, and nothing was measured"
    for name, each in spent.items():
        most = Cost(RESTARTS, WAKEUPS, REQUESTS, REQUESTS)
        assert all(found <= limit for found, limit in zip(vars(each).values(), vars(most).values())), f"{name}: {each}"
