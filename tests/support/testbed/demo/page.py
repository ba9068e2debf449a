"""The host's status page, at an address of the machine that the demo runs on.

A sandbox has a network of its own that no browser reaches. A socket stays in the network that it was
made in: it is made outside and handed to the process inside as its standard input, which is the one
thing besides its output that a sandbox passes on.
"""

import contextlib
import os
import socket
import threading
from pathlib import Path

PORT = 10240  # the page's own; any other where that is taken
STDIN = 0


def listen() -> None:
    """Outside: makes the socket this process's standard input."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", PORT))
    except OSError:
        made.bind(("127.0.0.1", 0))
    made.listen()
    os.dup2(made.fileno(), STDIN)


def serve(backend: Path) -> str:
    """Inside: passes connections on to the unix socket `backend`. Returns the address of the page."""
    listener = socket.socket(fileno=os.dup(STDIN))
    threading.Thread(target=_accept, args=(listener, backend), daemon=True).start()
    host, port = listener.getsockname()
    return f"http://{host}:{port}"


def _accept(listener: socket.socket, backend: Path) -> None:
    while True:
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(str(backend))
        except OSError:  # kubexmd does not run at the moment
            client.close()
            continue
        for source, target in ((client, server), (server, client)):
            threading.Thread(target=_pump, args=(source, target), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Until one of them goes away: then the other is told, whose own pump ends by that."""
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
