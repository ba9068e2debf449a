"""A joined node stays a node: changed orders, repair, a person's word, a reboot, and a management cluster that is away."""

import os
from pathlib import Path

import pytest

from testbed import assignment, executor_wire, kubernetes, waiting
from testbed.assignment import another_authority, assign, bootstrap_data, byohost, condition, is_ready, patch, withdraw
from testbed.care import CONFIG, KUBELET_CONFIG, is_whole, kubelet, owners
from testbed.executor import client
from testbed.executor.client import ACCESS
from testbed.executor.plan import step

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
UNIT = "/etc/systemd/system/kubelet.service"
CA, CLIENT_CA = "/etc/kubernetes/pki/ca.crt", "/etc/kubernetes/pki/client-ca.crt"
REPAIR_SECONDS = 30  # the goal is two; the machine may be busy


@pytest.fixture(scope="module")
def joined():
    with assignment.enrolled(TREE) as (side, host):
        assign(side, host, bootstrap_data(side.cluster))
        host.wait_for_phase("joined")
        yield side, host
        withdraw(side, host)


def node_of(side, host) -> dict:
    return side.cluster.get("node", host.node.name)


def events_about(side, host) -> dict[str, dict]:
    """The Events of kubexmd about the ByoHost, by reason."""
    uid = byohost(side, host)["metadata"]["uid"]
    return {each["reason"]: each for each in side.cluster.get("events")["items"]
            if each["involvedObject"].get("uid") == uid and each["source"].get("component") == "kubexmd"}


def repairs(host) -> int:
    """How many there were."""
    return host.node.run(["kubexmctl", "history", "--limit=200"]).stdout.count("(repair)")


# --- changed orders ---------------------------------------------------------------------------------------------------


def test_changed_labels_reach_the_node_and_kubelet_goes_on(joined):
    side, host = joined
    before = kubelet(host)
    patch(side, host, {"spec": {"labels": {"team": "red"}}})
    side.wait_for("the label", lambda: node_of(side, host)["metadata"]["labels"].get("team") == "red")
    host.wait("the label in the unit", lambda: "team=red" in host.node.run(["systemctl", "cat", "kubelet"]).stdout)
    patch(side, host, {"spec": {"labels": {"team": None}}})
    side.wait_for("no label", lambda: "team" not in node_of(side, host)["metadata"]["labels"])
    assert kubelet(host) == before and host.phase() == "joined"


def test_changed_settings_of_the_cluster_restart_kubelet_once(joined):
    side, host = joined
    before = kubelet(host)
    data = bootstrap_data(side.cluster) | {"kubelet-config.yaml": KUBELET_CONFIG.format(77)}
    side.apply([assignment.secret(data)])
    patch(side, host, {"spec": {"labels": {"read": "again"}}})  # the secret is read with every change of the orders
    host.wait("the new setting", lambda: "maxPods: 77" in host.node.read(CONFIG).decode())
    host.wait("kubelet's restart", lambda: kubelet(host) not in ("0", before))
    host.wait("the Node", lambda: is_ready(side, host))
    assert condition(side, host)["status"] == "True"


def test_a_further_ca_reaches_the_node_and_kubelet_goes_on(joined):
    """Nothing is pinned here: the condition asks a person to confirm it."""
    side, host = joined
    before, authority, further = kubelet(host), host.node.read(CA).decode(), another_authority()

    def confirmed() -> dict:
        return condition(side, host, "ClusterCAsConfirmed")
    for number, wanted in enumerate((authority + further, authority)):
        side.apply([assignment.secret({"ca.crt": wanted})])  # the rest of the secret stays
        patch(side, host, {"spec": {"labels": {"read": f"for-a-ca-{number}"}}})
        host.wait("the CAs of the secret", lambda wanted=wanted: host.node.read(CA).decode() == wanted)
        if wanted != authority:
            side.wait_for("the question", lambda: confirmed().get("status") == "False")
            assert "CN=another" in confirmed()["message"] and "kubexmctl certs trust-ca" in confirmed()["message"]
            host.node.write("/root/further.crt", further)
            assert "trusted: CN=another sha256:" in host.node.run(["kubexmctl", "certs", "trust-ca", "/root/further.crt"]).stdout
            side.wait_for("the answer", lambda: confirmed()["status"] == "True")
    side.wait_for("the Node", lambda: is_ready(side, host))
    assert kubelet(host) == before and condition(side, host)["status"] == "True"


