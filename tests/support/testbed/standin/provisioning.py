"""Bringing a ByoMachine from its creation to a Node, one step further each time it is looked at."""

from datetime import datetime

from testbed.standin import conditions, events, hosts, installer, names, workload
from testbed.standin.attach import Attacher
from testbed.standin.client import Client
from testbed.standin.objects import add_finalizer, at
from testbed.standin.scope import Scope


class NoHost(Exception):
    """No host is free; it is tried again, later and later."""


class Provisioning:
    def __init__(self, client: Client, attacher: Attacher, scope: Scope, now: datetime):
        self._client, self._attacher, self._scope, self._now = client, attacher, scope, now
        self._machine = scope.byo_machine
        self._key = (scope.namespace, scope.byo_machine["metadata"]["name"])

    def run(self, host: dict | None) -> bool:
        """Does what can be done now; False when something must be looked for again after a while."""
        add_finalizer(self._machine, names.FINALIZER_MACHINE)
        self._ensure_installer()
        if reason := missing(self._scope):
            self._wait(reason)
            return True  # a change of the Cluster or the Machine brings us back
        host = host or self._attach()
        self._copy_host_info(host)
        if not self._hand_over_installation(host):
            self._wait(names.NO_INSTALLATION_SECRET)
            return False
        return self._find_node(host)

    def _wait(self, reason: str) -> None:
        conditions.mark_false(self._machine, names.CONDITION_HOST_READY, reason, self._now)

    def _tell(self, kind: str, reason: str, message: str) -> None:
        events.emit(self._client, self._machine, kind, reason, message, self._now)

    def _ensure_installer(self) -> None:
        wanted = self._machine["spec"].get("installerRef")
        if not wanted or self._client.get("k8sinstallerconfigs", *self._key):
            return
        if not wanted.get("namespace"):  # the real manager looks for it there and nowhere else. On purpose.
            raise ValueError("spec.installerRef: an empty namespace may not be set when a resource name is provided")
        template = self._client.get("k8sinstallerconfigtemplates", wanted["namespace"], wanted["name"])
        if template is None:
            raise ValueError(f"K8sInstallerConfigTemplate {wanted['namespace']}/{wanted['name']} not found")
        self._client.create("k8sinstallerconfigs", installer.config(template, self._scope))

    def _attach(self) -> dict:
        host = self._attacher.attach(self._scope, self._now)
        if host is None:
            self._wait(names.NO_HOSTS)
            self._tell("Warning", "ByoHostSelectionFailed", "No available ByoHost")
            raise NoHost(f"no free ByoHost for ByoMachine {'/'.join(self._key)}")
        return host

    def _copy_host_info(self, host: dict) -> None:
        """Once: the installer is chosen by it, and a host's system does not change under a machine."""
        info = at(self._machine, "status", "hostinfo") or at(host, "status", "hostinfo")
        if info:
            self._machine.setdefault("status", {})["hostinfo"] = info

    def _hand_over_installation(self, host: dict) -> bool:
        """Copies the reference of the installation secret to the host; False while there is none."""
        if not self._machine["spec"].get("installerRef") or at(host, "spec", "installationSecret"):
            return True
        config = self._client.get("k8sinstallerconfigs", *self._key)
        if not at(config, "status", "ready"):
            return False
        self._client.merge("byohosts", host, {"spec": {"installationSecret": config["status"]["installationSecret"]}})
        return True

    def _find_node(self, host: dict) -> bool:
        target = workload.client(self._client, self._scope.cluster)
        if target is None:
            raise ValueError(f"secret {self._scope.cluster['metadata']['name']}-kubeconfig not found")
        node = target.get("nodes", "", host["metadata"]["name"])
        if node is None:
            self._wait(names.WAITING_FOR_NODE)
            return False
        current = at(node, "spec", "providerID", default="")
        identity = hosts.provider_id(host, current)
        if identity != current:
            target.merge("nodes", node, {"spec": {"providerID": identity}})
        self._finish(host, node, identity)
        return True

    def _finish(self, host: dict, node: dict, identity: str) -> None:
        name = node["metadata"]["name"]
        if not at(self._machine, "status", "ready"):
            self._tell("Normal", "NodeProvisionedSucceeded", f"Provisioned Node {name}")
        self._machine["spec"]["providerID"] = identity
        self._machine.setdefault("status", {}).update(
            ready=True, addresses=hosts.machine_addresses(host),
            nodeRef={"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]})
        conditions.mark_true(self._machine, names.CONDITION_HOST_READY, self._now)


def missing(scope: Scope) -> str | None:
    """The reason to wait before a host is taken."""
    if not at(scope.cluster, "status", "infrastructureReady"):
        return names.WAITING_FOR_INFRASTRUCTURE
    if not scope.joins_by_tls and not at(scope.machine, "spec", "bootstrap", "dataSecretName"):
        return names.WAITING_FOR_BOOTSTRAP_DATA
    return None
