"""Everything that a decision about one ByoMachine needs to know."""

from dataclasses import dataclass

from testbed.standin import names
from testbed.standin.client import Client
from testbed.standin.objects import annotations, at, labels


@dataclass
class Scope:
    byo_machine: dict
    machine: dict
    cluster: dict
    byo_cluster: dict

    @property
    def namespace(self) -> str:
        return self.byo_machine["metadata"]["namespace"]

    @property
    def joins_by_tls(self) -> bool:
        return self.byo_machine["spec"].get("joinMode") == names.JOIN_TLS

    @property
    def is_paused(self) -> bool:
        return bool(at(self.cluster, "spec", "paused")) or names.ANNOTATION_PAUSED in annotations(self.byo_machine)


def load(client: Client, byo_machine: dict) -> Scope | None:
    """None while Cluster API has not connected the ByoMachine to its Machine and Cluster yet."""
    namespace = byo_machine["metadata"]["namespace"]
    machine = _get(client, "machines", namespace, owner(byo_machine, "Machine"))
    cluster = _get(client, "clusters", namespace, labels(byo_machine).get(names.LABEL_CLUSTER))
    byo_cluster = _get(client, "byoclusters", namespace, at(cluster, "spec", "infrastructureRef", "name"))
    if machine is None or cluster is None or byo_cluster is None:
        return None
    return Scope(byo_machine, machine, cluster, byo_cluster)


def owner(value: dict, kind: str) -> str | None:
    """The name of the object's owner of a kind."""
    owners = at(value, "metadata", "ownerReferences", default=[])
    return next((item["name"] for item in owners if item["kind"] == kind), None)


def _get(client: Client, resource: str, namespace: str, name: str | None) -> dict | None:
    return client.get(resource, namespace, name) if name else None
