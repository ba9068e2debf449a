"""The workload cluster of a Cluster, reached with its `<cluster>-kubeconfig` secret."""

import base64
import functools

from testbed.standin.client import Client
from testbed.standin.objects import at


def client(management: Client, cluster: dict) -> Client | None:
    meta = cluster["metadata"]
    secret = management.get("secrets", meta["namespace"], f"{meta['name']}-kubeconfig")
    text = at(secret, "data", "value")
    return _client(base64.b64decode(text).decode()) if text else None


@functools.lru_cache(maxsize=16)
def _client(kubeconfig: str) -> Client:
    return Client(kubeconfig)
