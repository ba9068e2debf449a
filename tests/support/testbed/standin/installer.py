"""The installer configuration of a ByoMachine and the scripts it leads to."""

import base64
import copy
import re

from testbed.standin import names
from testbed.standin.objects import annotations, at, owner_reference
from testbed.standin.scope import Scope

UBUNTU = re.compile(r"Ubuntu_(20|22|24)\.04.*")

# The real scripts pass through an HTML template, which turns a here-document's << into entities:
# bash stops with a syntax error half-way. On purpose; an agent that wants to run one must undo it.
INSTALL = """\
set -euo pipefail
BUNDLE_DOWNLOAD_PATH={{.BundleDownloadPath}}
BUNDLE_ADDR=@BUNDLE@
K8S_VERSION=@VERSION@
mkdir -p "$BUNDLE_DOWNLOAD_PATH"
cat &gt; "$BUNDLE_DOWNLOAD_PATH/installed" &lt;&lt;EOF
$BUNDLE_ADDR $K8S_VERSION
EOF
"""

UNINSTALL = """\
set -euo pipefail
BUNDLE_DOWNLOAD_PATH={{.BundleDownloadPath}}
rm -f "$BUNDLE_DOWNLOAD_PATH/installed"
"""


def config(template: dict, scope: Scope) -> dict:
    """The installer configuration of a ByoMachine, cloned from the template it names."""
    proxies = {name: value for name, value in annotations(scope.byo_cluster).items()
               if name.startswith(names.ANNOTATION_PROXIES)}
    version = {names.ANNOTATION_VERSION: scope.machine["spec"]["version"].split("+")[0]}
    return {
        "apiVersion": template["apiVersion"], "kind": template["kind"].removesuffix("Template"),
        "metadata": {
            "name": scope.byo_machine["metadata"]["name"], "namespace": scope.namespace,
            "labels": {names.LABEL_CLUSTER: scope.cluster["metadata"]["name"]},
            "annotations": version | proxies,
            "ownerReferences": [owner_reference(scope.byo_machine)],
        },
        "spec": copy.deepcopy(template["spec"]["template"]["spec"]),
    }


def supports(byo_machine: dict) -> bool:
    """The scripts of the TLS mode take any system; the others exist for Ubuntu only, and a ByoMachine
    on something else waits for ever. On purpose."""
    image = at(byo_machine, "status", "hostinfo", "osimage", default="").replace(" ", "_")
    return byo_machine["spec"].get("joinMode") == names.JOIN_TLS or bool(UBUNTU.match(image))


def secret(installer: dict, byo_machine: dict, bootstrap_kubeconfig: str | None) -> dict:
    """The installation secret. Its bootstrap kubeconfig is any one of the namespace. On purpose."""
    values = {"install": _fill(INSTALL, installer, byo_machine), "uninstall": UNINSTALL}
    if bootstrap_kubeconfig and byo_machine["spec"].get("joinMode") == names.JOIN_TLS:
        values["bootstrap-kubeconfig"] = bootstrap_kubeconfig
    meta = installer["metadata"]
    return {
        "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
        "metadata": {"name": meta["name"], "namespace": meta["namespace"], "labels": dict(meta["labels"]),
                     "ownerReferences": [owner_reference(installer)]},
        "data": {name: base64.b64encode(value.encode()).decode() for name, value in values.items()},
    }


def _fill(script: str, installer: dict, byo_machine: dict) -> str:
    version = annotations(installer)[names.ANNOTATION_VERSION]
    bundle = _bundle(installer["spec"]["bundleRepo"], byo_machine, version)
    return script.replace("@BUNDLE@", bundle).replace("@VERSION@", version)


def _bundle(repository: str, byo_machine: dict, version: str) -> str:
    """The address of the bundle: empty for a system nobody made one for."""
    if repository == "online":
        return repository
    info = at(byo_machine, "status", "hostinfo", default={})
    match = UBUNTU.match(info.get("osimage", "").replace(" ", "_"))
    machine = {"amd64": "x86-64", "arm64": "aarch64"}.get(info.get("architecture", ""))
    return f"{repository}/byoh-bundle-ubuntu_{match[1]}.04.1_{machine}_k8s:{version}" if match and machine else ""


def is_due(installer: dict, byo_machine: dict | None) -> bool:
    """The installer acts only while its ByoMachine says that it waits for exactly this."""
    waiting = [item.get("reason") for item in at(byo_machine, "status", "conditions", default=[])
               if item["type"] == names.CONDITION_HOST_READY]
    return waiting == [names.NO_INSTALLATION_SECRET] and not at(installer, "status", "ready")


def ready_status(installer: dict) -> dict:
    meta = installer["metadata"]
    return {"status": {"ready": True, "installationSecret": {"namespace": meta["namespace"], "name": meta["name"]}}}
