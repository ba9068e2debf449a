"""The manager's patches of a ByoHost, byte by byte as the protocol's examples have them."""

from datetime import datetime

import standin_examples as examples
from testbed.standin import cleanup, hosts, writes
from testbed.standin.scope import Scope

NOW = datetime.fromisoformat(examples.NOW)


def patches(before: dict, after: dict) -> list[tuple[str, dict]]:
    stored = examples.changed(before, "metadata/resourceVersion", "7")
    client = examples.Recorder({("byohosts", "default", "h1"): stored})
    writes.publish(client, "byohosts", before, after)
    return client.patches


def scope(**changes) -> Scope:
    return Scope(**{"byo_machine": examples.BYO_MACHINE, "machine": examples.MACHINE,
                    "cluster": examples.CLUSTER, "byo_cluster": examples.BYO_CLUSTER, **changes})


def attached_host() -> dict:
    return hosts.attached(examples.HOST, scope(), "w-1-tls-bootstrap")


def test_attach_shows_labels_and_spec_first_and_the_machine_second():
    assert patches(examples.HOST, attached_host()) == [
        ("", {
            "metadata": {
                "labels": {
                    "cluster.x-k8s.io/cluster-name": "c1",
                    "byoh.infrastructure.cluster.x-k8s.io/byomachine-name": "team.w-1",
                },
                "annotations": {
                    "byoh.infrastructure.cluster.x-k8s.io/endpointip": "10.99.0.2:6443",
                    "byoh.infrastructure.cluster.x-k8s.io/k8sversion": "v1.34.1",
                    "byoh.infrastructure.cluster.x-k8s.io/bundle-registry": "",
                },
            },
            "spec": {
                "bootstrapSecret": {"kind": "Secret", "namespace": "team", "name": "w-1-tls-bootstrap"},
                "joinMode": "tlsBootstrap",
                "downloadMode": "offline",
                "manageKubeProxy": True,
                "labels": {"cluster.x-k8s.io/set-name": "w"},
            },
        }),
        ("status", {
            "status": {
                "machineRef": {
                    "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
                    "kind": "ByoMachine",
                    "namespace": "team",
                    "name": "w-1",
                    "uid": "u-1",
                },
            },
        }),
    ]


def test_attach_of_a_used_host_keeps_old_labels_and_drops_old_modes():
    used = examples.changed(examples.HOST, "spec/labels", {"old": "label"})
    used = examples.changed(used, "spec/joinMode", "tlsBootstrap")
    machine = examples.changed(examples.BYO_MACHINE, "spec", {})
    patch = patches(used, hosts.attached(used, scope(byo_machine=machine), "given"))[0][1]
    assert patch["spec"] == {
        "bootstrapSecret": {"kind": "Secret", "namespace": "team", "name": "given"},
        "joinMode": None,
        "labels": {"cluster.x-k8s.io/set-name": "w"},
    }


def test_endpoint_of_an_ipv6_address_is_bracketed():
    where = {"host": "fd00::2", "port": 443}
    assert hosts.endpoint(examples.changed(examples.CLUSTER, "spec/controlPlaneEndpoint", where)) == "[fd00::2]:443"


def test_release_is_asked_first_and_the_machine_taken_away_second():
    host = hosts.annotated(attached_host(), "byohost.infrastructure.cluster.x-k8s.io/lease", "{}")
    assert patches(host, hosts.released(host)) == [
        ("", {"metadata": {"annotations": {
            "byoh.infrastructure.cluster.x-k8s.io/unregistering": "",
            "byohost.infrastructure.cluster.x-k8s.io/lease": None,
        }}}),
        ("status", {"status": {"machineRef": None}}),
    ]


def test_release_that_was_asked_already_changes_nothing():
    released = hosts.released(attached_host())
    assert patches(released, hosts.released(released)) == []


def test_forced_release_keeps_the_labels_and_says_bootstrapped():
    host = hosts.released(attached_host())
    host = hosts.annotated(host, "byoh.infrastructure.cluster.x-k8s.io/cleanup-started-at", "2026-02-03T04:00:00Z")
    host["status"]["machineRef"] = {"name": "w-1"}
    host["status"]["conditions"] = [{"type": "K8sComponentsInstallationSucceeded", "status": "True",
                                     "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    assert patches(host, cleanup.forced(host, NOW)) == [
        ("status", {
            "metadata": {"resourceVersion": "7"},
            "status": {"conditions": [
                {"type": "K8sComponentsInstallationSucceeded", "status": "True",
                 "lastTransitionTime": "2026-01-01T00:00:00Z"},
                {"type": "K8sNodeBootstrapSucceeded", "status": "True", "lastTransitionTime": "2026-02-03T04:05:06Z"},
            ]},
        }),
        ("", {"metadata": {"annotations": {
            "byoh.infrastructure.cluster.x-k8s.io/unregistering": None,
            "byoh.infrastructure.cluster.x-k8s.io/cleanup-started-at": None,
        }}}),
        ("status", {"status": {"machineRef": None}}),
    ]


def test_pause_is_one_annotation():
    paused = hosts.annotated(examples.HOST, "cluster.x-k8s.io/paused", "")
    assert patches(examples.HOST, paused) == [("", {"metadata": {"annotations": {"cluster.x-k8s.io/paused": ""}}})]
