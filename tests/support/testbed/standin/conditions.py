"""Conditions of Cluster API's v1beta1 contract: how they are set, ordered and merged."""

from datetime import datetime

from testbed.standin.objects import at


def find(value: dict, kind: str) -> dict | None:
    found = [item for item in at(value, "status", "conditions", default=[]) if item["type"] == kind]
    return found[0] if found else None


def mark_true(value: dict, kind: str, now: datetime) -> None:
    _set(value, {"type": kind, "status": "True"}, now)


def mark_false(value: dict, kind: str, reason: str, now: datetime) -> None:
    """All conditions the manager turns False are of severity Info and carry no message."""
    _set(value, {"type": kind, "status": "False", "severity": "Info", "reason": reason}, now)


def _set(value: dict, wanted: dict, now: datetime) -> None:
    """The time of the last transition changes only when something else does."""
    status = value.setdefault("status", {})
    old = find(value, wanted["type"])
    if old is not None and {name: part for name, part in old.items() if name != "lastTransitionTime"} == wanted:
        return
    others = [item for item in status.get("conditions", []) if item["type"] != wanted["type"]]
    status["conditions"] = _ordered([*others, {**wanted, "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ")}])


def _ordered(items: list[dict]) -> list[dict]:
    return sorted(items, key=lambda item: (item["type"] != "Ready", item["type"]))


def changed(before: dict, after: dict) -> list[dict]:
    return [item for item in at(after, "status", "conditions", default=[]) if item != find(before, item["type"])]


def merge(fresh: dict, ours: list[dict]) -> list[dict]:
    """The complete list to write: what the object has now, with our changes by type."""
    kinds = {item["type"] for item in ours}
    theirs = [item for item in at(fresh, "status", "conditions", default=[]) if item["type"] not in kinds]
    return _ordered([*theirs, *ours])
