"""Killed at any point of a repair, of changed orders or of an adoption, either process or both, a node ends as wanted."""

import itertools
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from testbed import assignment, care, snapshot
from testbed.assignment import BOOTSTRAPPED, NODE_SIGNER
from testbed.care import CONFIG, KUBELET_CONFIG
from testbed.executor import kills
from testbed.host import Host
from testbed.host_kills import AGENT, EXECUTOR, HostKills, Points, check_free, check_kept, footprint
from testbed.management.side import Management

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
DEEP = "KUBEXM_TEST_DEEP" in os.environ
SEED = os.environ.get("KUBEXM_TEST_SEED", "1")
EXECUTOR_KILLS = 2  # in each flow, unless the test is deep
HARM = f"systemctl disable --quiet --now kubelet && echo '# mine' >> {CONFIG}"
UNIT = "/etc/systemd/system/kubelet.service"

RENAMED = ["replace.rename.before:1", "replace.rename.after:1"]


class Care:
    """A joined host to which something happens again and again."""

    def __init__(self, side: Management, host: Host) -> None:
        self.side, self.host, self.kills = side, host, HostKills(host)
        self.uids = (f"by-hand-{number}" for number in itertools.count(1))  # of machines
        self.labels = (f"round-{number}" for number in itertools.count(1))
        self.max_pods = itertools.count(100)
        self.label = ""  # of the Node
        self.data: dict[str, str] = {}  # of the secret
        self.traces: dict[str, dict[str, list[str]]] = {}
        for unit in (EXECUTOR, AGENT):
            host.restart(unit)
        host.wait_for_phase("waiting")
        self.before = snapshot.settled(host.node)

    def join(self) -> None:
        """Unless it is joined; the machine is a new one."""
        if self.host.phase() == "joined":
            return
        self.label = next(self.labels)
        self.data = assignment.bootstrap_data(self.side.cluster)
        assignment.assign(self.side, self.host, self.data, next(self.uids), labels={self.label: "yes"})
        self.host.wait_for_phase("joined")
        self.side.wait_for("the Node", lambda: assignment.is_ready(self.side, self.host))

    def release(self, circumstances: object) -> None:
        assignment.withdraw(self.side, self.host)
        check_free(self.side, self.host, self.before, circumstances)

    def run(self, kind: "type[Flow]", points: Points) -> None:
        flow = kind(self, points)
        self._go(flow, lambda unit: self.host.crash_at(unit, *points.get(unit, ())))
        self.kills.count(points, may_miss=lambda point: point.startswith("bus."))
        flow.check()

    def trace(self, kind: "type[Flow]") -> dict[str, list[str]]:
        """The points that an uninterrupted flow passes."""
        if kind.__name__ not in self.traces:
            flow = kind(self, {})
            self._go(flow, self.kills.restart_with_trace)
            self.traces[kind.__name__] = self.kills.take_traces()
            self.host.wait_for_phase("joined")
            flow.check()
        return self.traces[kind.__name__]

    def _go(self, flow: "Flow", restart: Callable[[str], None]) -> None:
        """The change is made while kubexmd is away, so that it finds all of it."""
        self.host.node.run(["systemctl", "stop", AGENT])
        restart(EXECUTOR)
        flow.begin()
        restart(AGENT)
        self.host.wait(f"the end ({flow.circumstances})", flow.is_over)


