"""Plain HTTPS requests to an API server, for what must be quick or exact; the rest uses kubectl."""

import base64
import http.client
import io
import json
import ssl
import tempfile
import urllib.error
import urllib.parse
from pathlib import Path

import yaml

TIMEOUT_SECONDS = 60


class Api:
    """The API server of a kubeconfig, with the client certificate or token that stands in it."""

    def __init__(self, kubeconfig: str):
        config = yaml.safe_load(kubeconfig)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.server = cluster["server"]
        self._idle: list[http.client.HTTPSConnection] = []  # waiting conditions ask often; a handshake costs both sides
        self._headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._tls = ssl.create_default_context(cadata=authority)
        if "client-certificate-data" in user:
            self._load(user["client-certificate-data"], user["client-key-data"])

    def _load(self, certificate: str, key: str) -> None:
        with tempfile.NamedTemporaryFile() as file:  # the ssl module reads keys only from files
            Path(file.name).write_bytes(base64.b64decode(certificate) + base64.b64decode(key))
            self._tls.load_cert_chain(file.name)

    def request(self, method: str, path: str, body: object = None, kind: str = "application/json") -> bytes:
        """Returns the body of a successful answer; raises urllib.error.HTTPError for the others."""
        data = None if body is None else json.dumps(body).encode()
        answer, text = self._asked(method, path, data, {**self._headers, "Content-Type": kind})
        if answer.status >= 300:
            said = f"{answer.reason}: {text.decode(errors='replace')}"
            raise urllib.error.HTTPError(self.server + path, answer.status, said, answer.headers, io.BytesIO(text))
        return text

    def _asked(self, *request) -> tuple[http.client.HTTPResponse, bytes]:
        """On a connection of before only what changes nothing: its server may be another process by now."""
        if request[0] == "GET" and self._idle:
            try:
                return self._exchanged(self._idle.pop(), *request)
            except (http.client.HTTPException, ConnectionError, ssl.SSLError):
                pass
        server = urllib.parse.urlsplit(self.server)
        return self._exchanged(http.client.HTTPSConnection(
            server.hostname, server.port, timeout=TIMEOUT_SECONDS, context=self._tls), *request)

    def _exchanged(self, connection: http.client.HTTPSConnection, *request) -> tuple[http.client.HTTPResponse, bytes]:
        try:
            connection.request(*request)
            answer = connection.getresponse()
            text = answer.read()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return answer, text

    def get(self, path: str) -> dict | None:
        """The object at a path, None when there is none."""
        try:
            return json.loads(self.request("GET", path))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def says_ok(self, path: str) -> bool:
        """Whether a health path answers ok; a server that is not there yet does not."""
        try:
            return self.request("GET", path) == b"ok"
        except OSError:
            return False


class Kinds:
    """Paths of the API for names of kinds as kubectl takes them: "node", "nodes", "no"; in namespace default. And for
    objects."""

    def __init__(self, api: Api):
        self._api = api
        self._paths: dict[str, str] = {}
        self._collections: dict[tuple[str, str], tuple[str, bool]] = {}

    def collection(self, item: dict) -> str | None:
        """The path of all objects of this one's kind, in its namespace."""
        base = f"/apis/{item['apiVersion']}" if "/" in item["apiVersion"] else f"/api/{item['apiVersion']}"
        key = base, item["kind"]
        if key not in self._collections:
            self._collections |= {(base, found["kind"]): (found["name"], found["namespaced"])
                                  for found in (self._api.get(base) or {"resources": []})["resources"]
                                  if "/" not in found["name"]}
        if key not in self._collections:
            return None
        name, namespaced = self._collections[key]
        place = f"/namespaces/{item['metadata'].get('namespace', 'default')}" if namespaced else ""
        return f"{base}{place}/{name}"

    def path(self, kind: str) -> str | None:
        if kind not in self._paths:
            self._paths = self._discovered()
        return self._paths.get(kind)

    def _discovered(self) -> dict[str, str]:
        groups = [group["preferredVersion"]["groupVersion"] for group in self._api.get("/apis")["groups"]]
        found = {}
        for base in reversed(["/api/v1", *(f"/apis/{group}" for group in groups)]):  # the first one wins
            for resource in (self._api.get(base) or {"resources": []})["resources"]:
                place = f"{base}/namespaces/default" if resource["namespaced"] else base
                for name in (resource["name"], resource["singularName"], *resource.get("shortNames", [])):
                    found[name] = f"{place}/{resource['name']}"
        return found
