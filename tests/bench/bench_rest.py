"""What our two processes cost a host that does nothing, after they carried out a plan."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import Figure, middle, rounds, show
from release import TREE, find_libraries
from testbed import waiting
from testbed.node import Node

BARE = Path(__file__).resolve().parents[2] / "build/release/tests/bench/bare"
OURS = {"kubexmd": "usr/bin/kubexmd", "kubexm-executor": "usr/libexec/kubexm/kubexm-executor"}
BARE_UNIT = "[Service]\nType=notify\nNotifyAccess=all\nExecStart=/usr/local/bin/bare\n"
QUIET = 10  # seconds after a plan; by then a process is at rest
PLAN = {"id": "bench", "owner": "bench",
        "steps": [{"type": "sysctl", "with": {"key": "net.ipv4.ip_forward", "value": "1"}}]}


def prepare(node: Node) -> None:
    node.install(TREE)
    find_libraries(node)
    node.write("/usr/local/bin/bare", BARE.read_bytes(), mode=0o755)
    node.write("/etc/systemd/system/bare.service", BARE_UNIT)
    node.run(["systemctl", "daemon-reload"])


def start(node: Node, unit: str) -> float:
    """Milliseconds from the first instruction to READY."""
    node.run(["systemctl", "start", unit])
    times = node.run(["systemctl", "show", "-P", "ExecMainStartTimestampMonotonic", "-P", "ActiveEnterTimestampMonotonic",
                      unit]).stdout.split()
    begun, ready = sorted(int(number) for number in times)
    node.run(["systemctl", "stop", unit])
    return (ready - begun) / 1000


def main_pid(node: Node, unit: str) -> str:
    return node.shown("MainPID", unit)


def pss(node: Node, unit: str) -> float:
    rollup = node.read(f"/proc/{main_pid(node, unit)}/smaps_rollup").decode()
    return next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1024


def switches(node: Node, unit: str) -> int:
    """How often the kernel has put a thread of this process on a processor."""
    pid = main_pid(node, unit)
    status = node.run(["sh", "-c", f"cat /proc/{pid}/task/*/status"]).stdout
    return sum(int(line.split()[1]) for line in status.splitlines() if "ctxt_switches" in line)


def a_minute(node: Node, units: list[str]) -> dict[str, tuple[int, float]]:
    """By unit, how often it woke up in a minute and the memory it has after it."""
    before = {unit: switches(node, unit) for unit in units}
    time.sleep(60)  # this is the measurement, not a wait for something
    return {unit: (switches(node, unit) - before[unit], pss(node, unit)) for unit in units}


def stripped_mb(program: Path) -> float:
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, program], check=True)
        return Path(stripped.name).stat().st_size / 1e6


def main() -> int:
    sizes = [stripped_mb(TREE / path) for path in OURS.values()]
    with Node() as node:
        prepare(node)
        node.run(["systemctl", "start", "kubexm-executor.socket"])
        count = rounds(quick=5, deep=20)
        started = {unit: middle([start(node, unit) for _ in range(count)]) for unit in (*OURS, "bare")}
        node.run(["systemctl", "start", *OURS, "bare"])
        node.write("/run/plan.json", json.dumps(PLAN))
        node.run(["kubexmctl", "apply", "/run/plan.json"])
        waiting.until("kubexmd is connected", lambda: "Executor available" in node.shown("StatusText", "kubexmd"), 20)
        time.sleep(QUIET)  # nobody may ask: that would wake them
        minutes = [a_minute(node, [*OURS, "bare"]) for _ in range(rounds(quick=3, deep=10))]
    wakeups, memory = ({unit: middle([minute[unit][index] for minute in minutes]) for unit in (*OURS, "bare")}
                       for index in (0, 1))
    return show("rest", {
        "pss_mb": Figure(sum(memory[unit] for unit in OURS), "MB", floor=memory["bare"], goal=16),
        "wakeups_per_min": Figure(max(wakeups[unit] for unit in OURS), "", floor=wakeups["bare"], goal=1),
        "stripped_mb": Figure(sum(sizes), "MB", floor=stripped_mb(BARE), goal=6),
        "start_ms": Figure(max(started[unit] for unit in OURS), "ms", floor=started["bare"], goal=100),
    })


if __name__ == "__main__":
    sys.exit(main())
