"""The rounds in which the executor is killed meet every kind of point, and each point where it can be met."""

import random

from testbed.executor import kills

TRACE = ["plan.begin.before",
         "sysctl-0", "file.write.before", "file.write.after", "file.write.before", "journal.commit.before",
         "sysctl-1", "file.write.before",
         "claim-2", "journal.commit.before",
         "symlink-3", "link.make.before"]
POINTS = kills.points(TRACE)


def test_kinds_are_those_of_types_of_steps():
    assert {point.kind for point in POINTS} == {
        ("sysctl", "begin"), ("sysctl", "file.write.before"), ("sysctl", "file.write.after"),
        ("sysctl", "journal.commit.before"), ("claim", "begin"), ("claim", "journal.commit.before"),
        ("symlink", "begin"), ("symlink", "link.make.before")}


def test_rounds_of_kinds_meet_each_kind_once():
    for seed in range(20):
        rounds = kills.rounds_of_kinds(POINTS, random.Random(seed))
        met = [point.kind for points in rounds for point in points]
        assert sorted(met) == sorted({point.kind for point in POINTS})
        for points in rounds:
            assert points == sorted(points, key=lambda point: point.step) and len({point.step for point in points}) == len(points)
            assert len(points) == 1 or "claim" not in {point.kind[0] for point in points}, "it holds already"
