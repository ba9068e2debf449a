"""Two plans never run at once: a newer one waits, or takes the place of the older at a step boundary."""

from contextlib import ExitStack

import pytest

from testbed import executor_wire, waiting
from testbed.executor import client
from testbed.executor.client import plan
from testbed.executor.gate import ALLOW_CAT, GATE, begin_plan_at_gate, forwarding, open_gate, state_of, wait_picked_up
from testbed.executor.plan import access, step

NOTHING = step("sysctl", key="net.ipv4.ip_forward", value="0")
OTHER = step("directory", path="/etc/kubernetes", access=access("0755"))
MOST_LOOKS = 16  # as many connections, with two each
DENIED = step("sysctl", key="vm.swappiness", value="1")


@pytest.fixture
def ready(nodes):
    node = nodes()
    client.install(node, ALLOW_CAT)
    node.run(["mkfifo", GATE])
    return node


@pytest.fixture
def host(ready):
    """A node with a plan p1 of kubexmd that waits in its first step of two."""
    begin_plan_at_gate(ready, "p1")
    return ready


@pytest.fixture
def roots(ready):
    """The same with a plan of root."""
    begin_plan_at_gate(ready, "p1", user="root", owner="hardening")
    return ready


def ask(node, request: dict, user: str = "kubexm") -> None:
    """Sends a request whose answer comes after the gate was opened; returns when the executor has read it."""
    with executor_wire.connect(node, user) as wire:
        wire.hello()
        wire.send(request)
        wire.hello()


def apply_request(document: dict, replace: bool) -> dict:
    return {"type": "apply", "plan": document, "contents": [], "replace": replace}


def wait_for(node, identity: str, state: str) -> None:
    def seen() -> bool:
        return f"{state:<10} {identity} " in node.run(["kubexmctl", "history"]).stdout

    waiting.until(f"plan {identity} to be {state}", seen, 60, lambda: node.run(["kubexmctl", "history"]).stdout)


def test_a_newer_plan_waits(host):
    ask(host, apply_request(plan("p2", NOTHING), replace=False))
    open_gate(host)
    wait_for(host, "p2", "done")
    wait_for(host, "p1", "done")
    assert forwarding(host) == "0", "the newer one came last"


def test_a_cancelled_plan_stops_at_the_next_step(host):
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert wire.ask({"type": "cancel", "plan_id": "p1"})["type"] == "accepted"
    open_gate(host)
    wait_for(host, "p1", "cancelled")
    assert forwarding(host) == "0"


def test_a_newer_plan_takes_the_place_of_the_rest(host):
    ask(host, apply_request(plan("p2", NOTHING), replace=True))
    open_gate(host)
    wait_for(host, "p1", "cancelled")
    wait_for(host, "p2", "done")


def test_a_plan_does_not_stop_for_one_that_is_refused(host):
    with executor_wire.connect(host) as wire:
        wire.hello()
        wire.send(apply_request(plan("p2", DENIED), replace=True))
        open_gate(host)
        assert wire.last()["type"] == "refused"
    wait_for(host, "p1", "done")
    assert forwarding(host) == "1"


@pytest.mark.parametrize("request_again", [
    {"type": "undo", "plan_id": "p1", "owner": client.OWNER},
    {"type": "apply", "plan": plan("p1", NOTHING), "contents": [], "replace": True},
], ids=["undo", "apply"])
def test_a_plan_does_not_stop_for_an_id_that_was_used(host, request_again):
    with executor_wire.connect(host) as wire:
        wire.hello()
        wire.send(request_again)
        open_gate(host)
        assert "p1 was accepted before" in client.reason(wire.last())
    wait_for(host, "p1", "done")
    assert forwarding(host) == "1"


def test_a_flood_of_one_user_is_refused_and_holds_up_nobody_else(host):
    with ExitStack() as flood:
        wires = [flood.enter_context(executor_wire.connect(host)) for _ in range(MOST_LOOKS)]
        for wire in wires:
            wire.hello()
            wire.send({"type": "observe"})
            wire.send({"type": "observe"})
        with executor_wire.connect(host, "root") as wire:
            wire.hello()
            wire.send({"type": "observe"})
            wires[0].send({"type": "observe"})
            assert "too many requests of user" in client.reason(wires[0].last())
            open_gate(host)
            assert wire.last()["type"] == "observation"
    wait_for(host, "p1", "done")


def test_a_connection_offers_several_plans_and_asks_meanwhile(host):
    with executor_wire.connect(host) as wire:
        wire.hello()
        second = wire.send(apply_request(plan("p2", NOTHING), replace=False))
        third = wire.send(apply_request(plan("p3", NOTHING), replace=False))
        assert wire.hello()["type"] == "hello", "answered while two plans wait"
        open_gate(host)
        accepted = [wire.receive_frame() for _ in range(2)]
    assert [(each["id"], each["reply"].get("plan_id"), each["last"]) for each in accepted] == [
        (second, "p2", True), (third, "p3", True)]
    wait_for(host, "p3", "done")


