"""In the name of another: of root, or of user kubexm. Root outranks kubexmd (finding A5)."""

from contextlib import ExitStack

from escapes import Escape, carry_out, name_of
from escapes.host import STRANGER, at
from escapes.lists import STEPS
from escapes.probes import owns, sysctl
from testbed import executor_wire
from testbed.executor.client import SERVICE, SOCKET, reason
from testbed.executor.gate import FORWARD
from testbed.node import Node

SPEAK, OF_ROOT = "is not permitted to use the executor", "other owners are root's"
HARDENING = "hardening"  # an owner of root's
MOST_CONNECTIONS = 16
UNITS = (SERVICE, SOCKET)


def _as_stranger(node: Node) -> tuple[str, list[int]]:
    return STRANGER, [executor_wire.ids(node, "kubexm")[1]]


def _stranger(type_: str) -> Escape:
    example, aim = STEPS[type_], f"a {type_} for a user whom nobody permitted anything"

    def attempt(node: Node) -> str:
        user, groups = _as_stranger(node)
        example.before(node)
        outcome = carry_out(node, name_of(aim), *example.steps, user=user, groups=groups)
        example.after(node)
        return outcome

    return Escape(aim, (type_,), ("peer",), SPEAK, attempt, example.reached, user=STRANGER)


def _stranger_asks(aim: str, request: dict) -> Escape:
    def attempt(node: Node) -> str:
        with executor_wire.connect(node, *_as_stranger(node)) as wire:
            return reason(wire.hello()) or reason(wire.ask(request))

    return Escape(aim, (), ("peer",), SPEAK, attempt, None, user=STRANGER)


def _for_root(type_: str) -> Escape:
    """An owner that is root's: nobody would give it back with the machine."""
    example, aim = STEPS[type_], f"a {type_} in the name of root"

    def attempt(node: Node) -> str:
        example.before(node)
        return carry_out(node, name_of(aim), *example.steps, owner=HARDENING)

    reached = owns(HARDENING) if type_ in ("side-effects", "swap-off") else example.reached
    return Escape(aim, (type_,), ("owners",), OF_ROOT, attempt, reached, finding="A5")


def _of_roots(aim: str, request: str, before: str, after: str) -> Escape:
    """What root set, and how kubexm has it changed back."""
    def attempt(node: Node) -> str:
        done = carry_out(node, f"{name_of(aim)}-root", FORWARD, owner=HARDENING, user="root")
        assert done == "", done
        node.run(["sysctl", "-qw", f"net.ipv4.ip_forward={before}"])
        with executor_wire.connect(node) as wire:
            wire.hello()
            asked = reason(wire.ask({"type": request, "plan_id": name_of(aim), "owner": HARDENING}))
            return asked or reason(wire.ask({"type": "follow", "plan_id": name_of(aim)}))

    return Escape(aim, ("sysctl",), ("owners",), OF_ROOT, attempt, sysctl("net.ipv4.ip_forward", after), finding="A5")


def _connect_once_more(node: Node) -> str:
    with ExitStack() as held:
        for _ in range(MOST_CONNECTIONS):
            assert held.enter_context(executor_wire.connect(node))
        return reason(held.enter_context(executor_wire.connect(node)).hello())


def _decision(action: str) -> Escape:
    """About a journal that lost the root of its schema; what it had recorded would be forgotten, or be believed."""
    def attempt(node: Node) -> str:
        node.run(["systemctl", "stop", *UNITS])
        with at(node, f"{executor_wire.STATE}/journal.db").open("r+b") as journal:
            journal.seek(100)
            journal.write(bytes(60))
        node.run(["systemctl", "start", *UNITS])
        with executor_wire.connect(node) as wire, executor_wire.connect(node, "root") as root:
            wire.hello()
            root.hello()
            outcome = reason(wire.ask({"type": "journal", "action": action}))
            root.ask({"type": "journal", "action": "discard"})
            return outcome

    return Escape(f"to {action} a damaged journal", (), ("journal-decisions",), "only root may restore or discard", attempt,
                  None, is_audited=False)  # not before there is a journal again


ALL = [
    *map(_stranger, ("data-file", "side-effects", "swap-off", "daemon-reload")),
    _stranger_asks("the state of the host", {"type": "observe"}),
    _stranger_asks("the history of the host", {"type": "history", "limit": 5}),
    *map(_decision, ("discard", "restore")),
    *map(_for_root, ("side-effects", "swap-off", "daemon-reload", "kernel-module", "unmounted")),
    _of_roots("what root set undone", "undo", "1", "0"),
    _of_roots("what root gave up repaired", "repair", "0", "1"),
    Escape("all connections of the executor", (), ("connections",), "has 16 connections already", _connect_once_more, None,
           finding="A8"),
]
