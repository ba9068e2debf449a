"""However a sandbox ends, nothing is left: no process, mount, bridge, network namespace, cgroup or file."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from testbed import cache, sandbox, waiting

pytestmark = pytest.mark.selftest

END_SECONDS = 120

# Fills a sandbox with everything that could be left behind, says what, and waits for its end.
OCCUPANT = """
import json, os, subprocess, sys
from pathlib import Path
from testbed import network
from testbed.node import Node

node = Node()
node.boot()
subprocess.run(["ip", "netns", "add", "planted"], check=True)
place = network.run_directory() / "mounted"
place.mkdir()
subprocess.run(["mount", "-t", "tmpfs", "planted", place], check=True)
orphan = subprocess.Popen(["setsid", "sleep", "86396"])
spaces = [os.readlink(f"/proc/{pid}/ns/{kind}") for pid in ("self", node.leader) for kind in ("pid", "mnt", "net")]
print(json.dumps({"run": str(network.run_directory()), "namespaces": spaces}), flush=True)
sys.stdin.read()
"""


@dataclass
class Occupied:
    """A sandbox with a node, and how to find its traces from outside."""

    process: subprocess.Popen
    run: Path
    namespaces: set[str]

    def processes(self) -> list[str]:
        """Processes in one of its namespaces. A namespace without processes is gone, with all
        mounts, bridges and links in it."""
        return [entry for entry in os.listdir("/proc") if entry.isdigit() and self._is_inside(entry)]

    def _is_inside(self, pid: str) -> bool:
        try:
            return any(os.readlink(f"/proc/{pid}/ns/{kind}") in self.namespaces for kind in ("pid", "mnt", "net"))
        except OSError:  # it ended while we looked
            return False

    def mounts(self) -> list[str]:
        return [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if self.run.name in line]

    def links(self) -> str:
        return subprocess.run(["ip", "link", "show", "kxm0"], capture_output=True, text=True).stdout

    def named_namespaces(self) -> str:
        return subprocess.run(["ip", "netns"], capture_output=True, text=True).stdout

    def cgroups(self) -> list[Path]:
        return [group for group in sandbox.cgroups(self.run.name) if group.exists()]

    def files(self) -> list[Path]:
        return [path for path in (self.run, Path("/run/netns/planted")) if path.exists()]


def start_sandbox(*command: str, **options) -> subprocess.Popen:
    environment = {name: value for name, value in os.environ.items() if name != "KUBEXM_RUN"}
    return subprocess.Popen([sys.executable, "-m", "testbed.sandbox", *command],
                            env=environment | {"PYTHONPATH": ":".join(sys.path)}, **options)


@pytest.fixture
def occupied(request) -> Occupied:
    process = start_sandbox(sys.executable, "-c", OCCUPANT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    request.addfinalizer(process.kill)
    told = json.loads(process.stdout.readline())
    # the walls: what stands inside is in none of our own namespaces
    own = {os.readlink(f"/proc/self/ns/{kind}") for kind in ("pid", "mnt", "net")}
    assert not own & set(told["namespaces"])
    return Occupied(process, Path(told["run"]), set(told["namespaces"]))


def finish_normally(process: subprocess.Popen) -> None:
    process.stdin.close()


ENDINGS = {"the end of its command": finish_normally,
           "SIGINT": lambda process: process.send_signal(signal.SIGINT),
           "SIGTERM": lambda process: process.send_signal(signal.SIGTERM),
           "SIGKILL": lambda process: process.kill()}


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_left_after(ending: str, occupied: Occupied) -> None:
    assert len(occupied.processes()) > 5, "the search must find what is there"
    assert occupied.cgroups() and occupied.files()
    assert not occupied.mounts() and not occupied.named_namespaces(), "they must not be seen from outside at all"
    bridge_outside = bool(occupied.links())

    ENDINGS[ending](occupied.process)
    occupied.process.wait(END_SECONDS)
    waiting.until("the last process of the sandbox to end", lambda: not occupied.processes(), END_SECONDS,
                  lambda: f"still there: {occupied.processes()}")
    if ending == "SIGKILL":  # the next sandbox removes what the kernel does not
        assert start_sandbox("true").wait(END_SECONDS) == 0
    assert not waiting.until_none(lambda: [*occupied.cgroups(), *occupied.files()], END_SECONDS)
    assert not occupied.mounts() and not occupied.named_namespaces()
    assert bool(occupied.links()) == bridge_outside


def test_a_running_sandbox_is_left_alone_by_the_next(occupied: Occupied) -> None:
    assert start_sandbox("true").wait(END_SECONDS) == 0
    assert occupied.files() and occupied.cgroups()
    assert len(occupied.processes()) > 5


def test_exit_code_and_output_come_through() -> None:
    process = start_sandbox("sh", "-c", "echo from inside; exit 7", stdout=subprocess.PIPE, text=True)
    assert process.communicate(timeout=END_SECONDS)[0] == "from inside\n"
    assert process.returncode == 7


def test_a_command_that_ignores_the_signal_is_ended_all_the_same(monkeypatch) -> None:
    code = "from testbed import sandbox; import sys; sandbox.GRACE_SECONDS = 1; sys.exit(sandbox.run(sys.argv[1:]))"
    process = subprocess.Popen([sys.executable, "-c", code, "sh", "-c", "trap '' TERM INT; echo ready; while :; do sleep 1; done"],
                               env=os.environ | {"PYTHONPATH": ":".join(sys.path)}, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(END_SECONDS) != 0


def test_a_sandbox_has_a_network_of_its_own() -> None:
    process = start_sandbox("ip", "-brief", "link", stdout=subprocess.PIPE, text=True)
    links = [line.split()[0] for line in process.communicate(timeout=END_SECONDS)[0].splitlines()]
    assert "lo" in links and "kxm0" not in links and "eth0" not in links


def test_what_is_cached_is_not_removed_with_a_sandbox(tmp_path: Path) -> None:
    kept = cache.root() / "node-image"
    before = sorted(kept.iterdir())
    assert before and start_sandbox("true").wait(END_SECONDS) == 0
    assert sorted(kept.iterdir()) == before
