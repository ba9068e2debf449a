"""Shipped manifests, and the changes that kustomize and the cluster's installer would make to them."""

import base64
import copy
import json
from collections.abc import Iterable
from pathlib import Path

import yaml

SHIPPED = Path(__file__).resolve().parents[4] / "packaging/manifests"
CONTRACT = {"cluster.x-k8s.io/v1beta1": "v1beta1"}  # which contract of Cluster API a provider speaks
BY_CLUSTERCTL = {"clusterctl.cluster.x-k8s.io": ""}  # what `clusterctl init` puts on all that it installs
NAMESPACED = ("Role", "RoleBinding", "ServiceAccount")


def load(paths: Iterable[Path]) -> list[dict]:
    """The objects of YAML files, those of a List one by one."""
    documents = [item for path in paths for item in yaml.load_all(path.read_text(), yaml.CSafeLoader) if item]
    return [item for document in documents for item in document.get("items", [document])]


def dump(objects: list[dict]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def resources(definitions: list[dict]) -> set[tuple[str, str]]:
    """(path of the API group's version, plural name) of everything that CRDs have served."""
    return {(f"/apis/{item['spec']['group']}/{version['name']}", item["spec"]["names"]["plural"])
            for item in definitions for version in item["spec"]["versions"] if version["served"]}


def without_descriptions(schema):
    """Definitions without what explains their fields: two thirds of their text, which an API server reads, merges and
    compiles for seconds."""
    if isinstance(schema, list):
        return [without_descriptions(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # A field of that name has a schema, not a text.
    return {key: without_descriptions(value) for key, value in schema.items()
            if not (key == "description" and isinstance(value, str))}


def labelled(objects: list[dict], labels: dict[str, str]) -> list[dict]:
    result = copy.deepcopy(objects)
    for item in result:
        item["metadata"].setdefault("labels", {}).update(labels)
    return result


def prefixed(objects: list[dict], prefix: str, namespace: str) -> list[dict]:
    """Roles, bindings, accounts and webhook configurations with their names and namespace as installed."""
    result = copy.deepcopy(objects)
    for item in result:
        item["metadata"]["name"] = prefix + item["metadata"]["name"]
        if item["kind"] in NAMESPACED:
            item["metadata"]["namespace"] = namespace
        if "roleRef" in item:
            item["roleRef"]["name"] = prefix + item["roleRef"]["name"]
        for subject in item.get("subjects", []):
            if subject["kind"] == "ServiceAccount":
                subject |= {"name": prefix + subject["name"], "namespace": namespace}
    return result


def served_at(configurations: list[dict], server: str, authority: bytes) -> list[dict]:
    """Webhook configurations that name a URL instead of a service: no pod runs behind a service here."""
    result = copy.deepcopy(configurations)
    for configuration in result:
        for webhook in configuration["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": server + path, "caBundle": base64.b64encode(authority).decode()}
    return result
