"""Bootstrap tokens: the Secret that makes one known to a cluster, and a kubeconfig that uses it."""

import base64
import secrets
import string
from datetime import datetime, timedelta, timezone
from pathlib import Path

import yaml

# The extra group of the tokens made here: bindings name it instead of all bootstrap tokens.
NODE_GROUP = "system:bootstrappers:kubexm:default-node-token"


def new_token() -> str:
    alphabet = string.ascii_lowercase + string.digits
    return ".".join("".join(secrets.choice(alphabet) for _ in range(length)) for length in (6, 16))


def secret(token: str, groups: tuple[str, ...], ttl: timedelta) -> dict:
    """The Secret for a token that authenticates as a member of these groups for a while."""
    identifier, value = token.split(".")
    expiration = (datetime.now(timezone.utc) + ttl).strftime("%Y-%m-%dT%H:%M:%SZ")
    data = {"token-id": identifier, "token-secret": value, "expiration": expiration,
            "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
            "auth-extra-groups": ",".join(groups)}
    return {"apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token", "stringData": data,
            "metadata": {"name": f"bootstrap-token-{identifier}", "namespace": "kube-system"}}


def kubeconfig(name: str, server: str, ca: Path, user: dict[str, str]) -> str:
    """The text of a kubeconfig for a cluster, with its certificate authority inside."""
    authority = base64.b64encode(ca.read_bytes()).decode()
    return yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "current-context": "default",
        "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority-data": authority}}],
        "users": [{"name": "default", "user": user}],
        "contexts": [{"name": "default", "context": {"cluster": name, "user": "default"}}]})