def test_user_kubexm_can_neither_add_a_client_ca_nor_change_the_server(joined):
    """A certificate of that CA would be root on this host: kubelet lets its bearer run commands in every pod."""
    side, host = joined
    before, owner = host.node.read(CLIENT_CA), owners(host).pop()
    assert before == side.cluster.ca.read_bytes() and CLIENT_CA in host.node.read(CONFIG).decode()
    more = before + another_authority().encode()

    def tried(name: str, *steps: dict, contents=(more,)) -> str:
        with executor_wire.connect(host.node) as wire:
            wire.hello()
            return client.apply(wire, client.plan(name, *steps, owner=owner), contents)
    bundle = dict(access=ACCESS, digest=executor_wire.digest(more))
    refused = tried("more", step("data-file", path=CLIENT_CA, kind="ca-bundle", **bundle))
    assert "CN=another" in refused and "or signed by one that this node trusts" in refused
    secret = bundle | {"access": ACCESS | {"mode": "0600"}}
    assert "expected a data-file of kind ca-bundle" in tried("secret", step("secret-file", path=CLIENT_CA, handle="x", **secret))
    kubeconfig = {"type": "kubeconfig", "user": "kubelet", "server": "https://10.99.0.99:6443"}
    refused = tried("server", step("rendered-file", document=kubeconfig), contents=())
    assert f"expected {side.cluster.server}, the one of the node on this host" in refused
    both = [step("rendered-file", document=kubeconfig | {"user": "kube-proxy", "server": side.cluster.server}),
            step("rendered-file", document=kubeconfig)]
    assert "expected kubeconfigs for one API server" in tried("two", *both, contents=())
    assert host.node.read(CLIENT_CA) == before


def test_a_node_of_ours_is_no_finding(joined):
    _, host = joined
    assert "is ready for a join" in host.node.run(["kubexmctl", "preflight"]).stdout


