"""What a client can use up: connections, space in the vault, and space in the audit."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from testbed import executor_wire, waiting
from testbed.executor import client
from testbed.executor.client import ACCESS, apply, plan, reason
from testbed.executor.plan import step

MOST_CONNECTIONS, MOST_OF_ONE_REFUSAL = 16, 20
FORWARD = step("sysctl", key="net.ipv4.ip_forward", value="1")


@pytest.fixture
def host(nodes):
    node = nodes(suite="trixie")
    client.install(node)
    return node


def test_idle_connections_of_one_user_do_not_keep_others_out(host):
    with ExitStack() as idle:
        for _ in range(MOST_CONNECTIONS):
            idle.enter_context(executor_wire.connect(host))
        with executor_wire.connect(host) as wire:
            assert f"has {MOST_CONNECTIONS} connections already" in reason(wire.hello())
        with executor_wire.connect(host, "root") as wire:
            assert wire.hello()["type"] == "hello"
            assert apply(wire, plan("p1", FORWARD, owner="test")) == ""

    def served():
        with executor_wire.connect(host) as wire:
            return wire.hello()["type"] == "hello"
    waiting.until("module for a connection", served, 60)


def test_what_came_with_a_refused_plan_does_not_stay(host):
    vault = Path(f"/proc/{host.leader}/root{executor_wire.STATE}/content")
    content = b"x" * (1 << 20)
    file = step("data-file", path="/etc/kubernetes/pki/ca.crt", kind="ca-bundle", access=ACCESS,
                digest=executor_wire.digest(content))
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert apply(wire, plan("p1", FORWARD)) == ""
        before = sorted(vault.iterdir())
        assert "was accepted before" in apply(wire, plan("p1", file), [content])
        assert sorted(vault.iterdir()) == before


def test_refusals_without_end_do_not_push_the_past_out_of_the_audit(host):
    bad = {"type": "preview", "plan": plan("p1", step("deleted-tree", path="/etc"))}
    replayed = {"type": "apply", "plan": plan("p0", FORWARD), "contents": [], "replace": False}
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert apply(wire, plan("p0", FORWARD)) == ""
        known = len(executor_wire.audit(host))
        for _ in range(200):
            assert "is not below" in reason(wire.ask(bad))
            assert "was accepted before" in reason(wire.ask(replayed))
        written = [detail for _, _, detail in executor_wire.audit(host)[known:]]
        assert len(written) == 2 * MOST_OF_ONE_REFUSAL + 1, written
        assert "is not below" in written[0] and "was accepted before" in written[1]
        assert "in this hour are only counted" in written[-1]
        assert apply(wire, plan("p2", FORWARD)) == ""
