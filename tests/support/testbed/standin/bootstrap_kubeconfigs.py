"""Fills BootstrapKubeconfig objects: what an operator copies to a host that is to register."""

from datetime import datetime, timezone

from testbed.standin import hosts, names, scope, tokens
from testbed.standin.client import Client
from testbed.standin.objects import at, labels


class BootstrapKubeconfigs:
    def __init__(self, client: Client):
        self._client = client

    def reconcile(self, namespace: str, name: str) -> float | None:
        """Mints once. The real manager mints again at each change it makes itself, thousands of tokens
        in minutes; that is the one defect left out, because it drowns everything else."""
        wanted = self._client.get("bootstrapkubeconfigs", namespace, name)
        if wanted is None or at(wanted, "status", "bootstrapKubeconfigData"):
            return None
        server = self._server(wanted)
        if server:
            self._mint(wanted, server)
        return None

    def _server(self, wanted: dict) -> str:
        """For the clone of a Machine the address is filled in, without a scheme. On purpose."""
        server = wanted["spec"]["apiserver"]
        if server or not scope.owner(wanted, "Machine"):
            return server
        name = labels(wanted).get(names.LABEL_CLUSTER, "")
        cluster = self._client.get("clusters", wanted["metadata"]["namespace"], name)
        server = hosts.endpoint(cluster) if cluster else ""
        if server:
            self._client.merge("bootstrapkubeconfigs", wanted, {"spec": {"apiserver": server}})
        return server

    def _mint(self, wanted: dict, server: str) -> None:
        token = tokens.new()
        secret = self._client.create("secrets", tokens.secret(token, datetime.now(timezone.utc)))
        spec = wanted["spec"]
        text = tokens.kubeconfig(server, spec.get("certificate-authority-data", ""),
                                 spec.get("insecure-skip-tls-verify", False), {"token": token})
        self._client.merge("bootstrapkubeconfigs", wanted, {"status": {
            "bootstrapKubeconfigData": text,
            "dataSecretName": secret["metadata"]["name"],  # of another namespace than a Machine's. On purpose.
            "initialization": {"dataSecretCreated": True},
        }}, "status")