def test_an_order_for_somebody_else_is_written_down_as_a_claim(host):
    with executor_wire.connect(host) as wire:
        wire.hello()
        claim = {"on_behalf_of": {"uid": 4711, "origin": "control"}}
        assert wire.ask({"type": "cancel", "plan_id": "p1"} | claim)["type"] == "accepted"
    open_gate(host)
    wait_for(host, "p1", "cancelled")

    def written() -> bool:
        kubexm = executor_wire.ids(host, "kubexm")[0]
        return (kubexm, "plan cancelled", "p1 (on behalf of user 4711, control, as the client says)") in executor_wire.audit(host)
    waiting.until("a record in the audit", written, 30, lambda: str(executor_wire.audit(host)))


def test_a_cancel_that_is_refused_is_written_down(host):
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert "p0 is not running" in client.reason(wire.ask({"type": "cancel", "plan_id": "p0"}))
    open_gate(host)
    wait_for(host, "p1", "done")
    assert forwarding(host) == "1"

    def written() -> bool:
        return any("p0 is not running" in detail for _, _, detail in executor_wire.audit(host))
    waiting.until("a record in the audit", written, 30)


def test_a_plan_goes_on_when_kubexmd_is_killed(host):
    host.run(["systemctl", "start", "kubexmd"])
    host.run(["systemctl", "kill", "--signal", "KILL", "kubexmd"])
    open_gate(host)
    wait_for(host, "p1", "done")
    waiting.until("kubexmd to be back", lambda: client.shown(host, "ActiveState", "kubexmd") == "active", 60)
    assert state_of(host, "p1") == "done"


def test_a_plan_of_root_is_neither_cancelled_nor_replaced_by_kubexmd(roots):
    with executor_wire.connect(roots) as wire:
        wire.hello()
        assert "plan p1 is root's" in client.reason(wire.ask({"type": "cancel", "plan_id": "p1"}))
    ask(roots, apply_request(plan("p2", OTHER), replace=True))
    assert roots.run(["ls", "/etc/kubernetes"], check=False).returncode != 0, "kubexmd's plan waits for root's"
    open_gate(roots)
    wait_for(roots, "p2", "done")
    wait_for(roots, "p1", "done")
    assert forwarding(roots) == "1"


def test_objects_of_root_are_neither_undone_nor_repaired_by_kubexmd(roots):
    open_gate(roots)
    wait_for(roots, "p1", "done")
    with executor_wire.connect(roots) as wire:
        wire.hello()
        for request in ({"type": "undo", "plan_id": "p2", "owner": "hardening"},
                        {"type": "repair", "plan_id": "p2", "owner": "hardening"},
                        apply_request(plan("p2", NOTHING, owner="hardening"), replace=False)):
            assert "other owners are root's" in client.reason(wire.ask(request)), request
    assert forwarding(roots) == "1"


def test_a_request_of_root_goes_first_and_drops_what_kubexmd_has_queued(host):
    with executor_wire.connect(host) as waits:
        waits.hello()
        waits.send(apply_request(plan("p2", step("sysctl", key="kernel.panic", value="77")), replace=False))
        waits.hello()
        ask(host, {"type": "undo", "plan_id": "u1", "owner": client.OWNER}, "root")
        open_gate(host)
        assert "a request of root goes first" in client.reason(waits.last())
    wait_for(host, "u1", "undone")
    wait_for(host, "p1", "cancelled")
    assert host.run(["sysctl", "-n", "kernel.panic"]).stdout.strip() != "77"


def test_names_of_machines_are_kubexmds(ready):
    with executor_wire.connect(ready, "root") as wire:
        wire.hello()
        refused = client.apply(wire, plan("p1", NOTHING, owner="machine-learning"))
        assert "names that begin with machine- are kubexmd's" in refused


def test_a_list_that_root_shortens_ends_the_running_plan(host):
    host.write(client.CONFIGURATION, f"{ALLOW_CAT}  sysctls: []\n")
    host.run(["systemctl", "reload", client.SERVICE])
    client.until_logged(host, "executor.yaml reloaded")
    open_gate(host)
    wait_for(host, "p1", "failed")
    assert forwarding(host) == "0"


def test_a_list_that_root_shortened_holds_for_a_plan_that_is_resumed(host):
    host.write(client.CONFIGURATION, f"{ALLOW_CAT}  sysctls: []\n")
    killed = client.shown(host, "MainPID")
    host.run(["systemctl", "kill", "--signal=KILL", client.SERVICE])
    wait_picked_up(host, killed)
    open_gate(host)
    wait_for(host, "p1", "failed")
    assert forwarding(host) == "0"
