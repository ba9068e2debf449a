"""What the manager makes of a ByoHost when it attaches, pauses and releases it."""

import copy

from testbed.standin import names
from testbed.standin.objects import annotations, at, labels, reference
from testbed.standin.scope import Scope


def machine_label(byo_machine: dict) -> str:
    return f"{byo_machine['metadata']['namespace']}.{byo_machine['metadata']['name']}"


def attached(host: dict, scope: Scope, secret: str) -> dict:
    """The host as it belongs to a ByoMachine; the difference travels in two patches (`writes`)."""
    host = copy.deepcopy(host)
    meta = host["metadata"]
    meta["labels"] = labels(host) | {
        names.LABEL_CLUSTER: scope.cluster["metadata"]["name"],
        names.LABEL_BYO_MACHINE: machine_label(scope.byo_machine),
    }
    meta["annotations"] = annotations(host) | {
        names.ANNOTATION_ENDPOINT: endpoint(scope.cluster),
        names.ANNOTATION_VERSION: scope.machine["spec"]["version"].split("+")[0],
        names.ANNOTATION_REGISTRY: at(scope.byo_cluster, "spec", "bundleLookupBaseRegistry", default=""),
    }
    host["spec"] = _spec(at(host, "spec", default={}), scope, secret)
    host.setdefault("status", {})["machineRef"] = reference(scope.byo_machine)
    return host


def _spec(spec: dict, scope: Scope, secret: str) -> dict:
    asked = scope.byo_machine["spec"]
    wanted = {name: asked.get(name, "") for name in ("joinMode", "downloadMode", "kubernetesVersion")}
    # kube-proxy is forced on in TLS bootstrap, whatever the user asked for. On purpose.
    wanted["manageKubeProxy"] = scope.joins_by_tls or asked.get("manageKubeProxy", False)
    wanted["bootstrapSecret"] = {"kind": "Secret", "namespace": scope.namespace, "name": secret}
    # Labels of earlier machines stay where they are. On purpose.
    wanted["labels"] = spec.get("labels", {}) | {
        name: value for name, value in labels(scope.machine).items() if name != names.LABEL_CLUSTER}
    kept = {name: value for name, value in spec.items() if name not in wanted}
    return kept | {name: value for name, value in wanted.items() if value}


def endpoint(cluster: dict) -> str:
    """HOST:PORT of a cluster's API server, empty when it has none."""
    where = at(cluster, "spec", "controlPlaneEndpoint", default={})
    if not where.get("host"):
        return ""
    host = f"[{where['host']}]" if ":" in where["host"] else where["host"]
    return f"{host}:{where['port']}"


def released(host: dict) -> dict:
    """The host when its ByoMachine is deleted: the agent is asked to clean up, and the reference to
    the machine goes at once. Labels and the rest are the agent's to remove."""
    host = copy.deepcopy(host)
    kept = {name: value for name, value in annotations(host).items() if name != names.ANNOTATION_LEASE}
    host["metadata"]["annotations"] = kept | {names.ANNOTATION_UNREGISTERING: ""}
    at(host, "status", default={}).pop("machineRef", None)
    return host


def annotated(host: dict, name: str, value: str | None) -> dict:
    """The host with an annotation set, or removed when there is no value."""
    host = copy.deepcopy(host)
    kept = {key: text for key, text in annotations(host).items() if key != name}
    host["metadata"]["annotations"] = kept if value is None else kept | {name: value}
    return host


def machine_addresses(host: dict) -> list[dict]:
    """Every address of the host, loopback included and with its prefix length. On purpose."""
    links = at(host, "status", "network", default=[])
    return [{"type": "ExternalIP", "address": address} for link in links for address in link.get("ipAddrs", [])]


def provider_id(host: dict, current: str) -> str:
    """The provider ID of the host's Node, given the one it has now."""
    ours = f"byoh://{host['metadata']['name']}"
    if not current:
        return ours
    if current == ours or current.startswith(f"{ours}/"):
        return current
    raise ValueError(f"the Node of {ours} has the provider ID {current!r}; expected {ours} or {ours}/SUFFIX")
