"""An API server reached with a kubeconfig: requests and watches over plain HTTPS."""

import base64
import http.client
import json
import ssl
import tempfile
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import yaml

TIMEOUT_SECONDS = 20
WATCH_SECONDS = 240

PREFIXES = {
    "byohosts": "/apis/infrastructure.cluster.x-k8s.io/v1beta1",
    "byomachines": "/apis/infrastructure.cluster.x-k8s.io/v1beta1",
    "byoclusters": "/apis/infrastructure.cluster.x-k8s.io/v1beta1",
    "k8sinstallerconfigs": "/apis/infrastructure.cluster.x-k8s.io/v1beta1",
    "k8sinstallerconfigtemplates": "/apis/infrastructure.cluster.x-k8s.io/v1beta1",
    "bootstrapkubeconfigs": "/apis/infrastructure.cluster.x-k8s.io/v1beta1",
    "machines": "/apis/cluster.x-k8s.io/v1beta1",
    "clusters": "/apis/cluster.x-k8s.io/v1beta1",
    "certificatesigningrequests": "/apis/certificates.k8s.io/v1",
    "secrets": "/api/v1",
    "configmaps": "/api/v1",
    "services": "/api/v1",
    "events": "/api/v1",
    "nodes": "/api/v1",
    "daemonsets": "/apis/apps/v1",
}


class ApiError(Exception):
    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status = status


def _message(text: bytes) -> str:
    try:
        return json.loads(text)["message"]
    except (ValueError, KeyError):
        return text.decode(errors="replace")


def path(resource: str, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """The path of an object, or of a collection when there is no name."""
    parts = [PREFIXES[resource]] + (["namespaces", namespace] if namespace else []) + [resource]
    return "/".join(parts + [part for part in (name, subresource) if part])


class Client:
    def __init__(self, kubeconfig: str):
        config = yaml.safe_load(kubeconfig)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._server = urllib.parse.urlsplit(cluster["server"])
        self._headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._tls = ssl.create_default_context(cadata=authority)
        if "client-certificate-data" in user:
            self._load(user["client-certificate-data"], user["client-key-data"])
        self._connections = threading.local()  # a connection serves one thread

    def _load(self, certificate: str, key: str) -> None:
        with tempfile.NamedTemporaryFile() as file:  # the ssl module reads keys only from files
            Path(file.name).write_bytes(base64.b64decode(certificate) + b"\n" + base64.b64decode(key))
            self._tls.load_cert_chain(file.name)

    def _connect(self, timeout: float) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._server.hostname, self._server.port or 443,
                                           timeout=timeout, context=self._tls)

    def request(self, method: str, target: str, body: dict | None = None,
                kind: str = "application/json") -> dict:
        data = None if body is None else json.dumps(body)
        headers = {**self._headers, "Content-Type": kind}
        try:
            answer, text = self._send(method, target, data, headers)
        except (http.client.HTTPException, ConnectionError):  # an idle connection that was closed
            self._connections.__dict__.clear()
            answer, text = self._send(method, target, data, headers)
        if answer.status >= 300:
            raise ApiError(answer.status, f"{method} {target}: {answer.status} {_message(text)}")
        return json.loads(text)

    def _send(self, method: str, target: str, data: str | None, headers: dict):
        if not hasattr(self._connections, "http"):
            self._connections.http = self._connect(TIMEOUT_SECONDS)
        self._connections.http.request(method, target, data, headers)
        answer = self._connections.http.getresponse()
        return answer, answer.read()

    def get(self, resource: str, namespace: str, name: str) -> dict | None:
        try:
            return self.request("GET", path(resource, namespace, name))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def find(self, resource: str, namespace: str = "", selector: str = "") -> list[dict]:
        query = "?" + urllib.parse.urlencode({"labelSelector": selector}) if selector else ""
        return self.request("GET", path(resource, namespace) + query)["items"]

    def create(self, resource: str, body: dict) -> dict:
        return self.request("POST", path(resource, body["metadata"].get("namespace", "")), body)

    def merge(self, resource: str, target: dict, patch: dict, subresource: str = "") -> dict:
        """Sends a merge patch for an object."""
        meta = target["metadata"]
        return self.request("PATCH", path(resource, meta.get("namespace", ""), meta["name"], subresource),
                            patch, "application/merge-patch+json")

    def put(self, resource: str, body: dict, subresource: str = "") -> dict:
        meta = body["metadata"]
        return self.request("PUT", path(resource, meta.get("namespace", ""), meta["name"], subresource), body)

    def delete(self, resource: str, namespace: str, name: str) -> None:
        self.request("DELETE", path(resource, namespace, name))

    def list_all(self, resource: str) -> tuple[list[dict], str]:
        """All objects of a kind, and the version from which to follow their changes."""
        listed = self.request("GET", path(resource))
        return listed["items"], listed["metadata"]["resourceVersion"]

    def follow(self, resource: str, version: str) -> Iterator[dict]:
        """Yields each object of a kind when it changes, until the server ends the stream or forgot the version."""
        query = urllib.parse.urlencode({"watch": 1, "resourceVersion": version, "timeoutSeconds": WATCH_SECONDS})
        connection = self._connect(WATCH_SECONDS + TIMEOUT_SECONDS)
        try:
            connection.request("GET", f"{path(resource)}?{query}", headers=self._headers)
            for line in connection.getresponse():
                event = json.loads(line)
                if event["type"] == "ERROR":
                    return
                yield event["object"]
        finally:
            connection.close()
