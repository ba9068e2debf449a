"""What a host can do to its management cluster with its own certificate, where the shipped policy is applied."""

import json
import os
from pathlib import Path

import pytest

from testbed import assignment
from testbed.cluster import KubectlError

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
BYOHOST = """\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: ByoHost
metadata: {{name: {}, namespace: default}}
"""


@pytest.fixture(scope="module")
def enrolled(tmp_path_factory):
    """A side, the name of a host, and the kubeconfig of that host's own identity."""
    with assignment.enrolled(TREE) as (side, host):
        side.cluster.apply(BYOHOST.format("other"))
        side.cluster.kubectl("label", "byohost", host.node.name, "site=east")
        side.cluster.kubectl("create", "-f", "-", input=event_about("other", "of-other"))
        own = tmp_path_factory.mktemp("host") / "kubeconfig"
        own.write_bytes(host.node.read("/var/lib/kubexm/management.kubeconfig"))
        yield side, host.node.name, own


def patch(name: str, change: dict, *more: str) -> list[str]:
    return ["patch", "byohost", name, "--type=merge", "--patch", json.dumps(change), *more]


def event_about(name: str, event: str) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "Event", "metadata": {"name": event, "namespace": "default"},
                       "involvedObject": {"kind": "ByoHost", "name": name, "namespace": "default"},
                       "reason": "Test", "message": "m", "type": "Normal"})


def change_event(change: dict) -> list[str]:
    """Of another host's event, without a read before."""
    return ["patch", "event", "of-other", "--type=merge", "--patch", json.dumps(change)]


MACHINE = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "ByoMachine", "namespace": "default",
           "name": "m", "uid": "1"}
SECRET = {"kind": "Secret", "namespace": "default", "name": "anything"}
FORBIDDEN = {
    "other's spec": (patch("other", {"spec": {"capacity": {"cpu": "1"}}}), "", "writes its own ByoHost only"),
    "other's status": (patch("other", {"status": {"conditions": []}}, "--subresource=status"), "",
                       "writes its own ByoHost only"),
    "other's release": (["annotate", "byohost", "other", "byoh.infrastructure.cluster.x-k8s.io/unregistering="], "",
                        "writes its own ByoHost only"),
    "a third": (["create", "-f", "-"], BYOHOST.format("third"), "writes its own ByoHost only"),
    "other's end": (["delete", "byohost", "other"], "", "does not delete ByoHosts"),
    "own end": (["delete", "byohost", "HOST"], "", "does not delete ByoHosts"),
    "a label": (["label", "byohost", "HOST", "tier=secret"], "", "sets labels with the prefix"),
    "another value": (["label", "byohost", "HOST", "site=west", "--overwrite"], "", "sets labels with the prefix"),
    "no label": (["label", "byohost", "HOST", "site-"], "", "removes only its capacity"),
    "a secret": (patch("HOST", {"spec": {"bootstrapSecret": SECRET}}), "", "sets spec.capacity only"),
    "labels of the node": (patch("HOST", {"spec": {"labels": {"a": "b"}}}), "", "sets spec.capacity only"),
    "a machine": (patch("HOST", {"status": {"machineRef": MACHINE}}, "--subresource=status"), "",
                  "does not assign itself"),
    "an event about another": (["create", "-f", "-"], event_about("other", "forged"), "events of its own ByoHost only"),
    "other's event": (change_event({"message": "other"}), "", "events of its own ByoHost only"),
    "other's event as its own": (change_event({"involvedObject": {"name": "HOST"}}), "", "events of its own ByoHost only"),
    "a registration with a secret": (["create", "-f", "-"], BYOHOST.format("HOST") + f"spec: {json.dumps({'bootstrapSecret': SECRET})}",
                                     "sets spec.capacity only"),
}


@pytest.mark.parametrize("attempt", FORBIDDEN)
def test_forbidden(enrolled, attempt):
    side, name, own = enrolled
    command, text, words = FORBIDDEN[attempt]
    command = [word.replace("HOST", name) for word in command]
    with pytest.raises(KubectlError, match=words):
        side.cluster.kubectl(*command, input=text.replace("HOST", name) or None, kubeconfig=own)


def test_permitted(enrolled):
    """Registration, join and release are in all other tests of a management cluster."""
    side, name, own = enrolled
    key = "capacity.infrastructure.cluster.x-k8s.io/cpu"
    side.cluster.kubectl("label", "byohost", name, f"{key}=99", "--overwrite", kubeconfig=own)
    side.cluster.kubectl("label", "byohost", name, f"{key}-", kubeconfig=own)
    side.cluster.kubectl("create", "-f", "-", input=event_about(name, "own"), kubeconfig=own)
    side.cluster.kubectl("patch", "event", "own", "--type=merge", "--patch", json.dumps({"count": 2}), kubeconfig=own)
