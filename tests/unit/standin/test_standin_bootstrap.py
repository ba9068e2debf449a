"""The secret that a TLS-bootstrapped host is given, with the gaps the real manager leaves in it."""

import base64
from datetime import datetime

import standin_examples as examples
import pytest
import yaml
from testbed.standin import attach, bootstrap_data, node_config
from testbed.standin.scope import Scope

NOW = datetime.fromisoformat(examples.NOW)
PEM = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n"


def scope(byo_machine: dict = examples.BYO_MACHINE) -> Scope:
    return Scope(byo_machine, examples.MACHINE, examples.CLUSTER, examples.BYO_CLUSTER)


def user_secret(**values: str) -> examples.Recorder:
    data = {name: base64.b64encode(value.encode()).decode() for name, value in values.items()}
    return examples.Recorder({("secrets", "team", "given"): {"data": data}})


def gather(client: examples.Recorder, byo_machine: dict = examples.BYO_MACHINE) -> dict[str, str]:
    return bootstrap_data.gather(client, scope(byo_machine), NOW)


def test_a_minted_kubeconfig_has_a_token_of_the_management_cluster_and_no_ca():
    client = examples.Recorder()
    values = gather(client)
    config = yaml.safe_load(values["bootstrap-kubeconfig"])
    made = {name: base64.b64decode(value).decode() for name, value in client.created[0]["data"].items()}
    assert set(values) == {"bootstrap-kubeconfig"}
    assert config["clusters"][0]["cluster"] == {"server": "https://10.99.0.2:6443"}
    assert config["users"][0]["user"] == {"token": f"{made['token-id']}.{made['token-secret']}"}
    assert client.created[0]["metadata"] == {"name": f"bootstrap-token-{made['token-id']}", "namespace": "kube-system"}
    assert client.created[0]["type"] == "bootstrap.kubernetes.io/token"
    assert made["expiration"] == "2026-02-03T04:35:06Z"
    assert made["auth-extra-groups"] == "system:bootstrappers:byoh"
    assert made["usage-bootstrap-authentication"] == made["usage-bootstrap-signing"] == "true"


def test_the_users_kubeconfig_comes_before_a_minted_one_and_its_ca_is_not_extracted():
    client = user_secret(**{"bootstrap-kubeconfig": "theirs"})
    assert gather(client) == {"bootstrap-kubeconfig": "theirs"}
    assert client.created == []


@pytest.mark.parametrize("key", ["ca.crt", "value"])
def test_the_users_secret_may_bring_a_ca(key):
    assert gather(user_secret(**{"bootstrap-kubeconfig": "theirs", key: PEM}))["ca.crt"] == PEM


def test_a_named_bootstrap_kubeconfig_comes_first():
    client = user_secret(**{"bootstrap-kubeconfig": "theirs"})
    client.objects["bootstrapkubeconfigs", "team", "bk"] = {"status": {"bootstrapKubeconfigData": "named"}}
    machine = examples.changed(examples.BYO_MACHINE, "spec/bootstrapConfigRef", {"name": "bk"})
    assert gather(client, machine) == {"bootstrap-kubeconfig": "named"}


def test_the_secret_belongs_to_the_byo_machine():
    secret = attach.tls_secret(scope(), {"ca.crt": "x"})
    assert secret == {
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "w-1-tls-bootstrap", "namespace": "team", "ownerReferences": [{
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "ByoMachine", "name": "w-1", "uid": "u-1",
            "controller": True, "blockOwnerDeletion": True}]},
        "data": {"ca.crt": "eA=="},
    }


def test_a_generated_kubelet_configuration_has_the_field_kubelet_does_not_know():
    config = yaml.safe_load(node_config.kubelet(None, "v1.34.1"))
    assert config["clusterDNS"] == ["10.96.0.10"]
    assert "text" in config["logging"]


def test_the_clusters_own_configurations_come_first():
    workload = examples.Recorder({
        ("configmaps", "kube-system", "kubelet-config"): {"data": {"kubelet": "general"}},
        ("configmaps", "kube-system", "kubelet-config-1.34"): {"data": {"kubelet": "of the minor"}},
        ("configmaps", "kube-system", "kube-proxy"): {"data": {"config.conf": "proxy"}},
    })
    assert node_config.kubelet(workload, "v1.34.1") == "of the minor"
    assert node_config.kubelet(workload, "v1.35.0") == "general"
    assert node_config.kube_proxy(workload) == "proxy"


@pytest.mark.parametrize("objects, address", [
    ({("services", "kube-system", "kube-dns"): {"spec": {"clusterIP": "10.96.7.7"}}}, "10.96.7.7"),
    ({("daemonsets", "kube-system", "node-local-dns"): {"spec": {"template": {"spec": {"containers": [
        {"args": ["-localip", "169.254.20.10,10.96.0.10", "-conf", "/etc/Corefile"]}]}}}}}, "169.254.20.10"),
])
def test_dns_is_looked_up_in_the_workload_cluster(objects, address):
    config = yaml.safe_load(node_config.kubelet(examples.Recorder(objects), "v1.34.1"))
    assert config["clusterDNS"] == [address]


def test_kube_proxy_uses_the_bootstrap_token_and_inherits_the_empty_ca():
    bootstrap = gather(examples.Recorder())["bootstrap-kubeconfig"]
    proxy, source = (yaml.safe_load(text) for text in (node_config.kube_proxy_kubeconfig(None, bootstrap), bootstrap))
    assert proxy["users"][0]["user"] == source["users"][0]["user"]
    assert proxy["clusters"][0]["cluster"] == {"server": "https://10.99.0.2:6443"}
