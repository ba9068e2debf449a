"""Bootstrap tokens, and the kubeconfigs that carry them."""

import base64
import secrets
import string
from datetime import datetime, timedelta

import yaml

from testbed.standin import names

LIFETIME = timedelta(minutes=30)
_LETTERS = string.ascii_lowercase + string.digits


def new() -> str:
    """A random token, ID.SECRET."""
    return ".".join("".join(secrets.choice(_LETTERS) for _ in range(length)) for length in (6, 16))


def secret(token: str, now: datetime) -> dict:
    """The secret that makes the API server accept a token."""
    identity, password = token.split(".")
    values = {
        "token-id": identity,
        "token-secret": password,
        "expiration": (now + LIFETIME).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "usage-bootstrap-authentication": "true",
        "usage-bootstrap-signing": "true",
        "description": "bootstrap token generated for a host",
        "auth-extra-groups": names.BOOTSTRAP_GROUP,
    }
    return {
        "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": f"bootstrap-token-{identity}", "namespace": "kube-system"},
        "data": {name: base64.b64encode(value.encode()).decode() for name, value in values.items()},
    }


def kubeconfig(server: str, authority: str, insecure: bool, user: dict) -> str:
    """`authority` is base64 of PEM and may be empty."""
    cluster = {"server": server}
    if authority:
        cluster["certificate-authority-data"] = authority
    if insecure:
        cluster["insecure-skip-tls-verify"] = True
    return yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "preferences": {},
        "clusters": [{"name": "default-cluster", "cluster": cluster}],
        "contexts": [{"name": "default-context",
                      "context": {"cluster": "default-cluster", "namespace": "default", "user": "default-auth"}}],
        "current-context": "default-context",
        "users": [{"name": "default-auth", "user": user}],
    })
