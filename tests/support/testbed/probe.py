"""Programs of tests/system/programs on a node: they read a line of JSON and answer with one."""

import json
import os
import re
import select
import subprocess
from pathlib import Path

from testbed.node import Node

TOP = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("KUBEXM_BUILD", TOP / "build" / "dev"))
GRACE_SECONDS = 20  # beyond a request's own deadline, on a busy machine


def install(node: Node, name: str) -> None:
    """Copies a program to a node, with the libraries that the node's Debian has in other versions."""
    program = BUILD / "tests/system/programs" / name
    if not program.exists():
        raise LookupError(f"{program} is not built; run ./dev build, or name a build directory in KUBEXM_BUILD")
    node.push(program, f"/usr/local/bin/{name}")
    have = dict(re.findall(r"(\S+) => (/\S+)", subprocess.run(["ldd", program], capture_output=True, text=True).stdout))
    for library in re.findall(r"(\S+) => not found", node.run(["ldd", f"/usr/local/bin/{name}"]).stdout):
        node.push(Path(have[library]).resolve(), f"/usr/local/lib/{library}")
    node.run(["ldconfig"])


class Probe:
    """A running systemd_probe: one connection to systemd until close()."""

    def __init__(self, node: Node) -> None:
        self._process = node.popen(["systemd_probe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, verb: str, *arguments: str, seconds: float = 60) -> dict:
        self.send(verb, *arguments, seconds=seconds)
        return self.receive()

    def send(self, verb: str, *arguments: str, seconds: float = 60) -> None:
        self._seconds = seconds
        self._process.stdin.write(json.dumps([int(seconds * 1000), verb, *arguments]) + "\n")
        self._process.stdin.flush()

    def receive(self) -> dict:
        ready, _, _ = select.select([self._process.stdout], [], [], self._seconds + GRACE_SECONDS)
        if not ready:
            raise TimeoutError(f"no answer {GRACE_SECONDS} s after the deadline of the request")
        line = self._process.stdout.readline()
        if not line:
            raise EOFError(f"the probe ended with {self._process.wait()}")
        return json.loads(line)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(GRACE_SECONDS)
