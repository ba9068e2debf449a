"""Killed at any point, either process or both, a join ends in a Ready node and a release in the host as it was."""

import datetime
import itertools
import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from testbed import assignment, snapshot
from testbed import host as hosts
from testbed.assignment import BOOTSTRAPPED, HOST_SIGNER, INSTALLED, NODE_SIGNER
from testbed.executor import kills
from testbed.host import Host
from testbed.host_kills import AGENT, EXECUTOR, HostKills, Points, check_free, check_kept, footprint
from testbed.management.side import Management

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
DEEP = "KUBEXM_TEST_DEEP" in os.environ
SEED = os.environ.get("KUBEXM_TEST_SEED", "1")
ROUNDS, KILLS_IN_ROUND = 3, 3  # of the executor, unless the test is deep
MOST_COMMITS_FORTH, MOST_COMMITS_BACK = 12, 14  # groups_test.cpp has the groups of both
# Of kubexmd, one process after the other in one join and one release; they are not repeated alone.
IN_A_ROW_FORTH = ["csr.posted:1", "replace.rename.after:1", "plan.accepted:1", "node.ready:1"]
IN_A_ROW_BACK = ["plan.accepted:1", "release.undone:1", "release.status-freed:1"]
# Others decide how often kubexmd passes these: a Node changes, or another writer makes a patch conflict.
REPEATED = ("node.ready", "release.status-freed")


class Course:
    """A host that is joined and released again and again, and what it has to look like each time."""

    def __init__(self, side: Management, host: Host) -> None:
        self.side, self.host, self.kills = side, host, HostKills(host)
        self.settle()
        self.forth_trace = self.kills.trace(lambda: assignment.join(side, host))
        self.joined = footprint(host)
        self.back_trace = self.kills.trace(lambda: assignment.release(side, host))
        self.check_free("uninterrupted")
        self.rest()

    def prolong_tokens(self) -> None:
        """They end after half an hour; all points take longer."""
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=30)
        change = {"stringData": {"expiration": end.strftime("%Y-%m-%dT%H:%M:%SZ")}}
        secrets = "/api/v1/namespaces/kube-system/secrets"
        for secret in self.side.cluster.api.get(secrets)["items"]:
            if secret["type"] == "bootstrap.kubernetes.io/token":
                path = f"{secrets}/{secret['metadata']['name']}"
                self.side.cluster.api.request("PATCH", path, change, "application/merge-patch+json")

    def forth(self, points: Points) -> None:
        self.prolong_tokens()
        asked = assignment.requests(self.side, NODE_SIGNER)
        self.kills.arm(points)
        assignment.join(self.side, self.host)
        self.kills.count(points)
        self.check_joined(points)
        asked_now = assignment.requests(self.side, NODE_SIGNER) - asked
        assert len(asked_now) == 1, f"{points}: certificate requests of the node: {asked_now}, expected one"
        assert footprint(self.host) == self.joined, f"{points}: not the files of an uninterrupted run"

    def back(self, points: Points) -> None:
        self.kills.arm(points)
        assignment.release(self.side, self.host)
        self.kills.count(points)
        self.check_free(points)
        self.rest()

    def settle(self) -> None:
        """Takes the host as it is now for what it has to be after each release; a boot forgot how it is killed."""
        for unit in (EXECUTOR, AGENT):
            self.host.restart(unit)
        self.rest()
        self.before = snapshot.settled(self.host.node)

    def rest(self) -> None:
        """Nothing in the cluster remembers the node either: the next one that is Ready is new."""
        self.host.wait_for_phase("waiting")
        self.side.cluster.kubectl("delete", "node", "--all")

    def check_joined(self, circumstances: object) -> None:
        self.host.wait_for_phase("joined")
        self.side.wait_for(f"the Node ({circumstances})", lambda: assignment.is_ready(self.side, self.host))
        for kind in (BOOTSTRAPPED, INSTALLED):
            self.side.wait_for(f"{kind} ({circumstances})", lambda kind=kind: assignment.condition(
                self.side, self.host, kind).get("status") == "True")
        check_kept(self.host, circumstances)

    def check_free(self, circumstances: object) -> None:
        check_free(self.side, self.host, self.before, circumstances)


@pytest.fixture(scope="module")
def course():
    with assignment.enrolled(TREE) as (side, host):
        yield Course(side, host)


def agent_rounds(trace: Sequence[str], in_a_row: Sequence[str]) -> list[list[str]]:
    """Every point of kubexmd that each run passes: one a run where the test is deep, else two."""
    names = [name for number, name in enumerate(trace) if name not in REPEATED or name not in trace[:number]]
    points = kills.passages(names)
    assert set(in_a_row) <= set(points)
    if DEEP:
        return [[point] for point in points]
    left = [number for number, point in enumerate(points) if point not in in_a_row]
    half = (len(left) + 1) // 2
    return [[points[first]] if then is None else [points[first], passage_after(names, first, then)]
            for first, then in itertools.zip_longest(left[:half], left[half:])]


