"""The smaller controllers: hosts that do not clean up, clusters, installers, certificate requests."""

import copy
import logging
import os
from datetime import datetime, timezone

from testbed.standin import approval, cleanup, hosts, installer, names, writes
from testbed.standin.client import ApiError, Client
from testbed.standin.objects import add_finalizer, at, remove_finalizer

AGAIN_SECONDS = 10
log = logging.getLogger("controllers")


class ByoHosts:
    """Releases hosts by force when their agents do not. `timeout_factor` is a factor on the time they have."""

    def __init__(self, client: Client, timeout_factor: float):
        self._client, self._timeout_factor = client, timeout_factor

    def reconcile(self, namespace: str, name: str) -> float | None:
        host = self._client.get("byohosts", namespace, name)
        if host is None or not cleanup.is_asked(host):
            return None
        now = datetime.now(timezone.utc)
        started = cleanup.started_at(host)
        if started is None:
            after = hosts.annotated(host, names.ANNOTATION_CLEANUP_STARTED, now.strftime("%Y-%m-%dT%H:%M:%SZ"))
            writes.publish(self._client, "byohosts", host, after)
            return AGAIN_SECONDS
        if now - started < cleanup.timeout(host, os.environ.get("BYOH_HOST_CLEANUP_TIMEOUT", "")) * self._timeout_factor:
            return AGAIN_SECONDS
        self._force(host, now)
        return None

    def _force(self, host: dict, now: datetime) -> None:
        name = host["metadata"]["name"]
        # In the management cluster, even when the Node lives in another; and when there is one of this
        # name here, the manager may not delete it and never gets further. Both on purpose.
        if self._client.get("nodes", "", name):
            self._client.delete("nodes", "", name)
        writes.publish(self._client, "byohosts", host, cleanup.forced(host, now))
        log.info("host %s released by force", name)


class ByoClusters:
    def __init__(self, client: Client):
        self._client = client

    def reconcile(self, namespace: str, name: str) -> float | None:
        before = self._client.get("byoclusters", namespace, name)
        if before is None:
            return None
        after = copy.deepcopy(before)
        if "deletionTimestamp" in before["metadata"]:
            if self._client.find("byomachines", namespace, f"{names.LABEL_CLUSTER}={name}"):
                return AGAIN_SECONDS
            remove_finalizer(after, names.FINALIZER_CLUSTER)
        else:
            prepare_cluster(after)
        writes.publish(self._client, "byoclusters", before, after)
        return None


def prepare_cluster(byo_cluster: dict) -> None:
    add_finalizer(byo_cluster, names.FINALIZER_CLUSTER)
    where = at(byo_cluster, "spec", "controlPlaneEndpoint")
    if where is not None and not where.get("port"):
        where["port"] = 6443
    byo_cluster.setdefault("status", {})["ready"] = True


class Installers:
    def __init__(self, client: Client):
        self._client = client

    def reconcile(self, namespace: str, name: str) -> float | None:
        before = self._client.get("k8sinstallerconfigs", namespace, name)
        if before is None:
            return None
        after = copy.deepcopy(before)
        if "deletionTimestamp" in before["metadata"]:
            remove_finalizer(after, names.FINALIZER_INSTALLER)
        else:
            add_finalizer(after, names.FINALIZER_INSTALLER)
        writes.publish(self._client, "k8sinstallerconfigs", before, after)
        byo_machine = self._client.get("byomachines", namespace, name)
        if installer.is_due(before, byo_machine) and installer.supports(byo_machine):
            self._install(before, byo_machine)
        return None

    def _install(self, config: dict, byo_machine: dict) -> None:
        namespace, name = config["metadata"]["namespace"], config["metadata"]["name"]
        if self._client.get("secrets", namespace, name) is None:
            self._client.create("secrets", installer.secret(config, byo_machine, self._any_kubeconfig(namespace)))
        self._client.merge("k8sinstallerconfigs", config, installer.ready_status(config), "status")

    def _any_kubeconfig(self, namespace: str) -> str | None:
        known = self._client.find("bootstrapkubeconfigs", namespace)
        return next(filter(None, (at(item, "status", "bootstrapKubeconfigData") for item in known)), None)


class CertificateRequests:
    def __init__(self, client: Client):
        self._client = client

    def reconcile(self, namespace: str, name: str) -> float | None:
        request = self._client.get("certificatesigningrequests", namespace, name)
        if request is None or not approval.is_wanted(request):
            return None
        try:
            self._client.put("certificatesigningrequests", approval.approved(request), "approval")
            log.info("certificate request %s approved", name)
        except ApiError as error:  # kubelets' client certificates: the manager's role lacks the right. On purpose.
            if error.status != 403:
                raise
            log.warning("certificate request %s not approved: %s", name, error)
        return None
