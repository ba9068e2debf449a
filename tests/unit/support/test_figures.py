"""The last line of a benchmark is what machines read."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from figures import Figure, show  # noqa: E402  (needs the line above)


def test_the_last_line_is_the_documented_json(capsys):
    show("join", {"ready_ms": Figure(ours=1500, floor=1000, unit="ms", goal=2000), "pss_mb": Figure(ours=12, unit="MB")})
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last == {"bench": "join", "figures": {
        "ready_ms": {"ours": 1500, "floor": 1000, "ratio": 1.5, "unit": "ms"},
        "pss_mb": {"ours": 12, "floor": None, "ratio": None, "unit": "MB"}}}


def test_a_missed_goal_is_said(capsys):
    code = show("rest", {"start_ms": Figure(ours=150, unit="ms", goal=100), "pss_mb": Figure(ours=12, unit="MB", goal=14)})
    table = capsys.readouterr().out.splitlines()
    assert "MISSED" in table[1] and "met" in table[2]
    assert code == 1


def test_a_benchmark_that_meets_its_goals_succeeds():
    assert show("rest", {"start_ms": Figure(ours=100, unit="ms", goal=100), "size": Figure(ours=1, unit="MB")}) == 0
