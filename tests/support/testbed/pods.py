"""Pods of a test, on a node of its choice."""

import yaml

from testbed import worker
from testbed.cluster import Cluster
from testbed.host import Host


def run(cluster: Cluster, host: Host, name: str) -> None:
    """A pod runs on the host and answers."""
    cluster.apply(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"nodeName": host.node.name, "containers": [
            {"name": "greeter", "image": worker.GREETER, "imagePullPolicy": "Never"}]}}))
    address = host.wait(f"an address of pod {name}", lambda: cluster.get("pod", name)["status"].get("podIP"))
    host.wait(f"pod {name} to answer", lambda: "greetings" in host.node.run(
        ["curl", "-s", "--max-time", "5", f"http://{address}:8080"], check=False).stdout)
