"""Content: of another digest, of another size, of another kind, of root; and components that root does not trust."""

import os
from collections.abc import Callable

from escapes import CA, CONTENTS, Escape, carry_out, data, name_of, of_plan
from escapes.host import OTHERS, PKI, give_back
from escapes.lists import component
from escapes.probes import has_mode, made, says
from testbed import assignment, executor_wire
from testbed.executor import plan as plans
from testbed.executor.client import ACCESS, plan, reason
from testbed.executor.plan import step
from testbed.node import Node

OTHER = b"#!/bin/sh\necho the attacker's\n"
LARGE = bytes((4 << 20) + 1)
CONTENTS.update((executor_wire.digest(content), content) for content in (OTHER,))
OTHER_DIGEST = executor_wire.digest(OTHER)
INSTALLED = f"/opt/kubexm/crictl/{plans.VERSION}/bin/crictl"
UNTRUSTED = "trusted digests"


def _sent(node: Node, identity: str, each: dict, digest: str, descriptor: int) -> str:
    """A plan whose content is this descriptor."""
    try:
        with executor_wire.connect(node) as wire:
            wire.hello()
            request = {"type": "apply", "plan": plan(identity, each), "contents": [digest], "replace": False}
            return reason(wire.ask(request, [descriptor])) or reason(wire.ask({"type": "follow", "plan_id": identity}))
    finally:
        os.close(descriptor)


def _file(content: bytes) -> dict:
    return step("secret-file", path=f"{PKI}/new", handle="new", digest=executor_wire.digest(content),
                access=ACCESS | {"mode": "0600"})


def _of(aim: str, stopped_by: str, because: str, each: dict, digest: str, descriptor: Callable[[], int], reached,
        **more) -> Escape:
    def attempt(node: Node) -> str:
        return _sent(node, name_of(aim), each, digest, descriptor())

    return Escape(aim, (each["type"],), tuple(stopped_by.split()), because, attempt, reached, **more)


def _pipe() -> int:
    reading, writing = os.pipe()
    os.write(writing, CA)
    os.close(writing)
    return reading


def _of_root(node: Node) -> str:
    """The vault has it, because a plan of root put it there: knowing its digest is no right to read it."""
    secret = assignment.another_authority().encode()
    CONTENTS[executor_wire.digest(secret)] = secret
    done = carry_out(node, "of-root", data(f"{PKI}/root.crt", secret, mode="0600"), owner="hardening", user="root")
    assert done == "", done
    del CONTENTS[executor_wire.digest(secret)]
    outcome = carry_out(node, "copy-of-root", data(f"{PKI}/copy.crt", secret))
    give_back(node, "hardening")
    return outcome


def _component(aim: str, stopped_by: str, because: str, each: dict, reached) -> Escape:
    return of_plan(aim, stopped_by, because, each, reached=reached)


ALL = [
    _component("a component that nobody listed", "components digests", "is not in allow.components", component("bash"),
               made("/opt/kubexm/bash/current")),
    _component("a component of its own", "digests", UNTRUSTED, component(digest=OTHER_DIGEST), says(INSTALLED, "attacker")),
    _component("a trusted file under another version", "digests", UNTRUSTED, component(version="v9"),
               made("/opt/kubexm/crictl/v9")),
    _component("a version outside of its directory", "component-versions digests path-components", "version: expected",
               component(version=f"../../..{OTHERS}/new"), made(f"{OTHERS}/new")),
    _component("a file outside of its version", "path digests path-components", "expected an absolute path",
               component(path=f"../../../..{OTHERS}/program"), made(f"{OTHERS}/program")),
    _component("a component that runs as root", "component-modes", "expected a mode within 0755", component(mode="4755"),
               has_mode(INSTALLED, 0o4755)),
    _of("its program with the digest of a trusted one", "content-digest vault-digest written-digest", "has digest",
        component(), plans.BINARY_DIGEST, lambda: executor_wire.content(OTHER), says(INSTALLED, "attacker")),
    _of("a file with the digest of another", "content-digest vault-digest written-digest", "has digest", _file(CA),
        executor_wire.digest(CA), lambda: executor_wire.content(OTHER), says(f"{PKI}/new", "attacker")),
    _of("a file without end", "content-size written-size", ": more than", _file(LARGE), executor_wire.digest(LARGE),
        lambda: executor_wire.content(LARGE), made(f"{PKI}/new"), finding="A8"),
    _of("a file that makes the executor wait for it", "regular-content", "expected a regular file", _file(CA),
        executor_wire.digest(CA), _pipe, made(f"{PKI}/new"), finding="A8"),
    Escape("a copy of what only root may read", ("data-file",), ("contents",), "is missing: send it with the plan", _of_root,
           made(f"{PKI}/copy.crt")),
]
