"""Plans that run: root's goes first, root's is not stopped, and a list that root shortened holds at once."""

import json
from collections.abc import Callable

from escapes import Escape, about, carry_out, contents_of, data, directory, name_of, rendered
from escapes.host import PKI, USUAL, at
from escapes.lists import unit_state
from escapes.probes import made, says, start, sysctl, unit
from testbed import executor_wire, waiting
from testbed.executor import client, gate
from testbed.executor.client import plan, reason
from testbed.executor.gate import CAT, FORWARD, begin_plan_at_gate, open_gate, state_of
from testbed.executor.plan import step
from testbed.executor_wire import Wire
from testbed.node import Node

HARDENING = "hardening"
FORWARDING = "net.ipv4.ip_forward"


def _while_root_works(aim: str, because: str, ask: Callable[[Wire, Node, str], str]) -> Escape:
    """Root's plan waits in its first step; the second is not done if the attacker could stop it."""
    stopped: list[bool] = []

    def attempt(node: Node) -> str:
        roots = f"{name_of(aim)}-root"
        begin_plan_at_gate(node, roots, "root", owner=HARDENING)
        with executor_wire.connect(node) as wire:
            wire.hello()
            outcome = ask(wire, node, roots)
        stopped[:] = [state_of(node, roots) == "cancelled"]
        return outcome

    return Escape(aim, (), ("rank",), because, attempt, lambda _: stopped[0], finding="A5")


def _cancel(wire: Wire, node: Node, roots: str) -> str:
    outcome = reason(wire.ask({"type": "cancel", "plan_id": roots}))
    open_gate(node)
    return outcome


def _replace(request: dict) -> Callable[[Wire, Node, str], str]:
    """Answered after the step at the gate."""
    def ask(wire: Wire, node: Node, roots: str) -> str:
        identity = f"{roots}-replaced"
        asked = wire.send(json.loads(json.dumps(request).replace("ID", identity)))
        wire.hello()
        open_gate(node)
        return reason(wire.last(asked)) or reason(wire.ask({"type": "follow", "plan_id": identity}))
    return ask


def _ahead_of_root(node: Node) -> str:
    """Two plans of kubexmd, of which one runs and one waits, when root comes."""
    begin_plan_at_gate(node, "ahead-running")
    with executor_wire.connect(node) as waits, executor_wire.connect(node, "root") as root:
        waits.hello()
        root.hello()
        asked = waits.send({"type": "apply", "plan": plan("ahead-waiting", directory("/etc/kubernetes/new")),
                            "contents": [], "replace": False})
        waits.hello()
        roots = root.send({"type": "undo", "plan_id": "ahead-root", "owner": HARDENING})
        root.hello()
        open_gate(node)
        outcome = reason(waits.last(asked))
        assert reason(root.last(roots)) == ""
        return outcome


def _shorten(node: Node, configuration: str) -> None:
    """Root's lists while a plan runs."""
    def reloads() -> int:
        return node.journal("-o", "cat", f"--unit={client.SERVICE}").count("executor.yaml reloaded")

    before = reloads()
    at(node, client.CONFIGURATION).write_text(configuration)
    node.run(["systemctl", "reload", client.SERVICE])
    waiting.until("the new lists", lambda: reloads() > before, 60)


def _after_the_lists(each: dict, shorter: str, because: str, reached, before=lambda _: None,
                     aim: str = "") -> Escape:
    aim = aim or f"a {each['type']} that root has forbidden since"

    def attempt(node: Node) -> str:
        before(node)
        identity = name_of(aim)
        with executor_wire.connect(node) as wire:
            wire.hello()
            offered = client.offer(wire, plan(identity, CAT, each), contents_of([each]))
            assert offered["type"] == "accepted", offered
            gate.wait_at_gate(node)
            _shorten(node, USUAL.replace(*shorter.split(" -> ")))
            open_gate(node)
            outcome = reason(wire.ask({"type": "follow", "plan_id": identity}))
        _shorten(node, USUAL)
        return outcome

    return Escape(aim, (each["type"],), ("lists-again",), because, attempt, reached, finding="A6")


def _roots_object(roots: dict, others: dict, reached) -> Escape:
    """Root has applied it, and the attacker wants another value for a node of its."""
    aim = f"a {' '.join(about(others))} with another value than a {' '.join(about(roots))} of root"

    def attempt(node: Node) -> str:
        assert carry_out(node, f"{name_of(aim)}-root", roots, owner=HARDENING, user="root") == ""
        return carry_out(node, name_of(aim), others)

    return Escape(aim, about(others), ("root-objects",), f"owner {HARDENING} of root", attempt, reached, finding="A5")


def _sysctl(value: str) -> dict:
    return step("sysctl", key=FORWARDING, value=value)


def _sysctl_file(value: str) -> dict:
    return rendered("sysctl-file", values=[{"key": FORWARDING, "value": value}])


def _block(address: str) -> dict:
    return step("managed-block", path="/etc/hosts", name="bank", lines=[f"{address} bank.example"])


ALL = [
    _roots_object(_sysctl("0"), _sysctl("1"), sysctl(FORWARDING, "1")),
    _roots_object(_sysctl("0"), _sysctl_file("1"), says("/etc/sysctl.d/99-kubexm.conf", f"{FORWARDING} = 1")),
    _roots_object(_sysctl_file("0"), _sysctl_file("1"), says("/etc/sysctl.d/99-kubexm.conf", f"{FORWARDING} = 1")),
    _roots_object(_block("192.0.2.1"), _block("192.0.2.66"), says("/etc/hosts", "192.0.2.66 bank.example")),
    _while_root_works("a plan of root cancelled", "is root's", _cancel),
    _while_root_works("a plan of root replaced", "", _replace({
        "type": "apply", "plan": plan("ID", directory("/etc/kubernetes/new")), "contents": [], "replace": True})),
    _while_root_works("a plan of root replaced by an undo", "", _replace({
        "type": "undo", "plan_id": "ID", "owner": client.OWNER})),
    Escape("a turn before root", ("directory",), ("root-first",), "a request of root goes first", _ahead_of_root,
           made("/etc/kubernetes/new"), finding="A5", is_audited=False),  # it may try again
    _after_the_lists(FORWARD, "allow: -> allow:\n  sysctls: []", "is not in allow.sysctls", sysctl(FORWARDING, "1")),
    _after_the_lists(data(f"{PKI}/new.crt"), f"data-file: [{PKI}] -> data-file: []", "is not below a directory",
                     made(f"{PKI}/new.crt")),
    _after_the_lists(data(f"{PKI}/client-ca.crt"),
                     f'allow: -> allow:\n  clusters: ["good.example:6443 sha256:{"0" * 64}"]',
                     "expected one that is pinned", made(f"{PKI}/client-ca.crt"),
                     aim="a CA that root has not pinned since"),
    _after_the_lists(unit_state("listed.service", active=False), ", listed.service -> ", "is not in allow.units",
                     unit("listed.service", "ActiveState", "inactive"), start("listed.service")),
]
