"""A node that kubexmd looks after: its kubelet, its plans, and who owns it."""

import contextlib
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from testbed import waiting
from testbed.assignment import BOOTSTRAPPED, annotate
from testbed.host import STATE, Host
from testbed.management.side import Management
from testbed.node import Node
from testbed.watching import Watch

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


def serials(host: Host) -> dict[str, str]:
    """Of its certificates, by their names."""
    return {each["name"]: each["serial"] for each in host.status().get("certificates", [])}


def memory(host: Host) -> dict:
    return json.loads(host.node.read(f"{STATE}/memory.json"))


def set_event_times(host: Host, times: list[int]) -> None:
    """When it wrote Events in the last hour, as another kubexmd then remembers."""
    host.node.run(["systemctl", "stop", "kubexmd"])
    known = memory(host) | {"event_times": times}
    host.node.run(["sh", "-c", f"cat > {STATE}/memory.json"], input=json.dumps(known))  # the file stays kubexmd's
    host.node.run(["systemctl", "start", "kubexmd"])


def restarted(node: Node) -> float:
    """Seconds from the end of a kubelet that somebody stops to its next start, by systemd's clock."""
    node.run(["systemctl", "stop", "kubelet"])
    waiting.until("kubelet", lambda: node.shown("ActiveState", "kubelet") == "active", 60)
    stopped, started = (int(node.shown(f"{state}EnterTimestampMonotonic", "kubelet")) for state in ("Inactive", "Active"))
    return (started - stopped) / 1e6


def restored(node: Node) -> float:
    """Seconds from a change of kubelet's configuration to its restoration, by the times of the file."""
    changed = float(node.run(["sh", "-c", f"echo '# mine' >> {CONFIG}; stat -c %.Y {CONFIG}"]).stdout)
    waiting.until("the file as it was", lambda: b"# mine" not in node.read(CONFIG), 60)
    return float(node.run(["stat", "-c", "%.Y", CONFIG]).stdout) - changed


@contextlib.contextmanager
def never_reported_failed(side: Management, host: Host) -> Iterator[None]:
    """In no version of its ByoHost within this is the join an error, or not done any more where it was."""
    name, mark = host.node.name, "testbed/end"
    with Watch(side.cluster.kubeconfig.read_text(), "byohosts") as watch:
        yield
        annotate(side, host, mark)
        watch.wait_for("the end", name, lambda version: mark in version["metadata"].get("annotations", {}))
    annotate(side, host, mark, None)
    conditions = [each for version in watch.versions(name) for each in version.get("status", {}).get("conditions", [])]
    assert not [each for each in conditions if each.get("severity") == "Error"]
    words = "".join(each["status"] for each in conditions if each["type"] == BOOTSTRAPPED)
    assert words.endswith("True") and "TrueFalse" not in words, f"{BOOTSTRAPPED} was {words}"
