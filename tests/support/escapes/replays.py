"""Plans that were there before, and plans that say another thing than they do."""

from collections.abc import Callable

from escapes import Escape
from testbed import executor_wire
from testbed.executor.client import ACCESS, apply, plan, undo
from testbed.executor.plan import step
from testbed.executor_wire import Wire

BEFORE = "was accepted before"
DISAGREES = "does not agree with the rest"

_HARMLESS = step("sysctl", key="net.ipv4.ip_forward", value="0")  # as it is on a fresh node
_OTHER = step("sysctl", key="net.ipv4.ip_forward", value="1")


def _replay(name: str, because: str, attempt: Callable[[Wire, str], str]) -> Escape:
    """`attempt` gets a connection and the id of a plan that was carried out."""
    def prepared(node) -> str:
        identity = f"replay-{name}"
        with executor_wire.connect(node) as wire:
            wire.hello()
            done = apply(wire, plan(identity, _HARMLESS))
            assert done == "", done
            return attempt(wire, identity)

    return Escape("replay", name, prepared, because)


def _undo(wire: Wire, identity: str) -> str:
    return undo(wire, identity, "machine-nobody")


def _after_undo(wire: Wire, identity: str) -> str:
    undone = _undo(wire, identity + "-undo")
    assert undone == "", undone
    return apply(wire, plan(identity, _HARMLESS))


def _undo_twice(wire: Wire, identity: str) -> str:
    undone = _undo(wire, identity + "-undo")
    assert undone == "", undone
    return _undo(wire, identity + "-undo")


def _undo_as_a_plan(wire: Wire, identity: str) -> str:
    undone = _undo(wire, identity + "-undo")
    assert undone == "", undone
    return apply(wire, plan(identity + "-undo", _OTHER))


def _after_a_restart(node) -> str:
    with executor_wire.connect(node) as wire:
        wire.hello()
        done = apply(wire, plan("replay-restart", _HARMLESS))
        assert done == "", done
    node.run(["systemctl", "restart", "kubexm-executor.service"])
    with executor_wire.connect(node) as wire:
        wire.hello()
        return apply(wire, plan("replay-restart", _HARMLESS))


def _lie(**member) -> dict:
    return plan("replay-lie", _HARMLESS | member)


def _content_of_root(node) -> str:
    """The vault has it, because a plan of root put it there: knowing its digest is no right to read it."""
    secret = b"root's own certificate, which user kubexm never saw\n"
    file = step("data-file", path="/etc/kubernetes/pki/root.crt", kind="ca-bundle", digest=executor_wire.digest(secret),
                access=ACCESS | {"mode": "0600"})
    directories = [step("directory", path=path, access=ACCESS | {"mode": "0755"})
                   for path in ("/etc/kubernetes", "/etc/kubernetes/pki")]
    with executor_wire.connect(node, "root") as wire:
        wire.hello()
        done = apply(wire, plan("replay-root", *directories, file, owner="root-of-escapes"), [secret])
        assert done == "", done
    try:
        with executor_wire.connect(node) as wire:
            wire.hello()
            copy = {**file["with"], "path": "/etc/kubernetes/pki/copy.crt", "access": ACCESS}
            return apply(wire, plan("replay-copy", step("data-file", **copy)))
    finally:
        with executor_wire.connect(node, "root") as wire:
            wire.hello()
            undone = undo(wire, "replay-root-undo", "root-of-escapes")
            assert undone == "", undone


ALL = [
    _replay("same", BEFORE, lambda wire, identity: apply(wire, plan(identity, _HARMLESS))),
    _replay("other-steps", BEFORE, lambda wire, identity: apply(wire, plan(identity, _OTHER))),
    _replay("no-steps", BEFORE, lambda wire, identity: apply(wire, plan(identity))),
    _replay("other-owner", BEFORE, lambda wire, identity: apply(wire, plan(identity, _OTHER, owner="machine-somebody"))),
    _replay("as-an-undo", BEFORE, _undo),
    _replay("after-an-undo", BEFORE, _after_undo),
    _replay("undo", BEFORE, _undo_twice),
    _replay("undo-as-a-plan", BEFORE, _undo_as_a_plan),
    Escape("replay", "after-a-restart", _after_a_restart, BEFORE),
    _replay("hash-of-another", DISAGREES, lambda wire, _: apply(wire, plan("replay-lie", _OTHER, hash="0" * 64))),
    _replay("text-of-another", DISAGREES, lambda wire, _: apply(wire, _lie(text="nothing to see here"))),
    _replay("target-of-another", DISAGREES, lambda wire, _: apply(wire, _lie(target="vm.panic_on_oom"))),
    _replay("effects-of-another", DISAGREES, lambda wire, _: apply(wire, _lie(effects=["none"]))),
    Escape("replay", "content-of-root", _content_of_root, "is missing: send it with the plan"),
]