def test_taints_and_versions_that_cannot_be_changed_are_reported(joined):
    side, host = joined
    patch(side, host, {"spec": {"taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]}})
    wanted = f"kubectl taint nodes {host.node.name} gpu=a:NoSchedule"
    side.wait_for("the command", lambda: wanted in condition(side, host, "AssignmentApplied").get("message", ""))
    side.cluster.kubectl("taint", "nodes", host.node.name, "gpu=a:NoSchedule")
    side.wait_for("the end", lambda: condition(side, host, "AssignmentApplied")["status"] == "True")
    patch(side, host, {"spec": {"taints": None}, "metadata": {"annotations": {assignment.VERSION: "v1.99.0"}}})
    side.wait_for("the version", lambda: "v1.99.0 is wanted" in condition(side, host, "AssignmentApplied").get("message", ""))
    assert host.phase() == "joined"
    assignment.annotate(side, host, assignment.VERSION, f"v{kubernetes.version()}")
    side.wait_for("the end", lambda: condition(side, host, "AssignmentApplied")["status"] == "True")
    side.cluster.kubectl("taint", "nodes", host.node.name, "gpu-")


# --- the facts in the ByoHost -----------------------------------------------------------------------------------------

SECOND_ADDRESS = "10.98.0.1/32"


def network_of(side, host) -> list[dict]:
    return byohost(side, host)["status"]["network"]


def addresses_of(network: list[dict], link: str) -> list[str]:
    return [address for each in network if each["networkInterfaceName"] == link for address in each["ipAddrs"]]


def test_a_changed_address_reaches_the_byohost(joined):
    side, host = joined
    before = network_of(side, host)
    assert not [each for each in before if each["networkInterfaceName"].startswith(("veth", "cni"))]
    host.node.run(["ip", "address", "add", SECOND_ADDRESS, "dev", "host0"])
    side.wait_for("the new address", lambda: SECOND_ADDRESS in addresses_of(network_of(side, host), "host0"))
    assert any(SECOND_ADDRESS in each["addresses"] for each in host.status()["host"]["interfaces"])
    host.node.run(["ip", "address", "delete", SECOND_ADDRESS, "dev", "host0"])
    side.wait_for("the network as before", lambda: network_of(side, host) == before)
    assert host.phase() == "joined"


def test_a_new_name_of_the_host_is_a_condition_and_no_second_byohost(joined):
    side, host = joined
    host.node.run(["hostname", "renamed"])
    host.node.run(["systemctl", "restart", "kubexmd"])
    told = side.wait_for("the condition", lambda: condition(side, host, "HostNameUnchanged"))
    assert told["status"] == "False" and "its name is now renamed" in told["message"]
    assert [each["metadata"]["name"] for each in side.cluster.get("byohosts")["items"]] == [host.node.name]
    host.wait_for_phase("joined")
    host.node.run(["hostname", host.node.name])
    host.node.run(["systemctl", "restart", "kubexmd"])
    side.wait_for("its end", lambda: condition(side, host, "HostNameUnchanged").get("status", "True") == "True")
    host.wait_for_phase("joined")


# --- repair -----------------------------------------------------------------------------------------------------------


def test_events_tell_of_the_join_the_drift_and_the_repair(joined):
    side, host = joined
    host.wait("a whole node", lambda: is_whole(host))
    host.node.run(["systemctl", "stop", "kubelet"])
    wanted = {"BootstrapK8sNodeSucceeded", "HostDrifted", "HostRepaired"}
    told = side.wait_for("the Events", lambda: wanted <= (found := events_about(side, host)).keys() and found)
    assert "kubelet" in told["HostDrifted"]["message"] and "kubexmctl pause" in told["HostDrifted"]["message"]
    assert told["HostDrifted"]["type"] == "Warning" and told["HostRepaired"]["type"] == "Normal"
    shown = side.cluster.kubectl("describe", "byohost", host.node.name)
    assert "kubexmctl pause stops repairs" in shown and f"Node {host.node.name} of machine default/by-hand became Ready" in shown


@pytest.mark.parametrize("harm", [
    ["systemctl", "stop", "kubelet"],
    ["systemctl", "disable", "kubelet"],
    ["sh", "-c", f"ln -sf /dev/null {UNIT} && systemctl daemon-reload && systemctl stop kubelet"],  # a mask
    ["sh", "-c", f"echo '# mine' >> {CONFIG}"],
    ["rm", CONFIG],
    ["sh", "-c", "rm /var/lib/kubelet/pki/kubelet-client-current.pem"],
    ["sh", "-c", "mv /etc/kubernetes/kubelet.conf /run/moved; ln -s /run/moved /etc/kubernetes/kubelet.conf"],
    ["sysctl", "-qw", "net.ipv4.ip_forward=0"],
], ids=["stop", "disable", "mask", "change", "remove", "unlink", "replace", "forwarding"])
def test_drift_is_repaired(joined, harm):
    side, host = joined
    host.wait("a whole node", lambda: is_whole(host))
    before = repairs(host)
    host.node.run(["kubexmctl", "repair"])  # forgets the repairs of the test before
    host.node.run(harm, check=False)
    host.wait("the repair", lambda: repairs(host) > before, REPAIR_SECONDS)
    host.wait("a whole node", lambda: is_whole(host), REPAIR_SECONDS)
    assert host.node.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip() == "1"
    assert "# mine" not in host.node.read(CONFIG).decode()
    side.wait_for("the Node", lambda: is_ready(side, host))


def test_somebody_who_keeps_changing_it_back_is_met_with_back_off(joined):
    side, host = joined
    host.wait("a whole node", lambda: is_whole(host))
    host.node.run(["kubexmctl", "repair"])  # forgets the repairs of the test before
    before = repairs(host)
    fight = f"while sleep 0.1; do grep -q mine {CONFIG} || echo '# mine' >> {CONFIG}; done"
    host.node.run(["systemd-run", "--unit=fighter", "sh", "-c", fight])
    host.wait("back-off", lambda: "repaired 2 times, next repair at" in host.condition("HostAsApplied").get("message", ""))
    assert repairs(host) - before == 2
    host.node.run(["systemctl", "stop", "fighter"])
    host.node.run(["kubexmctl", "repair"])
    host.wait("a whole node", lambda: is_whole(host))
    assert "# mine" not in host.node.read(CONFIG).decode()


# --- a person's word --------------------------------------------------------------------------------------------------


def test_a_pause_stops_repair_over_a_reboot_and_resume_ends_it(joined):
    side, host = joined
    host.wait("a whole node", lambda: is_whole(host))
    host.node.run(["kubexmctl", "pause", "--for", "2h"])
    host.wait_for_phase("paused")
    host.node.reboot()
    told = host.wait_for_phase("paused")
    assert told["pause"]["uid"] == 0 and told["pause"]["until"]
    side.wait_for("the pause on the ByoHost", lambda: condition(side, host, "NotPaused").get("status") == "False")
    host.node.run(["systemctl", "stop", "kubelet"])
    host.wait("the drift", lambda: "repair is paused" in host.condition("HostAsApplied").get("message", ""))
    assert kubelet(host) == "0"
    host.node.run(["kubexmctl", "resume"])
    host.wait("a whole node", lambda: is_whole(host))
    host.wait_for_phase("joined")


def test_a_pause_ends_by_itself(joined):
    side, host = joined
    host.wait("a whole node", lambda: is_whole(host))
    host.node.run(["kubexmctl", "pause", "--for", "3s"])
    host.node.run(["systemctl", "stop", "kubelet"])
    host.wait("a whole node", lambda: is_whole(host))
    assert host.wait_for_phase("joined")["pause"] is None
    assert "next action: pause" in host.node.journal("--unit=kubexmd", "--lines=50", "--output=cat")


def test_an_undo_by_root_stays_until_resume(joined):
    side, host = joined
    host.node.run(["kubexmctl", "undo", "machine-by-hand-1"])
    host.wait_for_phase("held")
    said = host.wait("the reason", lambda: condition(side, host, "AssignmentApplied"))
    side.wait_for("the reason", lambda: "kubexmctl resume" in condition(side, host, "AssignmentApplied").get("message", ""))
    host.node.run(["systemctl", "restart", "kubexmd"])
    host.wait_for_phase("held")
    assert said and kubelet(host) == "0"
    host.node.run(["kubexmctl", "resume"])
    host.wait_for_phase("joined")


def test_leave_releases_the_host_until_resume(joined):
    side, host = joined
    host.node.run(["kubexmctl", "leave"])
    assert host.wait_for_phase("held")["plan"]["purpose"] == "release"
    assert not is_ready(side, host) and kubelet(host) == "0"
    host.node.run(["kubexmctl", "resume"])
    host.wait_for_phase("joined")
    host.wait("the Node", lambda: is_ready(side, host))


# --- restarts ---------------------------------------------------------------------------------------------------------


def test_a_restart_without_the_management_cluster_knows_the_node(joined):
    side, host = joined
    server = host.status()["assignment"]["server"]
    side.cluster.processes["kube-apiserver"].kill()
    host.node.run(["systemctl", "restart", "kubexmd"])
    host.wait("its certificate", lambda: "node" in {each["name"] for each in host.status()["certificates"]})
    told = host.status()
    assert told["phase"] == "joined" and told["assignment"]["server"] == server
    assert {each["name"] for each in told["certificates"]} == {"management", "node"}
    host.node.run(["systemctl", "stop", "kubelet"])
    host.wait("a whole node", lambda: is_whole(host), REPAIR_SECONDS)
    side.cluster.restart("kube-apiserver")
    host.wait("the Node", lambda: host.condition("NodeReady").get("status") == "True")


def test_after_a_reboot_the_node_is_ready_without_kubexmd(joined):
    side, host = joined
    host.node.run(["systemctl", "disable", "kubexmd"])
    before = node_of(side, host)["status"]["nodeInfo"]["bootID"]
    host.node.reboot()
    host.node.run(["systemctl", "is-active", "kubexmd"], check=False)
    waiting.until("kubelet", lambda: kubelet(host) != "0", 60, host.story)
    side.wait_for("the Node", lambda: is_ready(side, host))
    assert host.node.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip() == "1"
    host.node.run(["systemctl", "enable", "--now", "kubexmd"])
    host.wait_for_phase("joined")
    assert before and byohost(side, host)["status"]["machineRef"]["uid"] == "by-hand-1"
