"""The life of a ByoMachine: waits for what it needs, takes a host, waits for the Node, gives it back."""

import copy
import logging
from datetime import datetime, timezone

from testbed.standin import attach, conditions, events, hosts, names, scope as scopes, writes
from testbed.standin.client import ApiError, Client
from testbed.standin.objects import annotations, remove_finalizer
from testbed.standin.provisioning import Provisioning
from testbed.standin.scope import Scope

AGAIN_SECONDS = 10
log = logging.getLogger("byomachine")


class ByoMachines:
    def __init__(self, client: Client):
        self._client = client
        self._attacher = attach.Attacher(client)

    def reconcile(self, namespace: str, name: str) -> float | None:
        """Returns after how many seconds to look again."""
        before = self._client.get("byomachines", namespace, name)
        scope = before and scopes.load(self._client, copy.deepcopy(before))
        if not scope:
            return None
        try:
            return self._progress(scope, datetime.now(timezone.utc))
        finally:  # also when something failed: what was decided until then is published
            self._publish(before, scope.byo_machine)

    def _publish(self, before: dict, after: dict) -> None:
        try:
            writes.publish(self._client, "byomachines", before, after)
        except ApiError as error:  # the object goes when its finalizer does, before its last status
            if error.status != 404 or "deletionTimestamp" not in after["metadata"]:
                raise

    def _progress(self, scope: Scope, now: datetime) -> float | None:
        host = attach.find_attached(self._client, scope.byo_machine)
        if scope.is_paused:
            self._mirror_pause(host, "")
            conditions.mark_false(scope.byo_machine, names.CONDITION_HOST_READY, names.PAUSED, now)
            return None
        if "deletionTimestamp" in scope.byo_machine["metadata"]:
            return self._release(scope, host, now)
        host = self._mirror_pause(host, None)
        done = Provisioning(self._client, self._attacher, scope, now).run(host)
        return None if done else AGAIN_SECONDS

    def _mirror_pause(self, host: dict | None, value: str | None) -> dict | None:
        """A paused machine's host carries the annotation too: its agent is to stand still."""
        if host is None or annotations(host).get(names.ANNOTATION_PAUSED) == value:
            return host
        after = hosts.annotated(host, names.ANNOTATION_PAUSED, value)
        writes.publish(self._client, "byohosts", host, after)
        return after

    def _release(self, scope: Scope, host: dict | None, now: datetime) -> float | None:
        """The ByoMachine stays until the agent has taken the host's label away. On purpose."""
        host = host or attach.find_referring(self._client, scope.byo_machine)
        status = scope.byo_machine.setdefault("status", {})
        if host is None or "deletionTimestamp" in host["metadata"]:
            status["cleanupCompleted"] = True
            remove_finalizer(scope.byo_machine, names.FINALIZER_MACHINE)
            return None
        writes.publish(self._client, "byohosts", host, hosts.released(host))
        if not status.get("cleanupStarted"):
            log.info("host %s asked to clean up", host["metadata"]["name"])
            events.emit(self._client, host, "Normal", "ByoHostReleaseSucceeded",
                        f"ByoHost Released by {scope.byo_machine['metadata']['name']}", now)
        status["cleanupStarted"] = True
        return AGAIN_SECONDS
