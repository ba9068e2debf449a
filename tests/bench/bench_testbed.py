"""How long the testbed itself makes people wait: a node, a control plane, a snapshot."""

import sys
import time
from collections.abc import Callable

from figures import Figure, middle, rounds, show
from testbed.cluster import Cluster
from testbed.node import Node


def milliseconds(action: Callable[[], object]) -> float:
    started = time.monotonic()
    action()
    return (time.monotonic() - started) * 1000


def boot_and_snapshot(suite: str) -> tuple[float, float]:
    with Node(suite=suite) as node:
        return node.boot_seconds * 1000, milliseconds(node.snapshot)


def start_cluster() -> None:
    with Cluster():
        pass


def main() -> int:
    count = rounds(quick=3, deep=10)
    booted = {suite: [boot_and_snapshot(suite) for _ in range(count)] for suite in ("bookworm", "trixie")}
    clusters = [milliseconds(start_cluster) for _ in range(count)]
    figures = {f"node_{suite}_ms": Figure(middle([boot for boot, _ in runs]), "ms", goal=3000)
               for suite, runs in booted.items()}
    figures["snapshot_ms"] = Figure(middle([taken for _, taken in booted["bookworm"]]), "ms")
    figures["cluster_ms"] = Figure(middle(clusters), "ms", goal=6000)
    return show("testbed", figures)


if __name__ == "__main__":
    sys.exit(main())
