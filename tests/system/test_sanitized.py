"""Our processes as the sanitizers see them, at real work on a node."""

import os
import re
from pathlib import Path

import pytest

from testbed import waiting
from testbed.hands import Hands, hosts, plan

TREES = {name: Path(path) for name, path in (pair.split("=") for pair in os.environ["KUBEXM_SANITIZED"].split())}
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
def hands(request, nodes):
    node = nodes()
    for unit in ("kubexmd", "kubexm-hands"):
        node.write(f"/run/systemd/system/{unit}.service.d/sanitizer.conf", RELAXED)
    return Hands(node, TREES[request.param])


def complaints(node) -> list[str]:
    return [line for line in node.journal("-o", "cat").splitlines() if COMPLAINT.search(line)]


def test_nothing_is_found_in_a_whole_life(hands):
    hosts.foreign(hands)
    hands.node.run(["systemctl", "start", "kubexmd"])
    for _ in range(2):
        done = hands.apply(plan.everything())
        assert done.returncode == 0, done.stdout + done.stderr + hands.node.journal("-n", "60")
        hands.node.run(["kubexmctl", "observe"])
        hands.node.run(["systemctl", "reload", "kubexm-hands", "kubexmd"])
        assert hands.undo().returncode == 0
        hosts.doom(hands)
    assert hands.apply(plan.text(plan.step("sysctl", key="kernel.core_pattern", value="x"))).returncode == 1
    hands.node.run(["systemctl", "restart", "kubexm-hands", "kubexmd"])
    hands.node.run(["systemctl", "stop", "kubexmd", "kubexm-hands.socket", "kubexm-hands"])
    assert complaints(hands.node) == []
    for unit in ("kubexmd", "kubexm-hands"):
        assert hands.node.run(["systemctl", "show", "-P", "Result", unit]).stdout.strip() == "success"


def test_a_stop_in_the_middle_of_a_plan_is_clean(hands):
    hosts.bare(hands)
    applying = hands.node.popen(["kubexmctl", "apply", _sent(hands)], stdout=-3, stderr=-3)
    waiting.until("the plan to begin", lambda: "kubexm-test" in hands.node.journal("-u", "kubexm-hands") or
                  (hands.root / "etc/kubernetes").exists(), 60)
    hands.node.run(["systemctl", "restart", "kubexm-hands"])
    applying.wait(60)
    waiting.until("the plan to end", lambda: hands.last().startswith("done"), 60)
    assert complaints(hands.node) == []


def _sent(hands: Hands) -> str:
    text = plan.text(*[plan.step("directory", path=f"/etc/kubernetes{'/deeper' * depth}",
                                 access={"mode": "0755", "uid": 0, "gid": 0}) for depth in range(40)])
    hands.place("plan.json").write_text(text)
    return "/run/kubexm-test/plan.json"
