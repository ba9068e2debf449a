"""Plain objects: looking into them, comparing them, and the patches that turn one into another."""

from typing import Any


def at(value: Any, *keys: str, default: Any = None) -> Any:
    """The value below these keys, the default when any of them is missing."""
    for key in keys:
        if not isinstance(value, dict) or value.get(key) is None:
            return default
        value = value[key]
    return value


def annotations(value: dict) -> dict[str, str]:
    return at(value, "metadata", "annotations", default={})


def labels(value: dict) -> dict[str, str]:
    return at(value, "metadata", "labels", default={})


def key(value: dict) -> tuple[str, str]:
    return value["metadata"].get("namespace", ""), value["metadata"]["name"]


def reference(value: dict) -> dict:
    return {"apiVersion": value["apiVersion"], "kind": value["kind"], "namespace": value["metadata"]["namespace"],
            "name": value["metadata"]["name"], "uid": value["metadata"]["uid"]}


def owner_reference(value: dict) -> dict:
    return {"apiVersion": value["apiVersion"], "kind": value["kind"], "name": value["metadata"]["name"],
            "uid": value["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}


def difference(before: dict, after: dict) -> dict:
    """The JSON merge patch (RFC 7386) that turns one object into the other."""
    patch = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            if inner := difference(old, value):
                patch[name] = inner
        elif value != old or name not in before:
            patch[name] = value
    return patch


def add_finalizer(value: dict, name: str) -> None:
    finalizers = value["metadata"].get("finalizers", [])
    if name not in finalizers:
        value["metadata"]["finalizers"] = [*finalizers, name]


def remove_finalizer(value: dict, name: str) -> None:
    value["metadata"]["finalizers"] = [item for item in value["metadata"].get("finalizers", []) if item != name]
