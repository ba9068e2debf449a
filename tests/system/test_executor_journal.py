"""A damaged journal: the executor sets it aside, change nothing, and a person decides."""

import json
import os
from pathlib import Path

import pytest

from testbed import exit_code, waiting

TREE = Path(os.environ["KUBEXM_TREE"])
JOURNAL = "/var/lib/kubexm-executor/journal.db"


def sysctl_plan(identity: str, value: str) -> str:
    step = {"type": "sysctl", "with": {"key": "net.ipv4.ip_forward", "value": value}}
    return json.dumps({"id": identity, "owner": "test", "steps": [step]})


def apply(node, identity: str, value: str = "1"):
    node.write("/run/plan.json", sysctl_plan(identity, value))
    return node.run(["kubexmctl", "apply", "/run/plan.json"], check=False)


def forwarding(node) -> str:
    return node.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip()


def status_text(node) -> str:
    return node.shown("StatusText", "kubexm-executor")


@pytest.fixture
def damaged(nodes):
    """A node with one sysctl of ours, whose journal lost the root page of a table."""
    node = nodes()
    node.install(TREE)
    node.run(["systemctl", "enable", "--now", "kubexm-executor.socket", "kubexm-executor.service"])
    assert forwarding(node) == "0"
    assert apply(node, "p1").returncode == 0
    node.run(["systemctl", "stop", "kubexm-executor.socket", "kubexm-executor.service"])
    journal = bytearray(node.read(JOURNAL))
    journal[100:160] = bytes(60)  # the root of the schema: no table can be found any more
    node.write(JOURNAL, bytes(journal))
    node.run(["systemctl", "start", "kubexm-executor.socket", "kubexm-executor.service"])
    return node


def test_nothing_is_changed_until_a_person_decides(damaged):
    waiting.until("the executor says so", lambda: "Not changing the host" in status_text(damaged), 20)
    refused = apply(damaged, "p2", "0")
    assert refused.returncode == exit_code.REFUSED
    assert "kubexmctl journal" in refused.stderr
    assert forwarding(damaged) == "1"
    shown = damaged.run(["kubexmctl", "journal", "show"], check=False)
    assert shown.returncode == exit_code.FAILED
    assert "journal.db.corrupt-1 is damaged" in shown.stdout
    damaged.run(["systemctl", "restart", "kubexm-executor"])  # not a way around it
    assert apply(damaged, "p3", "0").returncode == exit_code.REFUSED


def test_only_root_decides(damaged):
    refused = damaged.run(["kubexmctl", "journal", "discard"], user="kubexm", check=False)
    assert refused.returncode == exit_code.REFUSED
    assert "only root may restore or discard" in refused.stderr
    assert apply(damaged, "p2").returncode == exit_code.REFUSED


def test_discard_begins_anew_and_leaves_the_host_alone(damaged):
    assert damaged.run(["kubexmctl", "journal", "discard"]).returncode == 0
    waiting.until("the executor is ready", lambda: "Ready for plans" in status_text(damaged), 20)
    damaged.run(["kubexmctl", "undo", "test"])
    assert forwarding(damaged) == "1", "nobody's any more"
    assert apply(damaged, "p2", "0").returncode == 0
    assert damaged.run(["kubexmctl", "undo", "test"]).returncode == 0
    assert forwarding(damaged) == "1"


def test_restore_goes_on_with_what_can_be_read(nodes):
    node = nodes()
    node.install(TREE)
    node.run(["systemctl", "enable", "--now", "kubexm-executor.socket", "kubexm-executor.service"])
    assert apply(node, "p1").returncode == 0
    node.run(["systemctl", "stop", "kubexm-executor.socket", "kubexm-executor.service"])
    journal = node.read(JOURNAL)
    assert journal.count(b"plan offered") == 1
    node.write(JOURNAL, journal.replace(b"plan offered", b"plan altered"))  # the audit's chain is broken
    node.run(["systemctl", "start", "kubexm-executor.socket", "kubexm-executor.service"])
    shown = node.run(["kubexmctl", "journal", "show"], check=False).stdout
    assert "net.ipv4.ip_forward" in shown
    assert node.run(["kubexmctl", "journal", "restore"]).returncode == 0
    sound = node.run(["kubexmctl", "journal", "show"])
    assert "journal is not damaged; ledger entries: 1," in sound.stdout
    assert node.run(["kubexmctl", "undo", "test"]).returncode == 0
    assert forwarding(node) == "0"
    replayed = apply(node, "p1")
    assert "p1 was accepted before" in replayed.stderr
