"""Giving a host to a ByoMachine."""

import base64
import logging
from datetime import datetime

from testbed.standin import bootstrap_data, events, hosts, names, node_config, selection, workload, writes
from testbed.standin.client import ApiError, Client
from testbed.standin.objects import at, owner_reference
from testbed.standin.scope import Scope

TRIES = 5
log = logging.getLogger("attach")


class Attacher:
    def __init__(self, client: Client):
        self._client = client
        self._turns: dict[str, int] = {}  # cluster -> how many hosts it has been given

    def attach(self, scope: Scope, now: datetime) -> dict | None:
        """Returns the host, None when there is none to be had."""
        host = self._claim(scope, now)
        if host is None:
            return None
        after = hosts.attached(host, scope, self._secret(scope, now))
        writes.publish(self._client, "byohosts", host, after)
        writes.publish(self._client, "byohosts", after, hosts.annotated(after, names.ANNOTATION_LEASE, None))
        log.info("host %s attached to %s", host["metadata"]["name"], hosts.machine_label(scope.byo_machine))
        self._tell(scope, after, now)
        return after

    def _claim(self, scope: Scope, now: datetime) -> dict | None:
        """Takes the lease of a host by an update, which fails when somebody else changed the host."""
        for _ in range(TRIES):
            found = selection.candidates(self._client.find("byohosts"), scope.byo_machine, now)
            if not found:
                return None
            host = found[self._next_turn(scope.cluster) % len(found)]
            leased = hosts.annotated(host, names.ANNOTATION_LEASE, selection.lease(scope.byo_machine, now))
            try:
                return self._client.put("byohosts", leased)
            except ApiError as error:
                if error.status != 409:
                    raise
        return None

    def _next_turn(self, cluster: dict) -> int:
        uid = cluster["metadata"]["uid"]
        self._turns[uid] = self._turns.get(uid, -1) + 1
        return self._turns[uid]

    def _secret(self, scope: Scope, now: datetime) -> str:
        """The name of the bootstrap secret; in TLS mode it is made here."""
        if not scope.joins_by_tls:
            return scope.machine["spec"]["bootstrap"]["dataSecretName"]
        secret = tls_secret(scope, self._tls_values(scope, now))
        # Fails when the secret exists, and then attaching fails for ever. On purpose.
        return self._client.create("secrets", secret)["metadata"]["name"]

    def _tls_values(self, scope: Scope, now: datetime) -> dict[str, str]:
        target = workload.client(self._client, scope.cluster)
        values = bootstrap_data.gather(self._client, scope, now)
        made = {
            "kubelet-config.yaml": node_config.kubelet(target, scope.machine["spec"]["version"]),
            "kube-proxy-config.yaml": node_config.kube_proxy(target),
            "kube-proxy.kubeconfig": node_config.kube_proxy_kubeconfig(target, values["bootstrap-kubeconfig"]),
        }
        return made | values

    def _tell(self, scope: Scope, host: dict, now: datetime) -> None:
        events.emit(self._client, host, "Normal", "ByoHostAttachSucceeded",
                    f"Attached to ByoMachine {scope.byo_machine['metadata']['name']}", now)
        events.emit(self._client, scope.byo_machine, "Normal", "ByoHostAttachSucceeded",
                    f"Attached ByoHost {host['metadata']['name']}", now)


def tls_secret(scope: Scope, values: dict[str, str]) -> dict:
    meta = scope.byo_machine["metadata"]
    return {
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": f"{meta['name']}-tls-bootstrap", "namespace": meta["namespace"],
                     "ownerReferences": [owner_reference(scope.byo_machine)]},
        "data": {name: base64.b64encode(value.encode()).decode() for name, value in values.items()},
    }


def find_attached(client: Client, byo_machine: dict) -> dict | None:
    """The host that carries a ByoMachine's label."""
    found = client.find("byohosts", selector=f"{names.LABEL_BYO_MACHINE}={hosts.machine_label(byo_machine)}")
    return found[0] if found else None


def find_referring(client: Client, byo_machine: dict) -> dict | None:
    """The host whose reference names a ByoMachine, label or not."""
    uid = byo_machine["metadata"]["uid"]
    return next((host for host in client.find("byohosts") if at(host, "status", "machineRef", "uid") == uid), None)
