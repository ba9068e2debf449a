"""Which free host a ByoMachine may have."""

import json
from datetime import datetime, timedelta

from testbed.standin import names, quantity
from testbed.standin.objects import annotations, at, key, labels

LEASE = timedelta(seconds=30)


def candidates(hosts: list[dict], byo_machine: dict, now: datetime) -> list[dict]:
    """The free hosts that fit, those of the highest priority only, in a stable order.

    Hosts of every namespace are taken, and `unregistering` is not looked at: only the cluster label
    protects a host that is still cleaning up. Both on purpose, as the real manager does.
    """
    spec = byo_machine["spec"]
    fitting = [host for host in hosts if _is_free(host, now) and _matches(labels(host), spec.get("selector"))
               and _is_large_enough(host, spec.get("capacityRequirements", {}))]
    best = max((_priority(host) for host in fitting), default=0)
    return sorted((host for host in fitting if _priority(host) == best), key=key)


def _is_free(host: dict, now: datetime) -> bool:
    taken = names.LABEL_CLUSTER in labels(host) or at(host, "status", "machineRef")
    return not taken and not _is_leased(host, now)


def _is_leased(host: dict, now: datetime) -> bool:
    text = annotations(host).get(names.ANNOTATION_LEASE)
    if not text:
        return False
    return now - datetime.fromisoformat(json.loads(text)["acquireTime"]) < LEASE


def lease(byo_machine: dict, now: datetime) -> str:
    """The value of the annotation that keeps other workers of the manager away from a host."""
    meta, since = byo_machine["metadata"], now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps({"holder": meta["uid"], "acquireTime": since, "machineName": meta["name"]})


def _priority(host: dict) -> int:
    return at(host, "spec", "priority", default=0)


def _is_large_enough(host: dict, wanted: dict) -> bool:
    has = at(host, "spec", "capacity", default={})
    return all(name in has and quantity.parse(has[name]) >= quantity.parse(least) for name, least in wanted.items())


def _matches(has: dict[str, str], selector: dict | None) -> bool:
    selector = selector or {}
    exact = all(has.get(name) == value for name, value in selector.get("matchLabels", {}).items())
    return exact and all(_meets(has, rule) for rule in selector.get("matchExpressions", []))


def _meets(has: dict[str, str], rule: dict) -> bool:
    name, values = rule["key"], rule.get("values", [])
    return {
        "In": name in has and has[name] in values,
        "NotIn": name not in has or has[name] not in values,
        "Exists": name in has,
        "DoesNotExist": name not in has,
    }[rule["operator"]]
