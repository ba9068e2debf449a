"""A plan that waits in the middle until a test lets it go on."""

from testbed import executor_wire, waiting
from testbed.executor.client import offer, plan, shown
from testbed.executor.plan import step

GATE = "/run/gate"  # a pipe: who reads it waits until somebody writes
GATE_UNIT = "kubexm-gate.service"
CAT = step("transient-unit", name=GATE_UNIT, argv=["/usr/bin/cat", GATE], timeout_seconds=300)
FORWARD = step("sysctl", key="net.ipv4.ip_forward", value="1")
ALLOW_CAT = "allow:\n  executables: [/usr/bin/cat]\n"


def begin_plan_at_gate(node, identity: str, user: str = "kubexm", **more: str) -> None:
    """A plan whose first step waits at the gate and whose second is easy to see."""
    with executor_wire.connect(node, user) as wire:
        wire.hello()
        assert offer(wire, plan(identity, CAT, FORWARD, **more))["type"] == "accepted"
    wait_at_gate(node)


def wait_at_gate(node) -> None:
    waiting.until("the step at the gate", lambda: shown(node, "ActiveState", GATE_UNIT) == "activating", 120)


def wait_picked_up(node, killed: str) -> None:
    """Until the process after the killed one waits at the gate: a step that ends before that is done once more."""
    waiting.until("another process at the gate", lambda: shown(node, "MainPID") not in ("0", killed)
                  and shown(node, "Refs", GATE_UNIT), 120, lambda: node.journal("-n", "30"))


def open_gate(node) -> None:
    node.run(["sh", "-c", f"echo > {GATE}"])


def forwarding(node) -> str:
    return node.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip()


def state_of(node, identity: str) -> str:
    with executor_wire.connect(node, "root") as wire:
        wire.hello()
        return wire.ask({"type": "follow", "plan_id": identity})["state"]
