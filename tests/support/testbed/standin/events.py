"""Events on objects, as people see them in `kubectl describe`."""

import time
from datetime import datetime

from testbed.standin.client import Client
from testbed.standin.objects import reference


def emit(client: Client, about: dict, kind: str, reason: str, message: str, now: datetime) -> None:
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    client.create("events", {
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"namespace": about["metadata"]["namespace"],
                     "name": f"{about['metadata']['name']}.{time.time_ns():x}"},
        "involvedObject": reference(about),
        "type": kind, "reason": reason, "message": message, "count": 1,
        "firstTimestamp": stamp, "lastTimestamp": stamp, "source": {"component": "byomachine-controller"},
    })
