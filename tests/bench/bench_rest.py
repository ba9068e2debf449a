"""What our two processes cost a host that does nothing, after they carried out a plan."""

import json
import subprocess
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
    return node.run(["systemctl", "show", "-P", "MainPID", unit]).stdout.strip()


def pss(node: Node, unit: str) -> float:
    rollup = node.read(f"/proc/{main_pid(node, unit)}/smaps_rollup").decode()
    return next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1024


def switches(node: Node, unit: str) -> int:
    """How often the kernel has put a thread of this process on a processor."""
    pid = main_pid(node, unit)
    status = node.run(["sh", "-c", f"cat /proc/{pid}/task/*/status"]).stdout
    return sum(int(line.split()[1]) for line in status.splitlines() if "ctxt_switches" in line)


def wakeups_per_minute(node: Node, units: list[str], seconds: int) -> list[float]:
    before = [switches(node, unit) for unit in units]
    time.sleep(seconds)  # this is the measurement, not a wait for something
    return [(switches(node, unit) - first) * 60 / seconds for unit, first in zip(units, before)]


def stripped_mb(program: Path) -> float:
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, program], check=True)
        return Path(stripped.name).stat().st_size / 1e6


def main() -> None:
    sizes = [stripped_mb(TREE / path) for path in OURS.values()]
    with Node() as node:
        prepare(node)
        node.run(["systemctl", "start", "kubexm-executor.socket"])
        count = rounds(quick=5, deep=20)
        started = {unit: middle([start(node, unit) for _ in range(count)]) for unit in (*OURS, "bare")}
        node.run(["systemctl", "start", *OURS, "bare"])
        node.write("/run/plan.json", json.dumps(PLAN))
        node.run(["kubexmctl", "apply", "/run/plan.json"])
        waiting.until("kubexmd is connected", lambda: "Executor available" in node.run(
            ["systemctl", "show", "-P", "StatusText", "kubexmd"]).stdout, 20)
        time.sleep(QUIET)  # nobody may ask: that would wake them
        memory = {unit: pss(node, unit) for unit in (*OURS, "bare")}
        *ours, bare = wakeups_per_minute(node, [*OURS, "bare"], rounds(quick=120, deep=600))
    show("rest", {
        "pss_mb": Figure(sum(memory[unit] for unit in OURS), "MB", floor=memory["bare"], goal=14),
        "wakeups_per_min": Figure(max(ours), "", floor=bare, goal=1),
        "stripped_mb": Figure(sum(sizes), "MB", floor=stripped_mb(BARE), goal=6),
        "start_ms": Figure(max(started[unit] for unit in OURS), "ms", floor=started["bare"], goal=100),
    })


if __name__ == "__main__":
    main()
