"""Root acts on the host beside kubexmd: what is there then decides, not what kubexmd remembers; and root's word counts."""

import json
import os
from pathlib import Path

import pytest

from testbed import assignment, executor_wire
from testbed.assignment import BOOTSTRAPPED, assign, bootstrap_data, condition, is_ready, refer_to_machine, withdraw
from testbed.care import is_whole, kubelet, never_reported_failed, owners
from testbed.host import Host

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
JOURNAL = "/var/lib/kubexm-executor/journal.db"
PLAN = {"owner": "root", "steps": [
    {"type": "managed-block", "with": {"path": "/etc/hosts", "name": "root", "lines": ["10.0.0.1 api.example"]}}]}
EXECUTOR = ["kubexm-executor.socket", "kubexm-executor.service"]
OURS = ("/etc/kubernetes", "/etc/systemd/system/kubelet.service", "/etc/sysctl.d/99-kubexm.conf",
        "/var/lib/kubelet/config.yaml", "/var/lib/kubelet/pki")
THEIRS = "/var/lib/kubelet/theirs"


@pytest.fixture
def joined(enrolled):
    """The node of machine by-hand-1; for the next test it stays, if it still is."""
    side, host = enrolled
    assign(side, host, bootstrap_data(side.cluster))
    host.wait_for_phase("joined")
    yield side, host
    if owners(host) != {"machine-by-hand-1"}:
        withdraw(side, host)


def joins(host) -> int:
    return host.node.run(["kubexmctl", "history", "--limit=200"]).stdout.count("join-")


def test_plans_of_root_do_not_unmake_a_node(joined):
    side, host = joined
    before = joins(host)
    side.wait_for("the condition", lambda: condition(side, host)["status"] == "True")
    with never_reported_failed(side, host):
        for number in range(60):  # once the newest 50 plans were all that counted
            host.node.write("/run/plan.json", json.dumps(PLAN | {"id": f"root-{number}"}))
            host.node.run(["kubexmctl", "apply", "/run/plan.json"])
        side.cluster.kubectl("delete", "secret", assignment.SECRET)  # so that no other node could be made
        host.node.run(["systemctl", "stop", *EXECUTOR])
        host.wait("the executor's end", lambda: host.condition("ExecutorAvailable").get("status") == "False")
        host.node.run(["systemctl", "start", *EXECUTOR])
        host.wait("the executor to answer", lambda: host.condition("ExecutorAvailable").get("status") == "True")
        host.wait_for_phase("joined")
        host.node.run(["systemctl", "restart", "kubexmd"])
        host.wait_for_phase("joined")
    assert joins(host) == before and condition(side, host)["status"] == "True"
    host.node.run(["kubexmctl", "undo", "root"])


def test_a_host_that_root_took_back_is_free_for_the_machine_it_was_held_against(joined):
    side, host = joined
    refer_to_machine(side, host, "by-hand-2")
    host.wait_for_phase("held")
    host.node.run(["kubexmctl", "undo", "machine-by-hand-1"])
    told = host.wait_for_phase("joined")
    assert told["assignment"]["uid"] == "by-hand-2" and is_ready(side, host)


def damage_journal(host) -> None:
    """Until the host says so."""
    host.node.run(["systemctl", "stop", *EXECUTOR])
    journal = bytearray(host.node.read(JOURNAL))
    journal[100:160] = bytes(60)  # the root of the schema: no table can be found any more
    host.node.write(JOURNAL, bytes(journal))
    host.node.run(["systemctl", "start", *EXECUTOR])
    said = host.wait("the host to say why", lambda: "kubexmctl journal" in host.condition("ExecutorAvailable").get("message", "")
                     and host.condition("ExecutorAvailable"))
    assert said["status"] == "False"


def test_an_executor_with_a_damaged_journal_is_asked_until_it_answers(joined):
    """Only a person can decide about the journal; until then the host's owners are unknown."""
    _, host = joined
    damage_journal(host)
    host.node.run(["kubexmctl", "journal", "restore"])
    host.wait("the executor to answer", lambda: host.condition("ExecutorAvailable").get("status") == "True")
    host.wait_for_phase("joined")


