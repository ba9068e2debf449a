"""A program of the testbed that runs beside the tests and writes its output to a log file."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from testbed import waiting

TAIL_LINES = 25
# Programs in Go may use more memory, and collect garbage less often: processors are what tests wait for.
FOR_GO = {"GOGC": "400"}


class Process:
    def __init__(self, name: str, command: list[str], log: Path, environment: dict[str, str] | None = None):
        self.name, self.command, self.log = name, command, log
        self._environment = {**FOR_GO, **os.environ, **(environment or {})}
        self._child: subprocess.Popen | None = None

    def start(self) -> None:
        with open(self.log, "ab") as log:
            self._child = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                           env=self._environment, start_new_session=True)

    def kill(self) -> None:
        """Ends it the way a crash would: at once, without a chance to say goodbye."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self._child = None

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """It does not run meanwhile: its files are as a crash would leave them."""
        self._child.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._child.send_signal(signal.SIGCONT)

    def restart(self) -> None:
        self.kill()
        self.start()

    def running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def log_lines(self) -> list[str]:
        return self.log.read_text(errors="replace").splitlines() if self.log.exists() else []

    def tail(self) -> str:
        return "\n".join([f"--- end of {self.log}", *self.log_lines()[-TAIL_LINES:]])

    def wait_until(self, what: str, condition, seconds: float):
        """Waits for a condition that this program brings about; its death ends the wait."""
        def met():
            if not self.running():
                raise RuntimeError(f"{self.name} ended while waiting for {what}\n{self.tail()}")
            return condition()
        return waiting.until(f"{what} from {self.name}", met, seconds, self.tail)
