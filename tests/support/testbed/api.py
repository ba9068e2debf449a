"""Plain HTTPS requests to an API server, for what must be quick or exact; the rest uses kubectl."""

import base64
import json
import ssl
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import yaml

TIMEOUT_SECONDS = 60


class Api:
    """The API server of a kubeconfig, with the client certificate or token that stands in it."""

    def __init__(self, kubeconfig: str):
        config = yaml.safe_load(kubeconfig)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.server = cluster["server"]
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
        request = urllib.request.Request(self.server + path, data, {**self._headers, "Content-Type": kind},
                                         method=method)
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS, context=self._tls) as answer:
            return answer.read()

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
    """Paths of the API for names of kinds as kubectl takes them: "node", "nodes", "no"; in namespace default."""

    def __init__(self, api: Api):
        self._api = api
        self._paths: dict[str, str] = {}

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
