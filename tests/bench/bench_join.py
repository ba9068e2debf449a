"""How long a host takes to become a node and to be free again, once its management cluster says so.

Ours is timed by what the API server makes visible: from the host's machineRef to the Node's Ready, and
from the order to release it to the end of its label. The floors are what a person does by hand on the
same kind of node: a stock kubelet's TLS bootstrap, with every file in place, and `kubeadm reset` of that
node, which leaves the Node, kubelet's unit, packet filters and kernel settings as they are. No pods.
"""

import contextlib
import sys
import time
from collections.abc import Iterator

from figures import Figure, middle, rounds, show
from release import TREE, find_libraries
from testbed import host as hosts
from testbed import management, stock_kubelet, worker
from testbed.cluster import Cluster
from testbed.host import Host
from testbed.management import example
from testbed.management.side import Management
from testbed.node import Node
from testbed.standin import names
from testbed.watching import Watch

MOST_OF_STOCK = 1.25  # times a stock kubelet of the same run
MOST_RELEASE_MS = 500
PACE = 0.05  # of the stand-in's waits, none of which is inside of what is timed


def is_ready(node: dict) -> bool:
    found = node["status"].get("conditions", [])
    return any(item["type"] == "Ready" and item["status"] == "True" for item in found)


def is_given(host: dict) -> bool:
    return "machineRef" in host.get("status", {})


def is_called_back(host: dict) -> bool:
    return names.ANNOTATION_UNREGISTERING in host["metadata"].get("annotations", {})


def is_free(host: dict) -> bool:
    return names.LABEL_BYO_MACHINE not in host["metadata"].get("labels", {})


def scale(side: Management, replicas: int) -> None:
    side.cluster.kubectl("scale", "machinedeployment", example.DEPLOYMENT, f"--replicas={replicas}")


def machine_phases(side: Management) -> list[str]:
    found = side.cluster.api.get("/apis/cluster.x-k8s.io/v1beta1/machines")["items"]
    return [item.get("status", {}).get("phase", "") for item in found]


@contextlib.contextmanager
def watches(cluster: Cluster) -> Iterator[tuple[Watch, Watch]]:
    text = cluster.kubeconfig.read_text()
    with Watch(text, "byohosts") as byohosts, Watch(text, "nodes") as nodes:
        yield byohosts, nodes
    cluster.kubectl("delete", "byohosts,nodes", "--all")  # the next round has a node of the same name


def ours(side: Management) -> tuple[float, float]:
    with watches(side.cluster) as (byohosts, nodes), Node() as node:
        host = Host(node, TREE)
        find_libraries(node)
        host.enrol(side.cluster)
        host.wait_for_phase("waiting")
        scale(side, 1)
        given = byohosts.moment("an assignment", node.name, is_given)
        ready = nodes.moment("a Ready Node", node.name, is_ready, after=given)
        side.wait_for("a running Machine", lambda: machine_phases(side) == ["Running"])
        scale(side, 0)
        called_back = byohosts.moment("the order to release", node.name, is_called_back, after=ready)
        free = byohosts.moment("a free host", node.name, is_free, after=called_back)
        side.wait_for("the end of the Machine", lambda: not machine_phases(side))
        return ready - given, free - called_back


def by_hand(cluster: Cluster) -> tuple[float, float]:
    with watches(cluster) as (_, nodes), Node() as node:
        worker.prepare(node, programs=("kubelet", "kubeadm"))
        stock_kubelet.configure(node, cluster, cluster.create_bootstrap_token())
        started = time.monotonic()
        stock_kubelet.start(node)
        ready = nodes.moment("a Ready Node", node.name, is_ready)
        called_back = time.monotonic()
        node.run(["kubeadm", "reset", "--force"])
        return ready - started, time.monotonic() - called_back


def main() -> int:
    with Cluster("bench") as cluster, management.start("kubexm", cluster, pace=PACE) as side:
        hosts.allow_bootstrapping(cluster)
        hosts.allow_self_delete(cluster)
        stock_kubelet.allow_bootstrapping(cluster)
        side.apply(example.objects(cluster, replicas=0))
        measured = [(ours(side), by_hand(cluster)) for _ in range(rounds(quick=5, deep=20))]
    (ready, release), (stock_ready, stock_release) = (
        [middle([pair[who][index] for pair in measured]) * 1000 for index in (0, 1)] for who in (0, 1))
    return show("join", {
        "ready_ms": Figure(ready, "ms", floor=stock_ready, goal=MOST_OF_STOCK * stock_ready),
        "release_ms": Figure(release, "ms", floor=stock_release, goal=MOST_RELEASE_MS),
    })


if __name__ == "__main__":
    sys.exit(main())
