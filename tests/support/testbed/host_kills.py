"""Killing kubexmd and the executor of a host while something happens to it, and what has to be there afterwards."""

import re
import time
from collections.abc import Callable, Sequence

from testbed import assignment, care, snapshot
from testbed.host import TRACE_DIRECTORY, Host
from testbed.management.side import Management

AGENT, EXECUTOR = "kubexmd", "kubexm-executor"
# The executor is restarted first: kubexmd would lose its connections, and a release that meets this is tried again.
TRACES = {unit: f"{TRACE_DIRECTORY}/{unit}" for unit in (EXECUTOR, AGENT)}
TREES = "/etc/kubernetes /etc/systemd/system /var/lib/kubelet/pki /var/lib/kubelet/config.yaml"
CONTENTS = ["/etc/kubernetes/kubelet.conf", "/etc/kubernetes/pki/ca.crt", "/var/lib/kubelet/config.yaml",
            "/etc/systemd/system/kubelet.service"]
SHOW = f"find {TREES} -printf '%p %M %U:%G\\n'; sha256sum {' '.join(CONTENTS)}"

EVENTS_AN_HOUR = 20  # that kubexmd writes at most

Points = dict[str, Sequence[str]]  # of a unit: where its process is killed, the one after it, and so on


class HostKills:
    def __init__(self, host: Host) -> None:
        self.host = host
        self.died = {AGENT: 0, EXECUTOR: 0}
        self.missed: list[str] = []  # of the executor: how often systemd is asked depends on how far it is
        use_up_events(host)

    def arm(self, points: Points) -> None:
        for unit, where in points.items():
            self.host.crash_at(unit, *where)

    def count(self, points: Points, may_miss: Callable[[str], bool] = lambda point: True) -> None:
        """After the end of what they were killed in. `may_miss`: whether the executor may not pass a point."""
        missed = {unit: self._missed(unit, where) for unit, where in points.items()}
        wrong = {unit: strict for unit, of_unit in missed.items()
                 if (strict := [point for point in of_unit if unit == AGENT or not may_miss(point)])}
        assert not wrong, f"killed at {points}, but no process passed {wrong}"
        for unit, of_unit in missed.items():
            self.died[unit] += len(points[unit]) - len(of_unit)
            self.missed += of_unit

    def trace(self, way: Callable[[], object]) -> dict[str, list[str]]:
        """The points that each process passes on the way."""
        for unit in TRACES:
            self.restart_with_trace(unit)
        way()
        return self.take_traces()

    def restart_with_trace(self, unit: str) -> None:
        self.host.restart(unit, {"KUBEXM_CRASH_TRACE": TRACES[unit]})

    def take_traces(self) -> dict[str, list[str]]:
        """What they passed since then; the next processes have no trace."""
        traces = {}
        for unit, file in TRACES.items():
            traces[unit] = self.host.node.read(file).decode().split()
            self.host.restart(unit)
            self.host.node.run(["rm", file])
        return traces

    def _missed(self, unit: str, where: Sequence[str]) -> Sequence[str]:
        self.host.wait(f"a process of {unit}", lambda: self.host.is_active(unit))
        died = len(where) - self.host.disarm(unit)
        self.host.wait(f"{died} deaths of {unit}", lambda: self.host.deaths(unit) >= died)
        return where[died:]


def use_up_events(host: Host) -> None:
    """No Event is written for an hour: each is a write of the memory, and earlier rounds decide how many are left."""
    care.set_event_times(host, [int(time.time())] * EVENTS_AN_HOUR)


def footprint(host: Host) -> list[str]:
    """Names, modes and owners of what a join makes, and the content of what is not secret."""
    found = host.node.run(["sh", "-c", SHOW]).stdout
    return sorted(re.sub("kubelet-(client|server)-[0-9a-f]+", r"kubelet-\1-ID", found).splitlines())


def check_kept(host: Host, circumstances: object) -> None:
    """kubexmd has the files of one machine."""
    kept = [name for name in host.kept() if not name.endswith((".key", ".lock"))]
    assert [re.sub("machine-.*[.]", "machine.", name) for name in kept] == [
        "machine.kubeconfig", "machine.serving", "management.kubeconfig", "memory.json"], f"{circumstances}: {kept}"


def check_free(side: Management, host: Host, before: snapshot.Snapshot, circumstances: object) -> None:
    """A host that was released is as before, and the management cluster knows."""
    changed = snapshot.lasting_diff(before, host.node)
    assert not changed, f"{circumstances}: {changed}"
    assert host.kept() == ["kubexmd.lock", "management.kubeconfig", "memory.json"], circumstances
    found = assignment.byohost(side, host)
    assert "machineRef" not in found["status"] and "bootstrapSecret" not in found["spec"], circumstances
    assert assignment.UNREGISTERING not in found["metadata"].get("annotations", {}), circumstances
    said = assignment.condition(side, host)
    assert (said["status"], said["reason"]) == ("False", "K8sNodeAbsent"), circumstances
    assert "kubectl delete node" in said["message"], f"{circumstances}: the condition does not name the Node: {said}"
    assert assignment.condition(side, host, assignment.INSTALLED)["reason"] == "K8sNodeAbsent", circumstances
