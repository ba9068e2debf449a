"""A proxy before an API server that gives its answers another Date: for the host it is as if its own clock were wrong.

    with date_proxy.running(cluster, timedelta(hours=2)) as server:  # "https://10.99.0.2:7443"
        ...
"""

import http.client
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from testbed.cluster import Cluster

PORT = 7443
ANSWER_SECONDS = 30


@contextmanager
def running(cluster: Cluster, offset: timedelta) -> Iterator[str]:
    """The address of the proxy, which has the certificate of the API server."""
    certificates = cluster.directory / "pki"
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / "apiserver.crt", certificates / "apiserver.key")
    with ThreadingHTTPServer((cluster.address, PORT), _handler(cluster, offset)) as server:
        server.daemon_threads = True
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://{cluster.address}:{PORT}"
        server.shutdown()


def _handler(cluster: Cluster, offset: timedelta) -> type[BaseHTTPRequestHandler]:
    trust = ssl.create_default_context(cafile=cluster.ca)

    class Handler(BaseHTTPRequestHandler):
        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            upstream = http.client.HTTPSConnection(cluster.address, 6443, timeout=ANSWER_SECONDS, context=trust)
            upstream.request(self.command, self.path, body, dict(self.headers))
            answer = upstream.getresponse()
            content = answer.read()
            self.send_response_only(answer.status)
            self.send_header("Date", format_datetime(datetime.now(timezone.utc) + offset, usegmt=True))
            self.send_header("Content-Type", answer.getheader("Content-Type", "text/plain"))
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_DELETE = forward

        def log_message(self, *_: object) -> None:
            """Nothing: the API server has an audit log."""

    return Handler
