"""The testbed's control plane is a real one: it answers, signs, audits, survives, and has company."""

import base64
import contextlib
import http.server
import json
import ssl
import subprocess
import threading
import urllib.error
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from testbed import components, kubernetes
from testbed.api import Api
from testbed.cluster import Cluster, KubectlError

pytestmark = pytest.mark.selftest


@pytest.fixture(scope="module")
def cluster():
    with Cluster("workload") as running:
        yield running


def test_every_component_answers(cluster):
    assert cluster.kubectl("get", "--raw", "/readyz") == "ok"
    assert json.loads(cluster.kubectl("version", "-o", "json"))["serverVersion"]["gitVersion"] == (
        f"v{kubernetes.version()}")
    for name in components.NAMES:
        assert components.is_healthy(name, cluster.address, cluster.api), name


def test_the_controller_manager_and_the_scheduler_work(cluster):
    """A Deployment becomes a pod by the one, and the other says why it has no place."""
    cluster.kubectl("create", "deployment", "homeless", "--image=kubexm.test/greeter:1")

    def verdict():
        pods = cluster.api.get("/api/v1/namespaces/default/pods?labelSelector=app=homeless")["items"]
        return [condition["reason"] for pod in pods for condition in pod["status"].get("conditions", [])]

    assert cluster.wait_for("the scheduler's verdict on a pod", verdict) == ["Unschedulable"]
    cluster.kubectl("delete", "deployment", "homeless")


def test_two_clusters_do_not_trust_each_other(cluster):
    with Cluster("management") as other:
        assert other.address != cluster.address
        assert other.ca.read_bytes() != cluster.ca.read_bytes()
        stranger = yaml.safe_load(cluster.kubeconfig.read_text())
        target = stranger["clusters"][0]["cluster"]

        target["server"] = other.server
        with pytest.raises(ssl.SSLCertVerificationError):
            Api(yaml.safe_dump(stranger)).get("/api/v1/namespaces")

        target["certificate-authority-data"] = base64.b64encode(other.ca.read_bytes()).decode()
        with pytest.raises(urllib.error.HTTPError, match="401"):
            Api(yaml.safe_dump(stranger)).get("/api/v1/namespaces")


def test_a_bootstrap_token_has_its_groups_and_nothing_more(cluster):
    group = "system:bootstrappers:kubexm:some-test"
    token = cluster.create_bootstrap_token(groups=(group,))
    client = Api(cluster.bootstrap_kubeconfig(token))
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}

    def identity():
        try:
            answer = client.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
            return json.loads(answer)["status"]["userInfo"]
        except urllib.error.HTTPError:  # the authenticator has not seen the new Secret yet
            return None

    user = cluster.wait_for("the token to be known", identity)
    assert user["username"] == f"system:bootstrap:{token.split('.')[0]}"
    assert set(user["groups"]) == {group, "system:bootstrappers", "system:authenticated"}
    with pytest.raises(urllib.error.HTTPError, match="403"):
        client.get("/api/v1/nodes")


def test_an_expired_token_is_cleaned_away(cluster):
    token = cluster.create_bootstrap_token(ttl=timedelta(seconds=1))
    name = f"/api/v1/namespaces/kube-system/secrets/bootstrap-token-{token.split('.')[0]}"
    cluster.wait_for("the token cleaner", lambda: cluster.api.get(name) is None)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        Api(cluster.bootstrap_kubeconfig(token)).get("/api/v1/nodes")


def test_the_audit_log_tells_who_did_what(cluster):
    cluster.kubectl("create", "configmap", "audited")
    events = [event for event in cluster.audit() if event.get("objectRef", {}).get("name") == "audited"]
    assert [(event["verb"], event["level"], event["user"]["username"]) for event in events] == [
        ("create", "Metadata", "kubernetes-super-admin")]


@pytest.mark.parametrize("component", components.NAMES)
def test_a_component_can_be_restarted_and_nothing_is_lost(cluster, component):
    name = f"before-{component}"
    cluster.kubectl("create", "configmap", name)
    cluster.restart(component)
    assert cluster.get("configmap", name) is not None


def test_certificates_are_signed_for_the_duration_asked_for(tmp_path):
    with Cluster("short-lived", signing_duration="20m") as cluster:
        key, request = tmp_path / "key.pem", tmp_path / "request.pem"
        _openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-subj", "/CN=somebody", "-keyout", key, "-out", request)
        cluster.apply(json.dumps({
            "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
            "metadata": {"name": "somebody"},
            "spec": {"request": base64.b64encode(request.read_bytes()).decode(), "usages": ["client auth"],
                     "signerName": "kubernetes.io/kube-apiserver-client"}}))
        cluster.kubectl("certificate", "approve", "somebody")
        certificate = cluster.wait_for(
            "the signed certificate", lambda: cluster.get("csr", "somebody")["status"].get("certificate"))
        (tmp_path / "certificate.pem").write_bytes(base64.b64decode(certificate))

        assert _ends_within(tmp_path / "certificate.pem", 21 * 60)
        assert not _ends_within(tmp_path / "certificate.pem", 15 * 60)


def test_an_admission_webhook_on_loopback_is_asked(cluster, tmp_path):
    certificate = _serving_certificate(tmp_path)
    with _denying_webhook(tmp_path) as port:
        cluster.apply(_webhook(port, certificate))

        def refusal():
            try:
                cluster.kubectl("create", "configmap", "unwelcome", "--dry-run=server")
            except KubectlError as error:
                if "not on my watch" in str(error):
                    return True
                raise  # shown at the deadline

        cluster.wait_for("the webhook to be asked", refusal)
        cluster.kubectl("delete", "validatingwebhookconfiguration", "testbed")


def _openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def _ends_within(certificate: Path, seconds: int) -> bool:
    return subprocess.run(["openssl", "x509", "-in", certificate, "-noout", "-checkend", str(seconds)],
                          capture_output=True).returncode == 1


def _serving_certificate(directory: Path) -> bytes:
    _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 1,
             "-subj", "/CN=webhook", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", directory / "key.pem", "-out", directory / "certificate.pem")
    return (directory / "certificate.pem").read_bytes()


@contextlib.contextmanager
def _denying_webhook(directory: Path):
    """A server on loopback that refuses whatever it is asked about; yields its port."""
    class Denial(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = {"uid": question["request"]["uid"], "allowed": False, "status": {"message": "not on my watch"}}
            body = json.dumps({**question, "response": answer}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Denial)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(directory / "certificate.pem", directory / "key.pem")
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


def _webhook(port: int, certificate: bytes) -> str:
    return json.dumps({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "testbed"},
        "webhooks": [{
            "name": "denial.kubexm.test", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"url": f"https://127.0.0.1:{port}/", "caBundle": base64.b64encode(certificate).decode()},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                       "resources": ["configmaps"]}],
            "matchConditions": [{"name": "unwelcome", "expression": "object.metadata.name == 'unwelcome'"}]}]})
