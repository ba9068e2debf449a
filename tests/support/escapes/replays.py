"""Plans that were there before, plans that say another thing than they do, and more of them than anybody needs."""

from collections.abc import Callable

from escapes import Escape, carry_out, directory, of_plan
from escapes.host import DROP, OWNER, USUAL, at, give_back
from escapes.probes import made, sysctl
from testbed import executor_wire
from testbed.executor.client import SERVICE, apply, plan, reason, undo
from testbed.executor.gate import FORWARD
from testbed.executor.plan import step
from testbed.node import Node

BEFORE, DISAGREES = "was accepted before", "expected the value derived from the steps"
FORWARDING = sysctl("net.ipv4.ip_forward", "1")
HARMLESS = step("sysctl", key="net.ipv4.ip_forward", value="0")
MOST_OWNERS, MOST_PLANS_AN_HOUR, MOST_FAILURES = 64, 1000, 3
OLD, LATER = 3, 980  # plans; of those so long ago the journal has only the ids
PAST = ["journal.db", "journal.db-wal"]
# Each with a past of its own.
LONG_AGO, FULL_LEDGER = (f"{USUAL}# {past}\n" for past in ("long ago", "full ledger"))

_past: dict[str, bytes] = {}  # made once, because it takes ten seconds


def _make_past(node: Node) -> None:
    """Each undo is audited as a plan, also one of nothing."""
    with executor_wire.connect(node) as wire:
        wire.hello()
        for number in range(OLD):
            assert apply(wire, plan(f"old-{number}", HARMLESS)) == ""
        for number in range(LATER):
            assert reason(wire.ask({"type": "undo", "plan_id": f"later-{number}", "owner": "machine-nobody"})) == ""


def _with_past(node: Node) -> None:
    """The executor remembers almost as many plans as an hour may have."""
    state = at(node, executor_wire.STATE)
    if not _past:
        _make_past(node)
    node.run(["systemctl", "stop", SERVICE])
    if not _past:
        _past.update({name: (state / name).read_bytes() for name in PAST if (state / name).exists()})
    for name in PAST:
        (state / name).unlink(missing_ok=True)
    for name, content in _past.items():
        (state / name).write_bytes(content)
    node.run(["systemctl", "start", SERVICE])


def _replay(number: int, aim: str, again: Callable[[Node, str], str], reached) -> Escape:
    """`again` gets the id of a plan that was carried out."""
    def attempt(node: Node) -> str:
        _with_past(node)
        return again(node, f"old-{number}")

    return Escape(aim, ("sysctl",), ("plan-ids",), BEFORE, attempt, reached, configuration=LONG_AGO)


def _undo(node: Node, identity: str) -> str:
    with executor_wire.connect(node) as wire:
        wire.hello()
        return undo(wire, identity, OWNER)


def _lie(aim: str, **member) -> Escape:
    return of_plan(aim, "agreement", DISAGREES, FORWARD | member, reached=FORWARDING)


def _too_many_owners(node: Node) -> str:
    with executor_wire.connect(node) as wire:
        wire.hello()
        for number in range(MOST_OWNERS):
            each = step("absent-path", path=f"{DROP}/absent-{number}")
            done = apply(wire, plan(f"owner-{number}", each, owner=f"machine-{number}"))
            assert done == "", done
    return carry_out(node, "one-owner-more", directory("/etc/kubernetes/new"), owner="machine-more")


def _too_many_plans(node: Node) -> str:
    """Each is audited: more of them would push what it did before out of the audit."""
    _with_past(node)
    with executor_wire.connect(node) as wire:
        wire.hello()
        for number in range(MOST_PLANS_AN_HOUR - LATER):
            why = apply(wire, plan(f"wash-{number}", directory("/etc/kubernetes/new")))
            give_back(node)
            if why:
                return why
        return apply(wire, plan("wash-more", directory("/etc/kubernetes/new")))


def _fail_again(node: Node) -> str:
    for number in range(MOST_FAILURES):
        why = carry_out(node, f"fails-{number}", step("absent-path", path="/etc/kubernetes/tree"))
        assert "is not empty" in why, why
    _last[:] = [carry_out(node, "fails-more", step("absent-path", path="/etc/kubernetes/tree"))]
    return _last[0]


_last: list[str] = []

ALL = [
    _replay(0, "a plan once more with other steps", lambda node, identity: carry_out(node, identity, FORWARD), FORWARDING),
    _replay(1, "a plan once more for another owner",
            lambda node, identity: carry_out(node, identity, FORWARD, owner="machine-other"), FORWARDING),
    _replay(2, "an undo in the name of a plan", _undo, None),
    of_plan("a plan with the hash of another", "agreement", DISAGREES, FORWARD, reached=FORWARDING,
            plan_members={"hash": "0" * 64}),
    _lie("a plan that reads harmless", text="nothing to see here"),
    _lie("a plan that names another target", target="vm.panic_on_oom"),
    _lie("a plan without its effects", effects=["none"]),
    of_plan("a plan that passes for a repair", "purpose", "the executor makes repairs", FORWARD, reached=FORWARDING,
            plan_members={"purpose": "repair"}),
    of_plan("a plan that passes for a release", "purpose", "release is an undo", FORWARD, reached=None,
            plan_members={"purpose": "release"}),
    Escape("more owners than the ledger should have", ("directory",), ("quota",), "quota of owners", _too_many_owners,
           made("/etc/kubernetes/new"), finding="A8", configuration=FULL_LEDGER),
    Escape("its past out of the audit", ("directory",), ("quota",), "quota of plans an hour", _too_many_plans,
           made("/etc/kubernetes/new"), finding="A7", configuration=LONG_AGO),
    Escape("a plan that fails without end", ("absent-path",), ("retry-limit",), "retry limit", _fail_again,
           lambda _: "retry limit" not in _last[0]),
]
