"""Where the bootstrap kubeconfig of a TLS-bootstrapped host comes from.

In this order: the BootstrapKubeconfig that the ByoMachine names, the secret that the user gave to
the Machine, a freshly minted token.
"""

import base64
import re
from datetime import datetime

from testbed.standin import hosts, tokens
from testbed.standin.client import Client
from testbed.standin.objects import at
from testbed.standin.scope import Scope

NO_ENDPOINT = "127.0.0.1:6443"  # what the real manager writes for a cluster without an endpoint


def gather(client: Client, scope: Scope, now: datetime) -> dict[str, str]:
    """The keys of the TLS bootstrap secret that tell a host where to go and how to be let in."""
    given = _from_user(client, scope)
    kubeconfig = _from_reference(client, scope) or given.get("bootstrap-kubeconfig") or _mint(client, scope, now)
    values = {"bootstrap-kubeconfig": kubeconfig}
    # The real manager tries to take the CA out of the kubeconfig and never succeeds, so there is no
    # ca.crt unless the user's own secret has one. On purpose.
    if authority := given.get("ca.crt") or _certificate_in(given.get("value", "")):
        values["ca.crt"] = authority
    if proxy := given.get("kube-proxy.kubeconfig"):
        values["kube-proxy.kubeconfig"] = proxy
    return values


def _from_reference(client: Client, scope: Scope) -> str | None:
    name = at(scope.byo_machine, "spec", "bootstrapConfigRef", "name")
    if not name:
        return None
    namespace = at(scope.byo_machine, "spec", "bootstrapConfigRef", "namespace", default=scope.namespace)
    return at(client.get("bootstrapkubeconfigs", namespace, name), "status", "bootstrapKubeconfigData")


def _from_user(client: Client, scope: Scope) -> dict[str, str]:
    name = at(scope.machine, "spec", "bootstrap", "dataSecretName")
    secret = client.get("secrets", scope.namespace, name) if name else None
    return {key: base64.b64decode(value).decode() for key, value in at(secret, "data", default={}).items()}


def _certificate_in(text: str) -> str | None:
    found = re.search(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?", text, re.DOTALL)
    return found[0] if found else None


def _mint(client: Client, scope: Scope, now: datetime) -> str:
    """A token of the *management* cluster, even when the workload cluster is another one, and an empty
    CA, because the manager reads it from a file that only pods have. Both on purpose."""
    token = tokens.new()
    client.create("secrets", tokens.secret(token, now))
    server = hosts.endpoint(scope.cluster) or NO_ENDPOINT
    return tokens.kubeconfig(f"https://{server}", "", False, {"token": token})
