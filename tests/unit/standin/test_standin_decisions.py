"""The smaller decisions: approval, admission, forced release, provider IDs, installers, waits."""

from datetime import timedelta

import standin_examples as examples
import pytest
from testbed.standin import approval, cleanup, controllers, hosts, installer, provisioning, webhook
from testbed.standin.scope import Scope

CLIENT, KUBELET, SERVING = (f"kubernetes.io/{name}" for name in (
    "kube-apiserver-client", "kube-apiserver-client-kubelet", "kubelet-serving"))


@pytest.mark.parametrize("name, signer, wanted", [
    ("byoh-csr-h1", CLIENT, True), ("node-csr-x", CLIENT, True), ("other", CLIENT, False),
    ("anything", KUBELET, True), ("anything", SERVING, True), ("byoh-csr-h1", "example.org/signer", False),
])
def test_requests_are_approved_by_name_and_signer(name, signer, wanted):
    assert approval.is_wanted({"metadata": {"name": name}, "spec": {"signerName": signer}}) is wanted


def test_a_decided_request_is_left_alone():
    request = {"metadata": {"name": "byoh-csr-h1"}, "spec": {"signerName": CLIENT}}
    assert not approval.is_wanted({**request, "status": {"conditions": [{"type": "Denied"}]}})


def test_the_approval_says_who_approved():
    request = {"metadata": {"name": "byoh-csr-h1"}, "spec": {"signerName": CLIENT}}
    assert approval.approved(request)["status"]["conditions"] == [
        {"type": "Approved", "status": "True", "reason": "Approved by ByoAdmission Controller"}]


@pytest.mark.parametrize("operation, machine, allowed", [
    ("CREATE", None, True), ("UPDATE", {"name": "m"}, True), ("DELETE", None, True), ("DELETE", {"name": "m"}, False)])
def test_only_the_deletion_of_an_attached_host_is_refused(operation, machine, allowed):
    answer = webhook.review({"uid": "1", "operation": operation, "oldObject": {"status": {"machineRef": machine}}})
    assert answer["allowed"] is allowed


@pytest.mark.parametrize("configured, capacity, minutes", [
    ("", {"cpu": "8", "memory": "16Gi"}, 5), ("", {"cpu": "12", "memory": "16Gi"}, 7),
    ("", {"cpu": "8", "memory": "32Gi"}, 7), ("", {"cpu": "128", "memory": "1Ti"}, 15),
    ("3m", {}, 3), ("2m30s", {}, 2.5), ("1m", {}, 5), ("16m", {}, 5), ("rubbish", {}, 5),
])
def test_time_to_clean_up(configured, capacity, minutes):
    assert cleanup.timeout({"spec": {"capacity": capacity}}, configured) == timedelta(minutes=minutes)


@pytest.mark.parametrize("current, wanted", [
    ("", "byoh://h1"), ("byoh://h1", "byoh://h1"), ("byoh://h1/abc123", "byoh://h1/abc123")])
def test_provider_id_is_kept_or_set(current, wanted):
    assert hosts.provider_id(examples.HOST, current) == wanted


@pytest.mark.parametrize("current", ["aws:///h1", "byoh://h10", "byoh://h2/h1"])
def test_a_foreign_provider_id_is_an_error(current):
    with pytest.raises(ValueError, match="expected byoh://h1"):
        hosts.provider_id(examples.HOST, current)


@pytest.mark.parametrize("reason, ready, due", [
    ("InstallationSecretNotAvailable", False, True), ("InstallationSecretNotAvailable", True, False),
    ("WaitingForNodeRef", False, False)])
def test_the_installer_acts_only_when_it_is_waited_for(reason, ready, due):
    machine = {"status": {"conditions": [{"type": "BYOHostReady", "reason": reason}]}}
    assert installer.is_due({"status": {"ready": ready}}, machine) is due


@pytest.mark.parametrize("mode, image, supported", [
    ("tlsBootstrap", "Debian GNU/Linux 12", True), ("kubeadm", "Debian GNU/Linux 12", False),
    ("kubeadm", "Ubuntu 22.04.4", True)])
def test_installers_for_kubeadm_exist_for_ubuntu_only(mode, image, supported):
    assert installer.supports({"spec": {"joinMode": mode}, "status": {"hostinfo": {"osimage": image}}}) is supported


@pytest.mark.parametrize("mode, infrastructure, secret, reason", [
    ("tlsBootstrap", False, None, "WaitingForClusterInfrastructure"),
    ("kubeadm", True, None, "WaitingForBootstrapDataSecret"),
    ("kubeadm", True, "given", None), ("tlsBootstrap", True, None, None)])
def test_what_is_waited_for_before_a_host_is_taken(mode, infrastructure, secret, reason):
    scope = Scope(examples.changed(examples.BYO_MACHINE, "spec/joinMode", mode),
                  examples.changed(examples.MACHINE, "spec/bootstrap/dataSecretName", secret),
                  examples.changed(examples.CLUSTER, "status/infrastructureReady", infrastructure),
                  examples.BYO_CLUSTER)
    assert provisioning.missing(scope) == reason


def test_a_cluster_gets_its_finalizer_its_port_and_is_ready():
    cluster = examples.changed(examples.BYO_CLUSTER, "spec/controlPlaneEndpoint", {"host": "h", "port": 0})
    controllers.prepare_cluster(cluster)
    assert cluster["metadata"]["finalizers"] == ["byocluster.infrastructure.cluster.x-k8s.io"]
    assert cluster["spec"]["controlPlaneEndpoint"]["port"] == 6443
    assert cluster["status"]["ready"] is True