def passage_after(names: Sequence[str], first: int, then: int) -> str:
    """KUBEXM_CRASH_AT of a point for the process after the one that was killed at the first: what that one had done is
    not done again."""
    begin = first + names[first].endswith(".after")
    return f"{names[then]}:{names[begin:then + 1].count(names[then])}"


def test_kubexmd_killed_at_every_point(course, figure):
    forth = agent_rounds(course.forth_trace[AGENT], IN_A_ROW_FORTH)
    back = agent_rounds(course.back_trace[AGENT], IN_A_ROW_BACK)
    for there, here in itertools.zip_longest(forth, back, fillvalue=[]):
        course.forth({AGENT: there})
        course.back({AGENT: here})
    figure(f"kubexmd killed in joins and releases: {sum(map(len, forth))} and {sum(map(len, back))} points, "
           f"{course.kills.died[AGENT]} kills, all survived")


def test_kubexmd_killed_again_and_again_while_it_enrols(course):
    """Each process comes one point further than the one before it; the last one finds all that it needs."""
    host, asked = course.host, assignment.requests(course.side, HOST_SIGNER)
    host.node.run(["systemctl", "stop", AGENT])
    host.node.run(["rm", f"{hosts.STATE}/management.kubeconfig"])
    points = ["replace.rename.before:1", "replace.rename.after:1", "csr.posted:1",
              "replace.rename.before:1", "replace.rename.after:1"]
    host.crash_at(AGENT, *points)
    host.wait("as many deaths", lambda: host.deaths(AGENT) == len(points))
    host.wait_for_phase("waiting")
    assert len(assignment.requests(course.side, HOST_SIGNER) - asked) == 1
    assert host.kept() == ["kubexmd.lock", "management.kubeconfig", "memory.json"]
    course.settle()


def test_joins_and_releases_make_few_commits(course, figure):
    """Each is several syncs of the disk; steps that do not depend on each other share them."""
    forth, back = (trace[EXECUTOR].count("journal.commit.before") for trace in (course.forth_trace, course.back_trace))
    figure(f"commits of the journal: {forth} in a join, {back} in a release")
    assert forth <= MOST_COMMITS_FORTH
    assert back <= MOST_COMMITS_BACK


def test_executor_killed_at_points(course, figure):
    forth, back = chosen(course.forth_trace[EXECUTOR], "forth"), chosen(course.back_trace[EXECUTOR], "back")
    for there, here in itertools.zip_longest(forth, back, fillvalue=[]):
        course.forth({EXECUTOR: there})
        course.back({EXECUTOR: here})
    killed, missed = course.kills.died[EXECUTOR], len(course.kills.missed)
    assert killed > missed
    figure(f"executor killed in joins and releases: {sum(map(len, forth))} and {sum(map(len, back))} points, "
           f"{killed} kills, {missed} not passed, all survived")


def chosen(trace: list[str], word: str) -> list[list[str]]:
    """Rounds of points in the order in which they are passed, each of another step; the first before any step."""
    points, dice = kills.points(trace), random.Random(f"{SEED} {word}")
    begin = [[passage] for passage in kills.passages(kills.prologue(trace))]
    if DEEP:
        return begin + [in_order(some) for some in kills.rounds(points)]
    kubelet = [point for point in points if point.begin.startswith("unit-state") and point.name == "bus.call.after"]
    others = sorted({point.step for point in points} - {kubelet[0].step})
    rounds = [[dice.choice([point for point in points if point.step == step])
               for step in dice.sample(others, KILLS_IN_ROUND - 1)] for _ in range(ROUNDS - 1)]
    return [dice.choice(begin), *(in_order([*some, dice.choice(kubelet)]) for some in rounds)]


def in_order(points: Sequence[kills.Point]) -> list[str]:
    """KUBEXM_CRASH_AT of each."""
    return [point.passage for point in sorted(points, key=lambda point: (point.step, point.place))]


def test_both_killed(course):
    """Each while the other is away or not yet back."""
    course.forth({AGENT: ["plan.accepted:1"], EXECUTOR: ["file.rename.after:1", "bus.call.after:1"]})
    course.back({AGENT: ["plan.accepted:1"], EXECUTOR: ["bus.call.before:1", "dir.remove.after:1"]})


def test_kubexmd_killed_three_times_in_a_row(course):
    course.forth({AGENT: IN_A_ROW_FORTH})
    course.back({AGENT: IN_A_ROW_BACK})


def test_the_power_is_cut(course):
    """In the middle of the join and when the node is Ready."""
    host, node = course.host, course.host.node
    node.reboot()  # for a snapshot as after the power cuts: without the settings that kill processes
    course.rest()
    course.before = snapshot.settled(node)
    assignment.scale(course.side, 1)
    host.wait("a plan that runs", lambda: (host.status().get("plan") or {}).get("state") == "running")
    for moment in ("while the plan ran", "when the node was Ready"):
        node.kill()
        course.side.cluster.kubectl("delete", "node", "--all")
        node.boot()
        course.check_joined(f"power cut {moment}")
    course.back({})
    course.settle()
