"""Which host a ByoMachine is given."""

from datetime import datetime, timedelta

import standin_examples as examples
import pytest
from testbed.standin import selection

NOW = datetime.fromisoformat(examples.NOW)


def chosen(hosts: list[dict], byo_machine: dict = examples.BYO_MACHINE) -> list[str]:
    return [host["metadata"]["name"] for host in selection.candidates(hosts, byo_machine, NOW)]


def host(name: str, **changes) -> dict:
    result = examples.changed(examples.HOST, "metadata/name", name)
    for path, value in changes.items():
        result = examples.changed(result, path.replace("__", "/"), value)
    return result


def wanting(**spec) -> dict:
    return examples.changed(examples.BYO_MACHINE, "spec", spec)


def test_hosts_of_any_namespace_are_free():
    assert chosen([host("h2", metadata__namespace="elsewhere"), host("h1")]) == ["h1", "h2"]


def test_a_host_with_a_cluster_or_a_machine_is_not_free():
    taken = host("h1", metadata__labels={"cluster.x-k8s.io/cluster-name": "c9"})
    referring = host("h2", status__machineRef={"name": "x"})
    assert chosen([taken, referring]) == []


def test_a_host_that_is_still_cleaning_is_free_once_its_label_is_gone():
    cleaning = host("h1", metadata__annotations={"byoh.infrastructure.cluster.x-k8s.io/unregistering": ""})
    assert chosen([cleaning]) == ["h1"]


@pytest.mark.parametrize("age, free", [(timedelta(seconds=29), []), (timedelta(seconds=31), ["h1"])])
def test_a_lease_keeps_a_host_for_30_seconds(age, free):
    lease = selection.lease(examples.BYO_MACHINE, NOW - age)
    assert chosen([host("h1", metadata__annotations={"byohost.infrastructure.cluster.x-k8s.io/lease": lease})]) == free


@pytest.mark.parametrize("selector, fits", [
    ({"matchLabels": {"site": "a"}}, True),
    ({"matchLabels": {"site": "b"}}, False),
    ({"matchExpressions": [{"key": "site", "operator": "In", "values": ["a", "b"]}]}, True),
    ({"matchExpressions": [{"key": "site", "operator": "NotIn", "values": ["a"]}]}, False),
    ({"matchExpressions": [{"key": "site", "operator": "Exists"}]}, True),
    ({"matchExpressions": [{"key": "site", "operator": "DoesNotExist"}]}, False),
])
def test_the_selector_looks_at_the_labels_of_the_object(selector, fits):
    assert chosen([host("h1")], wanting(selector=selector)) == (["h1"] if fits else [])


@pytest.mark.parametrize("least, fits", [
    ({"cpu": "8"}, True), ({"cpu": 9}, False), ({"cpu": "7500m"}, True),
    ({"memory": "15Gi"}, True), ({"memory": "16Gi"}, False), ({"nvidia.com/gpu": "1"}, False),
])
def test_the_host_must_be_large_enough(least, fits):
    assert chosen([host("h1")], wanting(capacityRequirements=least)) == (["h1"] if fits else [])


def test_only_the_highest_priority_is_taken():
    assert chosen([host("h1"), host("h2", spec__priority=5), host("h3", spec__priority=5)]) == ["h2", "h3"]
