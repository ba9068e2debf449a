"""Others than root and kubexmd's user."""

from escapes import CA, OWNER, Escape, data
from testbed import executor_wire
from testbed.executor.client import plan, reason

STRANGER = "mallory"  # a member of group kubexm, whom the mode of the socket lets through
OF_ROOT = "other owners are root's"
SPEAK = "is not permitted to use the executor"


def _stranger(name: str, because: str, frame: dict | bytes) -> Escape:
    def attempt(node) -> str:
        with executor_wire.connect(node, STRANGER, [executor_wire.ids(node, "kubexm")[1]]) as wire:
            return reason(wire.ask(frame))

    return Escape("identity", name, attempt, because, STRANGER)


def _front(name: str, because: str, frame: dict) -> Escape:
    """What only root may ask for."""
    def attempt(node) -> str:
        with executor_wire.connect(node) as wire:
            wire.hello()
            return reason(wire.ask(frame))

    return Escape("identity", name, attempt, because)


def _anybody(user: str) -> Escape:
    """The mode of the socket protects nothing any more: what the kernel says of the peer does."""
    def attempt(node) -> str:
        node.run(["chmod", "0666", f"{executor_wire.DIRECTORY}/{executor_wire.SOCKET}"])
        try:
            with executor_wire.connect(node, user) as wire:
                return reason(wire.hello())
        finally:
            node.run(["chmod", "0660", f"{executor_wire.DIRECTORY}/{executor_wire.SOCKET}"])

    return Escape("identity", f"socket-open-to-{user}", attempt, SPEAK, user)


_PLAN = plan("identity", data("/etc/kubernetes/pki/ca.crt"))

ALL = [
    _stranger("hello", SPEAK, {"type": "hello", "protocol": executor_wire.PROTOCOL, "program": "kubexmd 0.1.0"}),
    _stranger("observe", SPEAK, {"type": "observe"}),
    _stranger("preview", SPEAK, {"type": "preview", "plan": _PLAN}),
    _stranger("apply", SPEAK, {"type": "apply", "plan": _PLAN, "contents": [executor_wire.digest(CA)], "replace": True}),
    _stranger("undo", SPEAK, {"type": "undo", "plan_id": "identity-undo", "owner": OWNER}),
    _stranger("repair", SPEAK, {"type": "repair", "plan_id": "identity-repair", "owner": OWNER}),
    _stranger("subscribe", SPEAK, {"type": "subscribe"}),
    _stranger("cancel", SPEAK, {"type": "cancel", "plan_id": "identity"}),
    _stranger("follow", SPEAK, {"type": "follow", "plan_id": "identity"}),
    _stranger("history", SPEAK, {"type": "history", "limit": 5}),
    _stranger("claim-to-be-root", SPEAK,
              {"type": "cancel", "plan_id": "identity", "on_behalf_of": {"uid": 0, "door": "control"}}),
    _stranger("no-frame-at-all", "not JSON", b"\x16\x03\x01"),
    _front("undo-of-roots-objects", OF_ROOT, {"type": "undo", "plan_id": "identity-rank", "owner": "hardening"}),
    _front("repair-of-roots-objects", OF_ROOT, {"type": "repair", "plan_id": "identity-rank", "owner": "hardening"}),
    _front("discard-of-the-journal", "only root may restore or discard", {"type": "journal", "action": "discard"}),
    _front("restore-of-the-journal", "only root may restore or discard", {"type": "journal", "action": "restore"}),
    _anybody("nobody"),
    _anybody("daemon"),
    _anybody("www-data"),
]
