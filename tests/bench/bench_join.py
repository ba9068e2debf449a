"""How long a host takes to become a node and to be free again, once its management cluster says so; and to repair itself.

Ours is timed by what the API server makes visible: from the host's machineRef to the Node's Ready, and
from the order to release it to the end of that order. The orders are written by hand: Cluster API's managers
are busy for a second around each of theirs, on the cores that kubexmd and kubelet need, and the floors have
no such company. The floors are what a person does by hand on the same kind of node: a stock kubelet's TLS
bootstrap, with every file in place, and `kubeadm reset` of that node, which leaves the Node, kubelet's unit,
packet filters and kernel settings as they are. No pods.
"""

import contextlib
import sys
import time
from collections.abc import Iterator

from figures import Figure, middle, rounds, show
from release import TREE, find_libraries
from testbed import host as hosts
from testbed import assignment, management, stock_kubelet, worker
from testbed.care import is_whole, restarted, restored
from testbed.cluster import Cluster
from testbed.host import Host
from testbed.management.side import Management
from testbed.node import Node
from testbed.standin import names
from testbed.watching import Watch

MOST_OF_STOCK = 1.25  # times a stock kubelet of the same run
MOST_RELEASE_MS = 500
MOST_REPAIR_MS = 2000
MOST_PREFLIGHT_MS = 300


def is_ready(node: dict) -> bool:
    found = node["status"].get("conditions", [])
    return any(item["type"] == "Ready" and item["status"] == "True" for item in found)


def is_given(host: dict) -> bool:
    return "machineRef" in host.get("status", {})


def is_called_back(host: dict) -> bool:
    return names.ANNOTATION_UNREGISTERING in host["metadata"].get("annotations", {})


def is_free(host: dict) -> bool:
    return not is_called_back(host)


@contextlib.contextmanager
def usual_node() -> Iterator[Node]:
    """With the generators that nodes of tests do without: a host has them, and systemd runs them at every reload."""
    with Node() as node:
        node.run(["rm", "-r", "/etc/systemd/system-generators"])
        yield node


@contextlib.contextmanager
def watches(cluster: Cluster) -> Iterator[tuple[Watch, Watch]]:
    text = cluster.kubeconfig.read_text()
    with Watch(text, "byohosts") as byohosts, Watch(text, "nodes") as nodes:
        yield byohosts, nodes
    cluster.kubectl("delete", "byohosts,nodes", "--all")  # the next round has a node of the same name


def checked(node: Node) -> float:
    """Seconds for all checks of the executor before a join, with the command that asks for them."""
    started = time.monotonic()
    node.run(["kubexmctl", "preflight"])
    return time.monotonic() - started


def ours(side: Management) -> tuple[float, float, float, float]:
    with watches(side.cluster) as (byohosts, nodes), usual_node() as node:
        host = Host(node, TREE)
        find_libraries(node)
        host.enrol(side.cluster)
        host.wait_for_phase("waiting")
        preflight = checked(node)
        assignment.assign(side, host, assignment.bootstrap_data(side.cluster))
        given = byohosts.moment("an assignment", node.name, is_given)
        ready = nodes.moment("a Ready Node", node.name, is_ready, after=given)
        host.wait_for_phase("joined")
        repaired = max(restarted(node), restored(node))
        host.wait("a whole node", lambda: is_whole(host))
        side.wait_for("its Node", lambda: is_ready(side.cluster.get("node", node.name)))
        assignment.annotate(side, host, assignment.UNREGISTERING)
        called_back = byohosts.moment("the order to release", node.name, is_called_back, after=ready)
        free = byohosts.moment("a free host", node.name, is_free, after=called_back)
        return ready - given, free - called_back, repaired, preflight


def by_hand(cluster: Cluster) -> tuple[float, float]:
    with watches(cluster) as (_, nodes), usual_node() as node:
        worker.prepare(node, programs=("kubelet", "kubeadm"))
        stock_kubelet.configure(node, cluster, cluster.create_bootstrap_token())
        started = time.monotonic()
        stock_kubelet.start(node)
        ready = nodes.moment("a Ready Node", node.name, is_ready)
        called_back = time.monotonic()
        node.run(["kubeadm", "reset", "--force"])
        return ready - started, time.monotonic() - called_back


def main() -> int:
    with management.started("kubexm", "bench") as side:
        hosts.allow_bootstrapping(side.cluster)
        hosts.allow_self_delete(side.cluster)
        stock_kubelet.allow_bootstrapping(side.cluster)
        measured = [(ours(side), by_hand(side.cluster)) for _ in range(rounds(quick=5, deep=20))]

    def median_ms(who: int, index: int) -> float:
        return middle([pair[who][index] for pair in measured]) * 1000

    stock_ready = median_ms(1, 0)
    return show("join", {
        "ready_ms": Figure(median_ms(0, 0), "ms", floor=stock_ready, goal=MOST_OF_STOCK * stock_ready),
        "release_ms": Figure(median_ms(0, 1), "ms", floor=median_ms(1, 1), goal=MOST_RELEASE_MS),
        "repair_ms": Figure(median_ms(0, 2), "ms", goal=MOST_REPAIR_MS),
        "preflight_ms": Figure(median_ms(0, 3), "ms", goal=MOST_PREFLIGHT_MS),
    })


if __name__ == "__main__":
    sys.exit(main())
