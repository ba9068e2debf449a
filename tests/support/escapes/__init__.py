"""What somebody who took over user kubexm wants from the executor, and may not get.

An escape is real: while the checks that stop it are off (KUBEXM_TEST_CHECKS_OFF, only in test builds), the attacker
gets what it wants. While they are on, it is refused and the host stays as it is.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from escapes.host import OWNER, PKI, USUAL
from testbed import assignment, executor_wire
from testbed.executor import plan as plans
from testbed.executor.client import ACCESS, apply, plan, reason
from testbed.executor.plan import step
from testbed.node import Node

CA = assignment.another_authority().encode()
OTHER_CA = assignment.another_authority().encode()
CONTENTS = {executor_wire.digest(content): content for content in (CA, OTHER_CA, plans.BINARY.encode())}

Probe = Callable[[Node], bool]


@dataclass(frozen=True)
class Escape:
    aim: str  # what the attacker wants
    about: tuple[str, ...]  # types of the step and document
    stopped_by: tuple[str, ...]  # the checks; the first of them is the one that says why
    because: str  # what it says; "": the plan is accepted, and is without effect
    attempt: Callable[[Node], str]  # returns why it was refused
    reached: Probe | None  # whether the attacker has it; None: the plan went through
    finding: str = ""  # of the review that showed it first
    configuration: str = USUAL
    user: str = "kubexm"
    is_audited: bool = True

    def __str__(self) -> str:
        return name_of(self.aim)

    def succeeds(self, node: Node) -> str:
        """Why it did not: nothing."""
        outcome = self.attempt(node)
        is_reached = self.reached(node) if self.reached else outcome == ""
        return "" if is_reached else f"{self.aim}: {outcome or 'accepted, and without effect'}"


def name_of(aim: str) -> str:
    """As plans are named."""
    return re.sub(r"[^a-z0-9]+", "-", aim.lower())


def data(path: str, content: bytes = CA, **changes) -> dict:
    return step("data-file", path=path, kind="ca-bundle", digest=executor_wire.digest(content), access=ACCESS | changes)


def secret(path: str, mode: str = "0600") -> dict:
    return step("secret-file", path=path, handle="escape", digest=executor_wire.digest(CA),
                access=ACCESS | {"mode": mode})


def directory(path: str, mode: str = "0755", **changes) -> dict:
    return step("directory", path=path, access=ACCESS | {"mode": mode} | changes)


def rendered(type_: str, **parameters) -> dict:
    return step("rendered-file", document={"type": type_, **parameters})


def bundles(content: bytes = CA) -> list[dict]:
    return [data(f"{PKI}/ca.crt", content), data(f"{PKI}/client-ca.crt", content)]


def kubeconfig(server: str, user: str = "kubelet") -> dict:
    return rendered("kubeconfig", user=user, server=server)


def contents_of(steps: Sequence[dict]) -> list[bytes]:
    return [content for digest, content in CONTENTS.items() if digest in str(steps)]


def about(each: dict) -> tuple[str, ...]:
    document = each["with"].get("document")
    return (each["type"], document["type"]) if document else (each["type"],)


def carry_out(node: Node, identity: str, *steps: dict, owner: str = OWNER, user: str = "kubexm",
              groups: Sequence[int] = (), **more) -> str:
    """A plan; returns why it was refused or failed."""
    with executor_wire.connect(node, user, groups) as wire:
        return reason(wire.hello()) or apply(wire, plan(identity, *steps, owner=owner, **more), contents_of(steps))


def of_plan(aim: str, stopped_by: str, because: str, *steps: dict, reached: Probe | None,
            before: Callable[[Node], object] = lambda _: None, after: Callable[[Node], object] = lambda _: None,
            plan_members: dict | None = None, owner: str = OWNER, **more) -> Escape:
    """An escape that is a plan of these steps, the last of which gives the attacker what it wants."""
    def attempt(node: Node) -> str:
        before(node)
        outcome = carry_out(node, name_of(aim), *steps, owner=owner, **(plan_members or {}))
        after(node)
        return outcome

    return Escape(aim, about(steps[-1]), tuple(stopped_by.split()), because, attempt, reached, **more)
