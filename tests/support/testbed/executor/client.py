"""A node with the executor as a package leaves it, and plans that go over the wire itself."""

import os
from collections.abc import Sequence
from pathlib import Path

from testbed import executor_wire, waiting
from testbed.executor_wire import Wire

CONFIGURATION = "/etc/kubexm/executor.yaml"
SERVICE, SOCKET = "kubexm-executor.service", "kubexm-executor.socket"
OWNER = "machine-test"  # of plans of kubexmd
ACCESS = {"mode": "0644", "uid": 0, "gid": 0}


def install(node, configuration: str = "") -> None:
    """As a package would leave it, with root's configuration, and started."""
    node.install(Path(os.environ["KUBEXM_TREE"]))
    if configuration:
        node.write(CONFIGURATION, configuration)
    node.run(["systemctl", "enable", "--now", SOCKET])
    node.run(["systemctl", "start", SERVICE])


def shown(node, name: str, unit: str = SERVICE) -> str:
    """A property of a unit as systemctl show prints it."""
    return node.shown(name, unit)


def until_logged(node, text: str, *options: str) -> str:
    """Waits for an entry of the journal that says this and returns its line."""
    def line():
        return next((line for line in node.journal("-o", "cat", *options).splitlines() if text in line), "")
    return waiting.until(f"{text!r} in the journal", line, 60, lambda: node.journal("-n", "30"))


def plan(identity: str, *steps: dict, **more) -> dict:
    return {"id": identity, "owner": OWNER, "steps": list(steps), **more}


def offer(wire: Wire, document: dict, contents: Sequence[bytes] = ()) -> dict | None:
    """Asks for a plan to be carried out; returns the answer to that."""
    descriptors = [executor_wire.content(each) for each in contents]
    digests = [executor_wire.digest(each) for each in contents]
    try:
        return wire.ask({"type": "apply", "plan": document, "contents": digests, "replace": False}, descriptors)
    finally:
        executor_wire.close_all(descriptors)


def apply(wire: Wire, document: dict, contents: Sequence[bytes] = ()) -> str:
    """Carries out a plan; returns why it was refused or failed, and nothing where it went through."""
    reply = offer(wire, document, contents)
    return reason(reply) or reason(wire.ask({"type": "follow", "plan_id": document["id"]}))


def undo(wire: Wire, identity: str, owner: str = OWNER) -> str:
    """Takes back what is there for an owner; returns why not."""
    reply = wire.ask({"type": "undo", "plan_id": identity, "owner": owner})
    return reason(reply) or reason(wire.ask({"type": "follow", "plan_id": identity}))


def reason(reply: dict | None) -> str:
    """Why a request was refused, or a plan came to its end without being done."""
    if reply is None:
        return "the executor closed the connection"
    return {"refused": reply.get("what"), "plan-summary": reply.get("error")}.get(reply["type"], "")