class Flow:
    """Something that happens to the node once.

    `rounds`: where kubexmd is killed. In each of them a process comes further than the one before it, and together they
    are killed at points of every name.
    """

    rounds: list[list[str]]

    def __init__(self, of: Care, points: Points) -> None:
        self.of, self.side, self.host = of, of.side, of.host
        self.circumstances = f"{type(self).__name__}, killed at {points}"
        self.executor_kills = len(points.get(EXECUTOR, ()))
        self.known = {plan.name for plan in care.plans(self.host)}
        self.footprint, self.kubelet = footprint(self.host), care.kubelet(self.host)
        self.starts = care.kubelet_starts(self.host)
        self.asked = assignment.requests(self.side, NODE_SIGNER)
        self.owner = care.memory(self.host)["joined"]["owner"]

    def begin(self) -> None:
        raise NotImplementedError

    def is_over(self) -> bool:
        states = {plan.state for plan in self.plans()}
        assert states <= {"running", "done", "undone"}, f"{self.circumstances}: {self.plans()}"
        # The phase is remembered: only the Node's condition says that this process has come as far as its last point.
        has_seen_node = self.host.condition("NodeReady").get("status") == "True"
        is_joined = self.host.phase() == "joined" and has_seen_node
        return bool(states) and "running" not in states and is_joined and care.is_whole(self.host)

    def plans(self) -> list[care.PlanLine]:
        """Those of this flow."""
        return [plan for plan in care.plans(self.host) if plan.name not in self.known]

    def check(self) -> None:
        """What every flow leaves: a Ready Node with its certificate, one owner, and no plan that runs."""
        told = self.circumstances
        self.side.wait_for(f"the Node ({told})", lambda: assignment.is_ready(self.side, self.host))
        self.side.wait_for(f"{BOOTSTRAPPED} ({told})", lambda: assignment.condition(
            self.side, self.host).get("status") == "True")
        assert assignment.requests(self.side, NODE_SIGNER) == self.asked, f"{told}: another certificate was requested"
        joined = care.memory(self.host)["joined"]
        assert joined["owner"] == self.owner and joined.get("became_ready"), f"{told}: {joined}"
        assert {"key": self.of.label, "value": "yes"} in joined["labels"], f"{told}: {joined}"
        assert care.owners(self.host) == {self.owner}, told
        check_kept(self.host, told)

    def check_restarts(self) -> None:
        """One; a killed executor does not know whether kubelet was restarted, and does it again."""
        starts = care.kubelet_starts(self.host) - self.starts
        assert 1 <= starts <= 1 + self.executor_kills, f"{self.circumstances}: kubelet was started {starts} times"


class Repair(Flow):
    """Somebody changed a file, and stopped and disabled kubelet."""

    rounds = [["plan.accepted:1", "node.ready:1"], ["plan.ended:1"]]

    def begin(self) -> None:
        self.host.node.run(["sh", "-c", HARM])

    def check(self) -> None:
        super().check()
        assert [plan.purpose for plan in self.plans()] == ["repair"], f"{self.circumstances}: {self.plans()}"
        assert footprint(self.host) == self.footprint, f"{self.circumstances}: not as applied"
        self.check_restarts()


class NewSettings(Flow):
    """Another setting in the secret, which kubexmd reads when it starts."""

    rounds = [[*RENAMED, "plan.accepted:1", "node.ready:1"], ["plan.ended:1"]]

    def begin(self) -> None:
        self.of.data["kubelet-config.yaml"] = KUBELET_CONFIG.format(max_pods := next(self.of.max_pods))
        self.setting = f"maxPods: {max_pods}"
        self.side.apply([assignment.secret(self.of.data)])

    def is_over(self) -> bool:
        return self.setting in self.host.node.read(CONFIG).decode() and super().is_over()

    def check(self) -> None:
        super().check()
        # Where it is not known which certificate kubelet has, it gets the same again.
        purposes = [plan.purpose for plan in self.plans() if plan.purpose != "renew"]
        assert purposes == ["join"], f"{self.circumstances}: {self.plans()}"
        self.check_restarts()


class NewLabels(Flow):
    """Another label in the ByoHost instead of the present one."""

    rounds = [[*RENAMED, *RENAMED], ["plan.accepted:1", "node.ready:1"], ["plan.ended:1"]]

    def begin(self) -> None:
        self.old = self.of.label
        self.of.label = next(self.of.labels)
        labels = {self.old: None, self.of.label: "yes"}
        assignment.patch(self.side, self.host, {"spec": {"labels": labels}})

    def is_over(self) -> bool:
        labels = self.side.cluster.get("node", self.host.node.name)["metadata"]["labels"]
        return labels.get(self.of.label) == "yes" and self.old not in labels and super().is_over()

    def check(self) -> None:
        super().check()
        # Where it is not known which certificate kubelet has, it gets the same again.
        purposes = [plan.purpose for plan in self.plans() if plan.purpose != "renew"]
        assert purposes == ["join"], f"{self.circumstances}: {self.plans()}"
        unit = self.host.node.read(UNIT).decode()
        assert f"{self.of.label}=yes" in unit and f"{self.old}=" not in unit, f"{self.circumstances}: {unit}"
        assert care.kubelet(self.host) == self.kubelet, f"{self.circumstances}: kubelet was restarted"


