"""What a taken-over kubexmd could try with the hands: every escape is one request that must be refused."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from testbed import handswire
from testbed.handswire import Wire

DROP = "/var/lib/kubexm/drop"  # the attacker's own directory, which root allowed for most steps
CA = b"-----BEGIN CERTIFICATE-----\nnot a real one\n-----END CERTIFICATE-----\n"
ACCESS = {"mode": "0644", "uid": 0, "gid": 0}

CONFIGURATION = f"""
allow:
  directories:
    data-file: [/etc/kubernetes/pki, /etc/cni/net.d, {DROP}]
    secret-file: [/etc/kubernetes/pki, {DROP}]
    directory: [/etc/kubernetes, {DROP}]
    symlink: [/etc/kubernetes/pki, {DROP}]
    managed-block: [/etc/hosts, {DROP}]
    absent-path: [/etc/kubernetes, {DROP}]
    deleted-tree: [/etc/kubernetes, {DROP}]
    claim: [/etc/kubernetes, {DROP}]
  executables: [/usr/bin/true]
"""


@dataclass(frozen=True)
class Escape:
    kind: str
    name: str
    attempt: Callable[..., str]  # takes the node, returns why it was refused
    because: str  # what the reason must say
    user: str = "kubexm"  # whom the audit must name

    def __str__(self) -> str:
        return f"{self.kind}-{self.name}"


def step(type_: str, /, **parameters) -> dict:
    return {"type": type_, "with": parameters}


def data(path: str, **changes) -> dict:
    return step("data-file", path=path, kind="ca-bundle", digest=handswire.digest(CA), access=ACCESS | changes)


def plan(identity: str, *steps: dict, **more) -> dict:
    return {"id": identity, "owner": "escapes", "steps": list(steps), **more}


def apply(wire: Wire, document: dict, contents: Sequence[bytes] = ()) -> str:
    """Carries out a plan; returns why it was refused or failed, and nothing where it went through."""
    descriptors = [handswire.content(each) for each in contents]
    request = {"type": "apply", "plan": document, "contents": [handswire.digest(each) for each in contents], "replace": False}
    try:
        reply = wire.ask(request, descriptors)
    finally:
        handswire.close_all(descriptors)
    if reply is not None and reply["type"] == "accepted":
        reply = wire.ask({"type": "follow", "plan_id": document["id"]})
    return reason(reply)


def reason(reply: dict | None) -> str:
    """Why a request was refused, or a plan came to its end without being done."""
    if reply is None:
        return "the hands closed the connection"
    return {"refused": reply.get("what"), "plan-summary": reply.get("error")}.get(reply["type"], "")


def of_plan(kind: str, name: str, because: str, *steps: dict) -> Escape:
    """An escape that is a plan of these steps."""
    needs_ca = any(each["with"].get("digest") == handswire.digest(CA) for each in steps)

    def attempt(node) -> str:
        with handswire.connect(node) as wire:
            wire.hello()
            return apply(wire, plan(f"{kind}-{name}", *steps), [CA] if needs_ca else [])

    return Escape(kind, name, attempt, because)
