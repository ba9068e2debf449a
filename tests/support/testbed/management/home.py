"""Where the managers of one cluster live: a network namespace with an address on the bridge.

The BYOH manager insists on one webhook port on all addresses. In namespaces of their own the managers
of several clusters run side by side, each with the ports it has everywhere else.
"""

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from testbed import network


@dataclass(frozen=True)
class Home:
    address: str
    enter: list[str]  # what a command line begins with to run there


@contextlib.contextmanager
def make(directory: Path, number: int) -> Iterator[Home]:
    network.ensure_bridge()
    outside = f"managers{number}"
    handle = directory / "network"
    handle.touch()
    try:
        _run("unshare", f"--net={handle}", "true")
        home = Home(f"10.99.0.{number}", ["nsenter", f"--net={handle}"])
        _connect(home, outside, handle)
        yield home
    finally:
        subprocess.run(["ip", "link", "delete", outside], capture_output=True)  # the kernel would, but later
        subprocess.run(["umount", "--lazy", str(handle)], capture_output=True)


def _connect(home: Home, outside: str, handle: Path) -> None:
    _run("ip", "link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", str(handle))
    _run("ip", "link", "set", outside, "master", network.BRIDGE, "up")
    _run(*home.enter, "ip", "link", "set", "lo", "up")
    _run(*home.enter, "ip", "address", "add", f"{home.address}/24", "dev", "eth0")
    _run(*home.enter, "ip", "link", "set", "eth0", "up")


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"`{' '.join(command)}` ended with {done.returncode}: {done.stderr.strip()}")
