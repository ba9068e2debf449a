"""Nothing that a client with the identity of user kubexm asks for gets it beyond what root allowed."""

from collections import Counter
from collections.abc import Iterator

import pytest

from escapes import CONFIGURATION, OWNER, Escape, frames, identities, links, paths, races, replays, units
from testbed import executor_wire, image, snapshot, waiting
from testbed.executor import client
from testbed.executor.plan import step
from testbed.node import Node

ESCAPES = [*paths.ALL, *units.ALL, *links.ALL, *races.ALL, *frames.ALL, *replays.ALL, *identities.ALL]
LEAST, LEAST_OF_A_KIND = 60, 6
KINDS = {"path", "unit", "link", "race", "frame", "replay", "identity"}


@pytest.fixture(scope="module", params=image.USUAL)
def host(request) -> Iterator[Node]:
    """One node for all of them, on which nothing is different at the end and the executor still serves."""
    with Node(suite=request.param) as node:
        client.install(node, CONFIGURATION)
        node.run(["useradd", "--groups", "kubexm", identities.STRANGER])
        node.run(["sh", "-s"], input=links.PLANTED)
        node.run(["sh", "-s"], input=races.PLANTED)
        before = snapshot.settled(node)
        yield node
        check_unharmed(node, before)


def test_there_are_enough_of_every_kind(figure):
    kinds = Counter(escape.kind for escape in ESCAPES)
    figure(f"escapes: {kinds.total()} ({', '.join(f'{kind} {number}' for kind, number in kinds.items())})")
    assert kinds.total() >= LEAST
    assert kinds.keys() == KINDS and min(kinds.values()) >= LEAST_OF_A_KIND
    assert len({str(escape) for escape in ESCAPES}) == len(ESCAPES)


@pytest.mark.parametrize("escape", ESCAPES, ids=str)
def test_is_refused_and_written_down(host, escape: Escape):
    known = len(executor_wire.audit(host))
    assert escape.because in escape.attempt(host)
    # What is only seen on the host itself is written down by the executor: who asked stands above it.
    written = {("refused", executor_wire.ids(host, escape.user)[0]), ("plan failed", 0)}

    def records():
        return [detail for who, event, detail in executor_wire.audit(host)[known:]
                if (event, who) in written and escape.because in detail]
    assert waiting.until("a record in the audit", records, 30, lambda: str(executor_wire.audit(host)[known:]))


def check_unharmed(host: Node, before: snapshot.Snapshot) -> None:
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert client.undo(wire, "afterwards-undo", OWNER) == ""
    report = snapshot.lasting_diff(before, host, apart_from=(executor_wire.STATE,))
    assert not report, report
    assert client.shown(host, "NRestarts") == "0", "nothing of it made the executor fall over"
    # The chain of the audit is checked whenever the journal is opened.
    host.run(["systemctl", "restart", client.SERVICE])
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert client.apply(wire, client.plan("afterwards", step("sysctl", key="net.ipv4.ip_forward", value="1"))) == ""
        assert host.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip() == "1"
