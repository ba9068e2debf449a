"""What every benchmark prints: a table for people and, last, one line of JSON for machines."""

import json
import os
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """The median of several measurements; the floor is the least that could be, measured in the same run."""

    ours: float
    unit: str
    floor: float | None = None
    goal: float | None = None

    @property
    def ratio(self) -> float | None:
        return self.ours / self.floor if self.floor else None

    @property
    def misses_goal(self) -> bool:
        return self.goal is not None and self.ours > self.goal


def rounds(quick: int, deep: int) -> int:
    """How often to measure: machines are noisy, so the median of several runs is shown."""
    return deep if os.environ.get("KUBEXM_TEST_DEEP") else quick


def middle(values: list[float]) -> float:
    return statistics.median(values)


def show(bench: str, figures: dict[str, Figure]) -> int:
    """Prints them; returns the exit code of the benchmark, which says whether every goal is met."""
    print(f"{'figure':<24}{'ours':>12}{'floor':>12}{'ratio':>8}  goal")
    for key, figure in figures.items():
        floor = f"{figure.floor:.1f}" if figure.floor is not None else "-"
        ratio = f"{figure.ratio:.2f}" if figure.ratio is not None else "-"
        print(f"{key:<24}{figure.ours:>9.1f} {figure.unit:<2}{floor:>12}{ratio:>8}  {_against_goal(figure)}")
    print(json.dumps({"bench": bench, "figures": {key: _as_json(figure) for key, figure in figures.items()}}))
    return 1 if any(figure.misses_goal for figure in figures.values()) else 0


def _against_goal(figure: Figure) -> str:
    if figure.goal is None:
        return "-"
    return f"{figure.goal:g} {figure.unit}: {'MISSED' if figure.misses_goal else 'met'}"


def _as_json(figure: Figure) -> dict:
    return {"ours": figure.ours, "floor": figure.floor, "ratio": figure.ratio, "unit": figure.unit}
