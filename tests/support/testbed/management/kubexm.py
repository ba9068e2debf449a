"""Profile `kubexm`: our own CRDs of the provider's Kubexm mode, and the stand-in for its manager."""

import ssl
import sys
import urllib.request

from testbed.management import byoh, cluster_api, manifests, programs
from testbed.management.side import START_SECONDS, Management

CLUSTER_API = cluster_api.CORE
FOLDER = programs.MODULES / "kubexm"
WEBHOOK_PORT = 9443


def definitions() -> list[dict]:
    return manifests.labelled(manifests.load(sorted((FOLDER / "crds").glob("*.yaml"))), manifests.CONTRACT)


def install_roles(side: Management) -> None:
    side.apply([byoh.namespace(), *manifests.load([FOLDER / "rbac.yaml"])])


def launch(side: Management, pace: float, timeout_factor: float) -> None:
    side.start("kubexm-stand-in", [sys.executable, "-m", "testbed.standin", "--kubeconfig", byoh.identity(side),
                                   "--listen", f"{side.home.address}:{WEBHOOK_PORT}",
                                   "--certificates", str(side.certificates),
                                   "--pace", str(pace), "--timeout-factor", str(timeout_factor)],
               {"PYTHONPATH": str(programs.MODULES.parent)})


def wait(side: Management) -> None:
    side.processes["kubexm-stand-in"].wait_until("a ready answer", lambda: _answers(side), START_SECONDS)


def install_webhooks(side: Management) -> None:
    side.apply_webhooks(manifests.load([FOLDER / "webhooks.yaml"]), byoh.PREFIX, WEBHOOK_PORT)


def wait_for_webhooks(side: Management) -> None:
    """The stand-in answers already, and its webhooks are asked only where it is."""


def _answers(side: Management) -> bool:
    tls = ssl.create_default_context(cafile=side.certificates / "tls.crt")
    url = f"https://{side.home.address}:{WEBHOOK_PORT}/readyz"
    try:
        with urllib.request.urlopen(url, timeout=5, context=tls) as answer:
            return answer.status == 200
    except OSError:
        return False
