"""Our processes as the sanitizers see them, at real work on a node."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from testbed import exit_code, waiting
from testbed.enter import CommandFailed
from testbed.executor import Executor, client, gate, hosts, plan

TREES = {name: Path(path) for name, path in (pair.split("=") for pair in os.environ["KUBEXM_SANITIZED"].split())}
WAIT_SECONDS = 300  # sanitizers are slow
COMPLAINT = re.compile(r"ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|runtime error:")

# What the sanitizers themselves need: shadow memory, a fixed layout, tracing of their own threads.
RELAXED = """[Service]
SystemCallFilter=
MemoryDenyWriteExecute=no
LockPersonality=no
ProtectProc=default
ProcSubset=all
Environment=ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=halt_on_error=1
"""


@pytest.fixture(params=sorted(TREES))
def executor(request, nodes):
    node = nodes()
    for unit in ("kubexmd", "kubexm-executor"):
        node.write(f"/run/systemd/system/{unit}.service.d/sanitizer.conf", RELAXED)
    return Executor(node, TREES[request.param], WAIT_SECONDS)


def complaints(node) -> list[str]:
    return [line for line in node.journal("-o", "cat").splitlines() if COMPLAINT.search(line)]


def test_nothing_is_found_in_a_whole_life(executor):
    hosts.foreign(executor)
    executor.node.run(["systemctl", "start", "kubexmd"])
    for _ in range(2):
        done = executor.apply(plan.everything())
        assert done.returncode == 0, done.stdout + done.stderr + executor.node.journal("-n", "60")
        executor.node.run(["kubexmctl", "observe"])
        executor.node.run(["systemctl", "reload", "kubexm-executor", "kubexmd"])
        assert executor.undo().returncode == 0
        hosts.remake_deleted(executor)
    assert executor.apply(plan.text(plan.step("sysctl", key="kernel.core_pattern", value="x"))).returncode == exit_code.REFUSED
    executor.node.run(["systemctl", "restart", "kubexm-executor", "kubexmd"])
    executor.node.run(["systemctl", "stop", "kubexmd", "kubexm-executor.socket", "kubexm-executor"])
    assert complaints(executor.node) == []
    for unit in ("kubexmd", "kubexm-executor"):
        assert executor.node.shown("Result", unit) == "success"


def test_a_stop_in_the_middle_of_a_plan_is_clean(executor):
    """With a follower; the first step waits at a gate, so that the stop is not too late."""
    node = executor.node
    node.write(client.CONFIGURATION, gate.ALLOW_CAT)
    node.run(["systemctl", "restart", client.SERVICE])
    node.run(["mkfifo", gate.GATE])
    gate.begin_plan_at_gate(node, "p1")
    following = node.popen(["kubexmctl", "follow", "p1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    node.run(["systemctl", "restart", "--no-block", client.SERVICE])
    waiting.until("the stop", lambda: client.shown(node, "SubState") == "stop-sigterm", WAIT_SECONDS)
    gate.open_gate(node)
    following.wait(WAIT_SECONDS)
    waiting.until("the plan to end", lambda: executor.last().startswith("done"), WAIT_SECONDS,
                  lambda: node.journal("-n", "60"), despite=(CommandFailed,))
    assert gate.forwarding(node) == "1"
    assert complaints(node) == []
