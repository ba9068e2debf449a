"""What a taken-over kubexmd could try with the executor: every escape is one request that must be refused."""

from collections.abc import Callable
from dataclasses import dataclass

from testbed import assignment, executor_wire
from testbed.executor.client import ACCESS, apply, plan
from testbed.executor.plan import step

DROP = "/var/lib/kubexm/drop"  # the attacker's own directory, which root allowed for most steps
OWNER = "machine-escapes"
CA = assignment.another_authority().encode()

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


def data(path: str, **changes) -> dict:
    return step("data-file", path=path, kind="ca-bundle", digest=executor_wire.digest(CA), access=ACCESS | changes)


def secret(path: str) -> dict:
    file = data(path, mode="0600")
    del file["with"]["kind"]
    return {"type": "secret-file", "with": file["with"] | {"handle": "escape"}}


def of_plan(kind: str, name: str, because: str, *steps: dict) -> Escape:
    """An escape that is a plan of these steps."""
    needs_ca = executor_wire.digest(CA) in str(steps)

    def attempt(node) -> str:
        with executor_wire.connect(node) as wire:
            wire.hello()
            return apply(wire, plan(f"{kind}-{name}", *steps, owner=OWNER), [CA] if needs_ca else [])

    return Escape(kind, name, attempt, because)
