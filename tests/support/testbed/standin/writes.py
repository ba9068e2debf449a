"""How the manager publishes what a reconcile changed: one deferred write, split in three requests.

First the conditions, with the resourceVersion of a fresh read; then metadata and spec; then the rest
of the status. The last two carry no resourceVersion. Agents see every step in between, and the order
is part of what they must live with.
"""

from testbed.standin import conditions
from testbed.standin.client import ApiError, Client
from testbed.standin.objects import at, difference

TRIES = 5


def split(before: dict, after: dict) -> tuple[dict, dict]:
    """The patches for the object and for its status without the conditions."""
    def body(value: dict) -> dict:
        return {name: part for name, part in value.items() if name != "status"}

    def status(value: dict) -> dict:
        return {name: part for name, part in at(value, "status", default={}).items() if name != "conditions"}

    changed = difference(status(before), status(after))
    return difference(body(before), body(after)), {"status": changed} if changed else {}


def publish(client: Client, resource: str, before: dict, after: dict) -> None:
    patch, status_patch = split(before, after)
    _publish_conditions(client, resource, before, after)
    if patch:
        client.merge(resource, before, patch)
    if status_patch:
        client.merge(resource, before, status_patch, "status")


def _publish_conditions(client: Client, resource: str, before: dict, after: dict) -> None:
    changed = conditions.changed(before, after)
    for attempt in range(TRIES if changed else 0):
        meta = before["metadata"]
        fresh = client.get(resource, meta["namespace"], meta["name"])
        if fresh is None:
            return
        patch = {"metadata": {"resourceVersion": fresh["metadata"]["resourceVersion"]},
                 "status": {"conditions": conditions.merge(fresh, changed)}}
        try:
            client.merge(resource, before, patch, "status")
            return
        except ApiError as error:
            if error.status != 409 or attempt == TRIES - 1:
                raise
