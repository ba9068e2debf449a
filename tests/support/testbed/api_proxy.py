"""A proxy before an API server that changes its answers, for faults that no server of ours has.

    with api_proxy.running(cluster, api_proxy.Changes(clock=timedelta(hours=2))) as server:  # "https://10.99.0.2:7443"
        ...

It ends TLS, so a client certificate does not pass it: a client with one gives it to the proxy (Changes.pair).
"""

import http.client
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from testbed.cluster import Cluster

PORT = 7443
ANSWER_SECONDS = 30
WATCH_SECONDS = 700  # longer than any watch


@dataclass
class Changes:
    clock: timedelta = timedelta()  # of the Date: for the client it is as if its own clock were wrong
    pair: Path | None = None  # certificate and key with which the proxy asks the server
    bookmarks: int | None = None  # how many pass, of all watches
    dropped: list[str] = field(default_factory=list)  # bookmarks, so far
    watches: list[str] = field(default_factory=list)  # paths, so far

    def passes(self, event: bytes) -> bool:
        if self.bookmarks is None or json.loads(event)["type"] != "BOOKMARK":
            return True
        if self.bookmarks > 0:
            self.bookmarks -= 1
            return True
        self.dropped.append(event.decode())
        return False


@contextmanager
def running(cluster: Cluster, changes: Changes) -> Iterator[str]:
    """The address of the proxy, which has the certificate of the API server."""
    certificates = cluster.directory / "pki"
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / "apiserver.crt", certificates / "apiserver.key")
    with ThreadingHTTPServer((cluster.address, PORT), _handler(cluster, changes)) as server:
        server.daemon_threads = True
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://{cluster.address}:{PORT}"
        server.shutdown()


def _handler(cluster: Cluster, changes: Changes) -> type[BaseHTTPRequestHandler]:
    trust = ssl.create_default_context(cafile=cluster.ca)
    if changes.pair:
        trust.load_cert_chain(changes.pair)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            is_watch = "watch=" in self.path
            upstream = http.client.HTTPSConnection(cluster.address, 6443, context=trust,
                                                   timeout=WATCH_SECONDS if is_watch else ANSWER_SECONDS)
            upstream.request(self.command, self.path, body, dict(self.headers))
            answer = upstream.getresponse()
            self.send_response_only(answer.status)
            self.send_header("Date", format_datetime(datetime.now(timezone.utc) + changes.clock, usegmt=True))
            self.send_header("Content-Type", answer.getheader("Content-Type", "text/plain"))
            if is_watch and answer.status == 200:
                self.pass_events(answer)
            else:
                self.pass_content(answer.read())

        def pass_content(self, content: bytes) -> None:
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def pass_events(self, answer: http.client.HTTPResponse) -> None:
            changes.watches.append(self.path)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while event := answer.readline():
                if changes.passes(event):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.write(b"0\r\n\r\n")

        do_GET = do_POST = do_PATCH = do_DELETE = forward

        def log_message(self, *_: object) -> None:
            """Nothing: the API server has an audit log."""

    return Handler
