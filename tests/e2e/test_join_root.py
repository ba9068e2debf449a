"""Root acts on the host beside kubexmd: what is there then decides, not what kubexmd remembers."""

import json
import os
from pathlib import Path

import pytest

from testbed import assignment
from testbed.assignment import assign, bootstrap_data, condition, is_ready, refer_to_machine, withdraw

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
JOURNAL = "/var/lib/kubexm-executor/journal.db"
PLAN = {"owner": "root", "steps": [
    {"type": "managed-block", "with": {"path": "/etc/hosts", "name": "root", "lines": ["10.0.0.1 api.example"]}}]}
EXECUTOR = ["kubexm-executor.socket", "kubexm-executor.service"]


@pytest.fixture(scope="module")
def place():
    with assignment.enrolled(TREE) as (side, host):
        yield side, host


@pytest.fixture
def joined(place):
    side, host = place
    assign(side, host, bootstrap_data(side.cluster))
    host.wait_for_phase("joined")
    yield side, host
    withdraw(side, host)


def joins(host) -> int:
    return host.node.run(["kubexmctl", "history", "--limit=200"]).stdout.count("join-")


def test_plans_of_root_do_not_unmake_a_node(joined):
    side, host = joined
    before = joins(host)
    for number in range(60):  # once the newest 50 plans were all that counted
        host.node.write("/run/plan.json", json.dumps(PLAN | {"id": f"root-{number}"}))
        host.node.run(["kubexmctl", "apply", "/run/plan.json"])
    side.cluster.kubectl("delete", "secret", assignment.SECRET)  # so that no other node could be made
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


def test_executor_that_cannot_tell_are_asked_until_they_can(joined):
    """Their journal is damaged, and what is on the host is only known when a person has decided."""
    _, host = joined
    host.node.run(["systemctl", "stop", *EXECUTOR])
    journal = bytearray(host.node.read(JOURNAL))
    journal[100:160] = bytes(60)  # the root of the schema: no table can be found any more
    host.node.write(JOURNAL, bytes(journal))
    host.node.run(["systemctl", "start", *EXECUTOR])
    said = host.wait("the host to say why", lambda: "kubexmctl journal" in host.condition("ExecutorAvailable").get("message", "")
                     and host.condition("ExecutorAvailable"))
    assert said["status"] == "False"
    host.node.run(["kubexmctl", "journal", "restore"])
    host.wait("the executor to tell", lambda: host.condition("ExecutorAvailable").get("status") == "True")
    host.wait_for_phase("joined")


def test_a_node_whose_certificate_is_lost_gets_another(joined):
    side, host = joined
    host.node.run(["systemctl", "stop", "kubexmd"])
    host.node.run(["sh", "-c", "rm /var/lib/kubexm/machine-*.kubeconfig"])
    host.node.run(["systemctl", "start", "kubexmd"])
    host.wait("another certificate", lambda: "node" in {each["name"] for each in host.status().get("certificates", [])})
    assert host.phase() == "joined" and is_ready(side, host)


def test_a_host_that_left_says_that_its_node_is_not_ready(place):
    """A host that may not delete its Node sets it to not Ready, so that no pod is scheduled there."""
    side, host = place
    assign(side, host, bootstrap_data(side.cluster))
    host.wait_for_phase("joined")
    assignment.annotate(side, host, assignment.UNREGISTERING)
    host.wait_for_phase("waiting")
    node = side.cluster.get("node", host.node.name)
    ready = next(each for each in node["status"]["conditions"] if each["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "HostReleased")
    assert {each["type"] for each in node["status"]["conditions"]} > {"MemoryPressure", "Ready"}
    withdraw(side, host)