def test_a_node_whose_journal_was_discarded_is_joined_again_where_it_is(enrolled, nodes):
    """On a host of its own: what was there before the first join is forgotten."""
    side, _ = enrolled
    host = Host(nodes(name="discarded"), TREE)
    host.enrol(side.cluster)
    host.wait_for_phase("waiting")
    assign(side, host, bootstrap_data(side.cluster))
    host.wait_for_phase("joined")
    damage_journal(host)
    host.node.run(["kubexmctl", "journal", "discard"])
    host.wait("another join", lambda: joins(host) == 1 and is_whole(host))
    told = host.wait_for_phase("joined")
    assert told.get("preflight", []) == [] and is_ready(side, host)
    assert host.node.run(["kubexmctl", "preflight"]).returncode == 0
    assert owners(host) == {"machine-by-hand-1"}
    # No file of the first join passes for one of before it.
    assignment.annotate(side, host, assignment.UNREGISTERING)
    host.wait_for_phase("waiting")
    assert kubelet(host) == "0" and host.node.shown("UnitFileState", "kubelet") == ""
    left = host.node.run(["find", *OURS, "/var/lib/kubelet", "/var/log/pods", "-not", "-type", "d"], check=False).stdout
    assert left == "", "of the first join, or of its kubelet"
    withdraw(side, host)


def test_a_node_whose_certificate_is_lost_gets_another(joined):
    side, host = joined
    host.node.run(["systemctl", "stop", "kubexmd"])
    host.node.run(["sh", "-c", "rm /var/lib/kubexm/machine-*.kubeconfig"])
    host.node.run(["systemctl", "start", "kubexmd"])
    host.wait("another certificate", lambda: "node" in {each["name"] for each in host.status().get("certificates", [])})
    assert host.phase() == "joined" and is_ready(side, host)


def test_a_host_that_left_says_that_its_node_is_not_ready_and_what_stays(enrolled):
    """A host that may not delete its Node sets it to not Ready, so that no pod is scheduled there."""
    side, host = enrolled
    assign(side, host, bootstrap_data(side.cluster))
    host.wait_for_phase("joined")
    host.node.run(["mkdir", THEIRS])
    host.node.run(["mount", "-t", "tmpfs", "theirs", THEIRS])
    assignment.annotate(side, host, assignment.UNREGISTERING)
    host.wait_for_phase("waiting")
    node = side.cluster.get("node", host.node.name)
    ready = next(each for each in node["status"]["conditions"] if each["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "HostReleased")
    assert {each["type"] for each in node["status"]["conditions"]} > {"MemoryPressure", "Ready"}
    told = condition(side, host, BOOTSTRAPPED)["message"]
    assert f"kubectl delete node {host.node.name}" in told and "previous state is restored" not in told
    assert "/var/lib/kubelet stays with theirs: not made by pods" in told
    host.node.run(["sh", "-c", f"umount {THEIRS} && rm -r /var/lib/kubelet"])
    withdraw(side, host)


# --- a person's word --------------------------------------------------------------------------------------------------


def test_an_undo_by_root_stays_until_resume(joined):
    side, host = joined
    host.node.run(["kubexmctl", "undo", "machine-by-hand-1"])
    host.wait_for_phase("held")
    side.wait_for("the reason", lambda: "kubexmctl resume" in condition(side, host, "AssignmentApplied").get("message", ""))
    host.node.run(["systemctl", "restart", "kubexmd"])
    host.wait_for_phase("held")
    assert kubelet(host) == "0"
    host.node.run(["kubexmctl", "resume"])
    host.wait_for_phase("joined")


def test_leave_releases_the_host_until_other_orders(joined):
    side, host = joined
    host.node.run(["kubexmctl", "leave"])
    assert host.wait_for_phase("held")["plan"]["purpose"] == "release"
    assert not is_ready(side, host) and kubelet(host) == "0"
    asked = [(uid, detail) for uid, event, detail in executor_wire.audit(host.node)
             if event == "plan offered" and detail.startswith("undo-")]
    assert asked[-1][0] == executor_wire.ids(host.node, "kubexm")[0], "the kernel's word"
    assert asked[-1][1].endswith("(on behalf of user 0, control, as the client says)"), "and kubexmd's"
    refer_to_machine(side, host, "by-hand-2")
    assert host.wait_for_phase("joined")["assignment"]["uid"] == "by-hand-2"
    assert owners(host) == {"machine-by-hand-2"} and is_ready(side, host)


def test_a_pause_does_not_stop_leave_and_resume_ends_both(joined):
    side, host = joined
    host.node.run(["kubexmctl", "pause"])
    host.wait_for_phase("paused")
    host.node.run(["kubexmctl", "leave"])
    host.wait("the end of the node", lambda: kubelet(host) == "0" and not owners(host))
    assert host.wait_for_phase("paused")["plan"]["purpose"] == "release"
    host.node.run(["kubexmctl", "resume"])
    host.wait_for_phase("joined")
    host.wait("the Node", lambda: is_ready(side, host))
