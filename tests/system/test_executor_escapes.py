"""Nothing that a client with the identity of user kubexm asks for gets it beyond what root allowed.

Each escape is tried twice: where the checks that stop it are off, and there it succeeds; and where they are on. One
that succeeds nowhere would prove nothing. tests/unit/support/test_escapes.py counts them.
"""

from collections.abc import Iterator
from itertools import groupby

import pytest

from escapes import Escape, host
from escapes.all import ESCAPES
from escapes.frames import ALL as HOSTILE_INPUTS
from escapes.frames import HostileInput
from testbed import executor_wire, image, snapshot, waiting
from testbed.executor import client
from testbed.executor.gate import FORWARD
from testbed.node import Node


def _group(escape: Escape) -> tuple[str, tuple[str, ...]]:
    return escape.configuration, escape.stopped_by


GROUPS = [list(group) for _, group in groupby(sorted(ESCAPES, key=_group), _group)]
BY_CONFIGURATION = sorted(ESCAPES, key=lambda escape: escape.configuration)


@pytest.fixture(scope="module", params=image.USUAL)
def attacked(request) -> Iterator[Node]:
    with Node(suite=request.param) as node:
        host.install(node)
        yield node


class Guarded:
    """The node with all checks on, on which nothing is different at the end and the executor still serves."""

    def __init__(self, node: Node) -> None:
        self.node, self._configuration = node, ""
        host.bring_to_rest(node)
        self.configure(host.USUAL)
        self._before = snapshot.settled(node)

    def configure(self, configuration: str) -> None:
        if configuration != self._configuration:
            host.restart(self.node, configuration)
        self._configuration = configuration

    def check_unharmed(self) -> None:
        host.give_all_back(self.node)
        host.bring_to_rest(self.node)
        self.node.run(["systemctl", "daemon-reload"])
        report = snapshot.lasting_diff(self._before, self.node, apart_from=(executor_wire.STATE, client.CONFIGURATION))
        assert not report, report
        assert client.shown(self.node, "NRestarts") == "0", "nothing of it made the executor fall over"
        # The chain of the audit is checked whenever the journal is opened.
        self.node.run(["systemctl", "restart", client.SERVICE])
        with executor_wire.connect(self.node) as wire:
            wire.hello()
            assert client.apply(wire, client.plan("afterwards", FORWARD)) == ""


@pytest.fixture(scope="module")
def guarded(attacked) -> Iterator[Guarded]:
    found = Guarded(attacked)
    yield found
    found.check_unharmed()


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: "+".join(group[0].stopped_by))
def test_succeeds_where_the_check_is_off(attacked, group: list[Escape]):
    host.restart(attacked, group[0].configuration, *group[0].stopped_by)
    failed = []
    for escape in group:
        host.plant(attacked)
        failed += [why for why in [escape.succeeds(attacked)] if why]
        host.give_all_back(attacked)
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("escape", BY_CONFIGURATION, ids=str)
def test_fails_where_all_checks_are_on(guarded, escape: Escape):
    guarded.configure(escape.configuration)
    host.plant(guarded.node)
    try:
        check_refused(guarded.node, escape)
        if escape.reached:
            assert not escape.reached(guarded.node), "it was refused, and has succeeded nevertheless"
    finally:
        host.give_all_back(guarded.node)


@pytest.mark.parametrize("hostile", HOSTILE_INPUTS, ids=str)
def test_hostile_input_is_refused(guarded, hostile: HostileInput):
    guarded.configure(host.USUAL)
    check_refused(guarded.node, hostile)


def check_refused(node: Node, tried: Escape | HostileInput) -> None:
    """And it is written down."""
    known = executor_wire.audit(node)
    outcome = tried.attempt(node)
    assert tried.because in outcome
    assert tried.because or outcome == "", "accepted, and without effect"
    if not tried.because or not tried.is_audited:
        return
    # What is only seen on the host itself is written down by the executor: who asked stands above it.
    written = {("refused", executor_wire.ids(node, tried.user)[0]), ("plan failed", 0)}

    def records() -> list[str]:
        now = executor_wire.audit(node)
        new = now[len(known):] if now[:len(known)] == known else now
        return [detail for who, event, detail in new if (event, who) in written and tried.because in detail]
    assert waiting.until("a record in the audit", records, 30, lambda: str(executor_wire.audit(node)[-5:]))
