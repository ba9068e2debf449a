"""The manager's admission webhook for ByoHosts, and the path that says the manager is up."""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from testbed.standin.objects import at

PATH = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-byohost"


def review(request: dict) -> dict:
    """Anybody who is authenticated may create and change any host; only the deletion of one that
    belongs to a machine is refused. On purpose."""
    if request["operation"] == "DELETE" and at(request, "oldObject", "status", "machineRef"):
        return {"uid": request["uid"], "allowed": False,
                "status": {"code": 403, "message": "cannot delete ByoHost when MachineRef is assigned"}}
    return {"uid": request["uid"], "allowed": True}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._answer(200 if self.path == "/readyz" else 404, b"ok")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.split("?")[0] != PATH:
            self._answer(404, b"")
            return
        answer = {"apiVersion": body["apiVersion"], "kind": body["kind"], "response": review(body["request"])}
        self._answer(200, json.dumps(answer).encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """A line for each request would bury the manager's own."""


def serve(address: str, port: int, certificates: Path) -> None:
    """Serves in the background, with tls.crt and tls.key of a directory."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificates / "tls.crt", certificates / "tls.key")
    server = ThreadingHTTPServer((address, port), _Handler)
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
