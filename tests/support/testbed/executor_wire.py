"""A client of the executor written from the protocol alone, as hostile as a test wants it to be.

Nodes have no Python: the socket is reached from outside, through the root directory of the node's
PID 1, by a child with the identity that the kernel shall vouch for.

    with executor_wire.connect(node, "kubexm") as wire:
        wire.hello()
        print(wire.ask({"type": "history", "limit": 5}))
"""

import array
import hashlib
import json
import os
import shutil
import socket
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence, Set
from contextlib import closing, contextmanager
from pathlib import Path

from testbed import waiting

DIRECTORY, SOCKET = "/run/kubexm-executor", "executor.sock"
STATE = "/var/lib/kubexm-executor"
ANSWER_SECONDS = 300  # also of executor that a sanitizer slows down
PROTOCOL = 2


class Wire:
    """A connection; what the other side sends is read frame by frame."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.settimeout(ANSWER_SECONDS)
        self._last_id = 0

    def send(self, request: dict | bytes, descriptors: Sequence[int] = ()) -> int:
        """A dict as a well-behaved client would send it; bytes as they are. Returns the request's id."""
        self._last_id += 1
        frame = request if isinstance(request, bytes) else numbered(request, self._last_id)
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self._socket.sendmsg([frame], control)
        return self._last_id

    def receive_frame(self) -> dict | None:
        """The next reply with its id; None: the other side is gone."""
        while True:
            try:
                frame = self._socket.recv(1 << 20)
            except ConnectionResetError:  # said once, before what was sent to us
                continue
            return json.loads(frame) if frame else None

    def receive(self) -> dict | None:
        """The next reply, to whatever request; None: the other side is gone."""
        frame = self.receive_frame()
        return frame and frame["reply"]

    def ask(self, request: dict | bytes, descriptors: Sequence[int] = ()) -> dict | None:
        """Sends it and returns the reply that ends the answer. A hello is a request as any other."""
        try:
            identity = self.send(request, descriptors)
        except BrokenPipeError:
            identity = 0  # it was turned away before; the reply says why
        return self.last() if isinstance(request, bytes) else self.last(identity)

    def last(self, identity: int | None = None) -> dict | None:
        """The reply that ends the answer to a request, or to any; 0 is of the connection itself."""
        while (frame := self.receive_frame()) is not None:
            if frame["last"] and (identity is None or frame["id"] in (0, identity)):
                return frame["reply"]
        return None

    def event(self, kind: str) -> dict:
        """The next event of this kind for a subscriber; others are dropped."""
        while (reply := self.receive()) is not None and reply["type"] != kind:
            pass
        assert reply is not None, "the executor closed the connection"
        return reply

    def hello(self, protocol: int = PROTOCOL) -> dict | None:
        return self.ask({"type": "hello", "protocol": protocol, "program": "a test"})

    def close(self) -> None:
        self._socket.close()


def numbered(request: dict, identity: int) -> bytes:
    """A request as a frame."""
    return json.dumps({"id": identity, "request": request}).encode()


@contextmanager
def connect(node, user: str = "kubexm", groups: Sequence[int] = ()) -> Iterator[Wire]:
    """`groups`: the supplementary groups, by number."""
    wire = Wire(_connected(node, user, groups))
    try:
        yield wire
    finally:
        wire.close()


def ids(node, user: str) -> tuple[int, int]:
    """A user's number and that of its group, by the node's own list."""
    for line in Path(f"/proc/{node.leader}/root/etc/passwd").read_text().splitlines():
        name, _, uid, gid, *_ = line.split(":")
        if name == user:
            return int(uid), int(gid)
    raise LookupError(f"{node.name} has no user {user}")


def _connected(node, user: str, groups: Sequence[int]) -> socket.socket:
    uid, gid = ids(node, user)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    directory = os.open(f"/proc/{node.leader}/root{DIRECTORY}", os.O_PATH | os.O_DIRECTORY)
    child = os.fork()
    if child == 0:
        os._exit(_connect_as(uid, gid, groups, directory, theirs))
    os.close(directory)
    theirs.close()
    with ours:
        failure, descriptors, _, _ = socket.recv_fds(ours, 256, 1)
    os.waitpid(child, 0)
    if not descriptors:
        raise PermissionError(failure.decode())
    return socket.socket(fileno=descriptors[0])


def _connect_as(uid: int, gid: int, groups: Sequence[int], directory: int, parent: socket.socket) -> int:
    """In the child: only the kernel's idea of who connects counts, so it has to be true."""
    try:
        os.fchdir(directory)
        os.setgroups(groups)
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.connect(SOCKET)
            socket.send_fds(parent, [b"connected"], [connection.fileno()])
        return 0
    except OSError as failure:
        parent.send(str(failure).encode())
        return 1


def content(data: bytes) -> int:
    """A descriptor of a file in memory that holds this."""
    descriptor = os.memfd_create("content")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def audit(node) -> list[tuple[int, str, str]]:
    """Every record of the audit in the journal as (user, event, detail), the oldest first."""
    return waiting.until("a whole copy of the journal", lambda: _copied_audit(node), 30)[0]


def _copied_audit(node) -> list[list] | None:
    """From a copy, because the executor keeps the journal to themselves; None: it changed meanwhile."""
    state = Path(f"/proc/{node.leader}/root{STATE}")
    files = [file for file in (state / "journal.db", state / "journal.db-wal") if file.exists()]
    before = [file.stat().st_mtime_ns for file in files]
    with tempfile.TemporaryDirectory() as copy:
        for file in files:
            shutil.copy(file, copy)
        if before != [file.stat().st_mtime_ns for file in files if file.exists()]:
            return None
        with closing(sqlite3.connect(Path(copy) / "journal.db")) as database:
            return [list(database.execute("SELECT uid, event, detail FROM audit ORDER BY sequence"))]
