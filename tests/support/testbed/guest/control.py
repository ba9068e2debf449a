"""The host's end of the control port; guest-image/root/usr/lib/testbed/control is the guest's."""

import base64
import socket
import time
from pathlib import Path


class Lost(RuntimeError):
    """The guest ended, or did not answer in time."""


def connect(path: Path) -> "Control | None":
    """None where nobody listens yet."""
    try:
        return Control(path)
    except (FileNotFoundError, ConnectionRefusedError):
        return None


class Control:
    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._received = b""

    def close(self) -> None:
        self._socket.close()

    def wait_ready(self, deadline: float) -> None:
        """Waits for the guest's next start; answers of the one before are of no interest any more."""
        while self._line(deadline) != b"ready":
            pass

    def run(self, script: str, seconds: float) -> tuple[int, bytes, bytes]:
        """Runs a shell script in the guest: its exit code (124: it took too long), stdout and stderr."""
        self.send(script, seconds)
        code, out, err = self._line(time.monotonic() + seconds + 60).split(b" ")
        return int(code), base64.b64decode(out[1:]), base64.b64decode(err[1:])

    def send(self, script: str, seconds: float = 60) -> None:
        """The same without waiting for an answer, which may never come."""
        self._socket.sendall(f"{seconds:g} {base64.b64encode(script.encode()).decode()}\n".encode())

    def _line(self, deadline: float) -> bytes:
        while b"\n" not in self._received:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.01))
            try:
                more = self._socket.recv(65536)
            except TimeoutError:
                raise Lost("the guest said nothing in time") from None
            if not more:
                raise Lost("the guest ended")
            self._received += more
        line, self._received = self._received.split(b"\n", 1)
        return line.strip()