class Adoption(Flow):
    """The ByoHost names another machine, and a person confirms it: again, where the command failed.

    The files of the first round are the memory of the command, the credentials and the memory of the join.
    """

    rounds = [[*RENAMED, *RENAMED, *RENAMED, "plan.accepted:1"],
              ["plan.ended:1", "plan.accepted:2"], ["plan.ended:2", "node.ready:1"]]

    def begin(self) -> None:
        self.uid, self.confirmed = next(self.of.uids), False
        self.old, self.owner = self.owner, f"machine-{self.uid}"
        assignment.refer_to_machine(self.side, self.host, self.uid)

    def is_over(self) -> bool:
        if not self.confirmed and self.host.phase() == "held":
            self.confirmed = self.host.node.run(["kubexmctl", "adopt"], check=False).returncode == 0
        return care.owners(self.host) == {self.owner} and super().is_over()

    def check(self) -> None:
        super().check()
        told = f"{self.circumstances}: {self.plans()}"
        assert [plan.owner for plan in self.plans() if plan.purpose == "release"] == [self.old], told
        assert {plan.owner for plan in self.plans() if plan.purpose == "join"} == {self.owner}, told
        remembered = care.memory(self.host)
        assert remembered["joined"]["machine"]["uid"] == self.uid and not remembered.get("adopted"), told
        assert footprint(self.host) == self.footprint, f"{self.circumstances}: the host was changed"
        assert care.kubelet(self.host) == self.kubelet, f"{self.circumstances}: kubelet was restarted"


@pytest.fixture(scope="module")
def host_in_care():
    with assignment.enrolled(TREE) as (side, host):
        yield Care(side, host)


@pytest.fixture
def node(host_in_care):
    host_in_care.join()
    return host_in_care


@pytest.mark.parametrize("kind", [Repair, NewSettings, NewLabels, Adoption])
def test_kubexmd_killed_at_points(node, figure, kind):
    passed = kills.passages(node.trace(kind)[AGENT])
    in_rounds = {name_of(passage) for points in kind.rounds for passage in points}
    assert {name_of(passage) for passage in passed} == in_rounds, f"{kind.__name__} passes {passed}"
    chosen = [*kind.rounds, *([passage] for passage in passed if DEEP)]
    for points in chosen:
        node.run(kind, {AGENT: points})
    figure(f"kubexmd killed during {kind.__name__}: {len(passed)} points, {sum(map(len, chosen))} kills, all survived")


@pytest.mark.parametrize("kind", [Repair, NewSettings, NewLabels, Adoption])
def test_executor_killed_at_points(node, figure, kind):
    points, missed = durable_points(node.trace(kind)), len(node.kills.missed)
    chosen = points if DEEP else one_of_each_part(points, EXECUTOR_KILLS, kind.__name__)
    for point in chosen:
        node.run(kind, {EXECUTOR: [point]})
    figure(f"executor killed during {kind.__name__}: {len(points)} points, {len(chosen)} chosen, "
           f"{len(node.kills.missed) - missed} not passed, all survived")


@pytest.mark.parametrize("kind", [Repair, NewSettings, NewLabels])
def test_both_killed(node, kind):
    """Each while the other is away or not yet back."""
    points = durable_points(node.trace(kind))
    point = random.Random(f"{SEED} both {kind.__name__}").choice(points[len(points) // 2:])
    node.run(kind, {AGENT: ["plan.accepted:1"], EXECUTOR: [point]})


def test_both_killed_and_released_by_the_new_machine(node):
    points = {AGENT: ["plan.accepted:1"], EXECUTOR: ["journal.commit.after:3", "journal.commit.before:1"]}
    node.run(Adoption, points)
    node.release(points)


def test_points_that_are_not_passed_are_reported(node):
    """The control: without it the kills above could be none."""
    points = {AGENT: ["release.undone:1"], EXECUTOR: ["link.delete.after:1"]}
    with pytest.raises(AssertionError, match="no process passed .*release.undone:1.*link.delete.after:1"):
        node.run(Repair, points)


def name_of(passage: str) -> str:
    return passage.partition(":")[0]


def durable_points(trace: dict[str, list[str]]) -> list[str]:
    """Of the executor, as they are passed; the beginning of a step leaves nothing."""
    return [passage for passage in kills.passages(trace[EXECUTOR]) if "." in passage]


def one_of_each_part(points: list[str], parts: int, word: str) -> list[str]:
    dice, size = random.Random(f"{SEED} {word}"), len(points) / parts
    return [dice.choice(points[round(part * size):round((part + 1) * size)]) for part in range(parts)]
