"""A node that kubexmd looks after: its kubelet, its plans, and who owns it."""

import json
import re
from typing import NamedTuple

from testbed.host import STATE, Host

CONFIG = "/var/lib/kubelet/config.yaml"
KUBELET_CONFIG = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: {}\n"
STARTED = "MESSAGE_ID=39f53479d3a045ac8e11786248231fbf"  # systemd's, of a unit that has started


class PlanLine(NamedTuple):
    """A line of kubexmctl history."""

    state: str
    name: str
    purpose: str
    owner: str


def kubelet(host: Host) -> str:
    """Its process; 0: it does not run."""
    return host.node.shown("MainPID", "kubelet")


def kubelet_starts(host: Host) -> int:
    """How often kubelet was started on this host."""
    return host.node.journal("--output=cat", STARTED, "UNIT=kubelet.service").count("\n")


def is_whole(host: Host) -> bool:
    """kubelet runs, is enabled, and nothing differs from what was applied."""
    state = host.node.run(["systemctl", "is-enabled", "kubelet"], check=False).stdout.strip()
    return kubelet(host) != "0" and state == "enabled" and host.condition("HostAsApplied").get("status", "True") == "True"


def plans(host: Host) -> list[PlanLine]:
    """The newest first; empty while the executor does not answer."""
    shown = host.node.run(["kubexmctl", "history", "--limit=50"], check=False).stdout
    return [PlanLine(*re.match(r"(\S+) +(\S+) \((\S+)\) for ([^\s:]+)", line).groups()) for line in shown.splitlines()]


def owners(host: Host) -> set[str]:
    """Of the objects in the ledger; several of one object are one entry, with commas."""
    shown = host.node.run(["kubexmctl", "journal", "show"], check=False).stdout
    return {re.match(r"\S+(, \S+)*", line)[0] for line in shown.splitlines() if not line.startswith("journal is ")}


def memory(host: Host) -> dict:
    return json.loads(host.node.read(f"{STATE}/memory.json"))
