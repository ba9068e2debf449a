"""Claims, whose undo removes what is new: what root applied or made since."""

from escapes import carry_out, directory, of_plan
from escapes.host import give_back
from escapes.lists import unit_state
from escapes.probes import gone, without_mount, without_namespace
from escapes.ranks import HARDENING
from testbed.executor.plan import step
from testbed.node import Node

ROOTS, NAMESPACE, MOUNT = "/var/lib/kubelet/checkpoints", "roots", "/var/lib/kubelet/by-hand"
# A runtime that answers has removed what is its own, and the rest is root's.
RUNTIME_STOPPED = unit_state("containerd.service", active=False)


def _of_root(aim: str, claim: dict):
    """The plan is permitted: root comes after it."""
    def after(node: Node) -> None:
        assert carry_out(node, f"{aim.replace(' ', '-')}-root", directory(ROOTS), owner=HARDENING, user="root") == ""
        give_back(node, user="kubexm")

    return of_plan(aim, "objects-of-others", "", claim, reached=gone(ROOTS), after=after, finding="A5")


def _named(aim: str, because: str, claim: dict, make: str, reached):
    def after(node: Node) -> None:
        node.run(["sh", "-ec", make])
        give_back(node, user="kubexm")

    return of_plan(aim, "claim-prefix", because, RUNTIME_STOPPED, claim, reached=reached, after=after, finding="A5")


ALL = [
    _of_root("a directory that root applies later", step("claim", path="/var/lib/kubelet")),
    _of_root("an empty directory that root applies later", step("claim", path=ROOTS, if_empty=True)),
    _named("a network namespace that root makes later", "expected the prefix cni-",
           step("claim", path="/run/netns", prefix=""), f"ip netns add {NAMESPACE}", without_namespace(NAMESPACE)),
    _named("a mount that root makes later", "expected no prefix", step("claim", path="/var/lib/kubelet", prefix=""),
           f"mkdir {MOUNT} && mount -t tmpfs roots {MOUNT}", without_mount(MOUNT)),
]
