"""A joined node stays a node: changed orders, repair, a pause, a reboot, and a management cluster that is away."""

import datetime
import hashlib
import json
import os
import re
import ssl
from pathlib import Path

import pytest

from testbed import assignment, executor_wire, kubernetes, waiting
from testbed.assignment import another_authority, assign, bootstrap_data, byohost, condition, is_ready, patch, withdraw
from testbed.care import (CONFIG, KUBELET_CONFIG, is_whole, kubelet, kubelet_starts, memory, owners, plans, restored, serials,
                          set_event_times)
from testbed.executor import client
from testbed.executor.client import ACCESS
from testbed.executor.plan import step
from testbed.watching import Watch

TREE = Path(os.environ.get("KUBEXM_TREE", ""))
UNIT = "/etc/systemd/system/kubelet.service"
POD_NETWORK = "/etc/cni/net.d/10-pods.conflist"  # of the testbed
CA, CLIENT_CA = "/etc/kubernetes/pki/ca.crt", "/etc/kubernetes/pki/client-ca.crt"
REPAIR_SECONDS = 30  # by events: the executor compares without one every 90 s; ./dev bench join measures the promised two
PROMISED_EVENTS = 20  # in an hour
FOREIGN = {"type": "Foreign", "status": "False", "severity": "Warning", "reason": "Theirs", "message": "of another writer",
           "lastTransitionTime": "2020-02-20T20:20:20Z"}


@pytest.fixture(scope="module")
def joined():
    with assignment.enrolled(TREE) as (side, host):
        assign(side, host, bootstrap_data(side.cluster))
        host.wait_for_phase("joined")
        yield side, host
        withdraw(side, host)


def node_of(side, host) -> dict:
    return side.cluster.get("node", host.node.name)


def events_about(side, host) -> list[dict]:
    """The Events of kubexmd about the ByoHost."""
    uid = byohost(side, host)["metadata"]["uid"]
    return [each for each in side.cluster.get("events")["items"]
            if each["involvedObject"].get("uid") == uid and each["source"].get("component") == "kubexmd"]


def reasons(events: list[dict]) -> dict[str, dict]:
    return {each["reason"]: each for each in events}


def event_writes(side, host) -> int:
    """How often the host asked for a new Event, or for another count of one, in the time that kubexmd counts."""
    since = datetime.datetime.fromtimestamp(min(memory(host)["event_times"]), datetime.timezone.utc).isoformat()
    user = f"byoh:host:{host.node.name}"
    return sum(each["user"].get("username") == user and each["verb"] in ("create", "patch") and
               each.get("objectRef", {}).get("resource") == "events" and each["requestReceivedTimestamp"] >= since
               for each in side.cluster.audit())


def forget_events(host) -> None:
    """kubexmd may write as many as in an hour, and counts on in none of before: other tests may have needed them."""
    set_event_times(host, [])


def condition_in(host: dict, kind: str) -> dict:
    """Of a ByoHost."""
    return next((each for each in host["status"]["conditions"] if each["type"] == kind), {})


def repairs(host) -> int:
    """How many there were."""
    return host.node.run(["kubexmctl", "history", "--limit=200"]).stdout.count("(repair)")


def client_certificate(host) -> str:
    """The one that kubelet is to use, in PEM."""
    return host.node.read("/var/lib/kubelet/pki/kubelet-client-current.pem").decode()


# --- certificates -----------------------------------------------------------------------------------------------------


def test_renewed_certificates_reach_a_kubelet_that_goes_on(joined):
    side, host = joined
    host.wait("a whole node", lambda: is_whole(host))
    process, before, file = kubelet(host), serials(host), client_certificate(host)
    host.node.run(["kubexmctl", "certs", "renew"])
    host.wait("other certificates", lambda: {"management", "node"} == {
        name for name, serial in serials(host).items() if serial != before[name]})
    renewed = host.wait("kubelet's file", lambda: (now := client_certificate(host)) != file and now)
    leaf = renewed[:renewed.index("-----END CERTIFICATE-----") + 26]
    credential = f"X509SHA256={hashlib.sha256(ssl.PEM_cert_to_DER_cert(leaf)).hexdigest()}"
    server = side.cluster.server.removeprefix("https://").split(":")[0]
    host.node.run(["ss", "-K", "dst", server])  # kubelet reads the file at its next handshake

    def requests_with_it() -> int:
        extra = "authentication.kubernetes.io/credential-id"
        return sum(credential in event["user"].get("extra", {}).get(extra, []) and
                   event.get("userAgent", "").startswith("kubelet/") for event in side.cluster.audit())
    side.wait_for("kubelet's requests with the new certificate", requests_with_it)
    assert kubelet(host) == process and host.phase() == "joined"
    side.wait_for("the Node", lambda: is_ready(side, host))
    asked = [event for event in side.cluster.audit() if event.get("userAgent", "").startswith("kubelet/") and
             event.get("objectRef", {}).get("resource") == "certificatesigningrequests"]
    assert asked == []


def test_each_certificate_says_who_issued_it_and_when_it_is_renewed(joined):
    _, host = joined
    said = json.loads(host.node.run(["kubexmctl", "certs", "-o", "json"]).stdout)["certificates"]
    for each in said:
        [issuer] = each["issuers"]
        assert issuer["subject"] == "CN=kubernetes" and issuer["notAfter"] > each["notAfter"]
        assert each["next"]["action"] == "renew" and each["notBefore"] < each["next"]["at"] < each["notAfter"]
    shown = host.node.run(["kubexmctl", "certs"]).stdout
    assert all(f"{each['name']}: {each['subject']}" in shown for each in said)


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


def test_conditions_of_other_writers_keep_all_their_fields(joined):
    side, host = joined
    ours = [each for each in byohost(side, host)["status"]["conditions"] if each["type"] != FOREIGN["type"]]
    patch(side, host, {"status": {"conditions": [FOREIGN, *ours]}}, "status")
    with Watch(side.cluster.kubeconfig.read_text(), "byohosts") as watch:
        patch(side, host, {"spec": {"labels": {"team": "blue"}}})
        watch.wait_for("conditions of ours", host.node.name, lambda version: condition_in(version, "AssignmentApplied")["status"] == "False")
        side.wait_for("the label", lambda: node_of(side, host)["metadata"]["labels"].get("team") == "blue")
        versions = watch.versions(host.node.name)
    assert all(condition_in(version, "Foreign") == FOREIGN for version in [*versions, byohost(side, host)])


def test_changed_settings_of_the_cluster_restart_kubelet_once(joined):
    side, host = joined
    starts = kubelet_starts(host)
    data = bootstrap_data(side.cluster) | {"kubelet-config.yaml": KUBELET_CONFIG.format(77)}
    side.apply([assignment.secret(data)])
    patch(side, host, {"spec": {"labels": {"read": "again"}}})  # the secret is read with every change of the orders
    host.wait("the new setting", lambda: "maxPods: 77" in host.node.read(CONFIG).decode())
    host.wait("kubelet's restart", lambda: kubelet_starts(host) > starts)
    host.wait("the Node", lambda: is_ready(side, host))
    assert kubelet_starts(host) == starts + 1 and condition(side, host)["status"] == "True"


def test_wrong_settings_of_the_cluster_are_named_and_the_node_keeps_its_own(joined):
    side, host = joined
    host.wait("a whole node", lambda: is_whole(host))
    process, applied, made = kubelet(host), host.node.read(CONFIG), {each.name for each in plans(host)}
    most_pods = re.search(r"maxPods: (\d+)", applied.decode())[1]
    right = {"kubelet-config.yaml": KUBELET_CONFIG.format(most_pods), "ca.crt": host.node.read(CA).decode()}

    def told() -> dict:
        return condition(side, host, "AssignmentApplied")
    for number, (key, wrong, named) in enumerate((("kubelet-config.yaml", KUBELET_CONFIG.format("many"), "maxPods"),
                                                  ("ca.crt", "none", "CA in secret"))):
        side.apply([assignment.secret(right | {key: wrong})])
        assignment.annotate(side, host, "read", f"wrong-{number}")  # so the secret is read at once
        side.wait_for("the reason", lambda named=named: told().get("status") == "False" and named in told()["message"])
        assert told()["reason"] == "SettingsInvalid" and told()["severity"] == "Warning"
        side.apply([assignment.secret(right)])
        assignment.annotate(side, host, "read", f"right-{number}")
        side.wait_for("the end", lambda: told()["status"] == "True")
    side.wait_for("the Event", lambda: "ReadBootstrapSecretFailed" in reasons(events_about(side, host)))
    assert host.phase() == "joined" and condition(side, host)["status"] == "True"
    assert (kubelet(host), host.node.read(CONFIG), {each.name for each in plans(host)}) == (process, applied, made)


def test_a_further_ca_reaches_the_node_and_kubelet(joined):
    """kubelet reads it when it starts. Nothing is pinned here: the condition asks a person to confirm it."""
    side, host = joined
    starts, authority, further = kubelet_starts(host), host.node.read(CA).decode(), another_authority()

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
            host.wait("kubelet, started again", lambda: kubelet_starts(host) == starts + 1 and is_whole(host))
    side.wait_for("the Node", lambda: is_ready(side, host))
    assert kubelet_starts(host) == starts + 1, "a CA that goes needs no restart"
    assert condition(side, host)["status"] == "True"


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


def run_what_it_says(side, host, words: str) -> str:
    """Runs the very command that the ByoHost asks a person for; returns all that it says."""
    said = side.wait_for(f"a command with {words}", lambda: words in (
        now := condition(side, host, "AssignmentApplied").get("message", "")) and now)
    side.cluster.kubectl(*re.search(r"run: kubectl ([^;]+)", said)[1].split())
    return said


def wait_for_applied_orders(side, host) -> None:
    side.wait_for("the end", lambda: condition(side, host, "AssignmentApplied")["status"] == "True")


def test_taints_and_versions_that_cannot_be_changed_are_reported(joined):
    side, host = joined
    process = kubelet(host)
    for value in ("a", "b"):
        taint = f"gpu={value}:NoSchedule"
        patch(side, host, {"spec": {"taints": [{"key": "gpu", "value": value, "effect": "NoSchedule"}]}})
        registers = f"register-with-taints={taint}"
        host.wait("the taint in the unit", lambda: registers in host.node.run(["systemctl", "cat", "kubelet"]).stdout)
        run_what_it_says(side, host, taint)
        wait_for_applied_orders(side, host)
        assert taint.split(":")[0] in [f"{each['key']}={each.get('value')}" for each in node_of(side, host)["spec"]["taints"]]
    patch(side, host, {"spec": {"taints": None}, "metadata": {"annotations": {assignment.VERSION: "v1.99.0"}}})
    assert "v1.99.0 is wanted" in run_what_it_says(side, host, "gpu=b:NoSchedule-")
    assert "gpu" not in [each["key"] for each in node_of(side, host)["spec"].get("taints", [])]
    assert host.phase() == "joined" and kubelet(host) == process
    assignment.annotate(side, host, assignment.VERSION, f"v{kubernetes.version()}")
    wait_for_applied_orders(side, host)


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


def test_events_tell_of_the_join_the_drift_and_the_repair_and_count_repeats(joined):
    side, host = joined
    host.wait("a whole node", lambda: is_whole(host))
    side.wait_for("the Event of the join", lambda: "BootstrapK8sNodeSucceeded" in reasons(events_about(side, host)))
    forget_events(host)
    old = {each["metadata"]["uid"] for each in events_about(side, host)}

    def news() -> list[dict]:
        return [each for each in events_about(side, host) if each["metadata"]["uid"] not in old]
    host.wait("a whole node", lambda: is_whole(host))
    host.node.run(["systemctl", "stop", "kubelet"])
    told = side.wait_for("the Events", lambda: {"HostDrifted", "HostRepaired"} <= (found := reasons(news())).keys() and found)
    assert "kubelet" in told["HostDrifted"]["message"] and "kubexmctl pause" in told["HostDrifted"]["message"]
    assert told["HostDrifted"]["type"] == "Warning" and told["HostRepaired"]["type"] == "Normal"
    shown = side.cluster.kubectl("describe", "byohost", host.node.name)
    assert "kubexmctl pause stops repairs" in shown and f"Node {host.node.name} of machine default/by-hand became Ready" in shown

    for _ in range(2):
        host.wait("a whole node", lambda: is_whole(host))
        host.node.run(["kubexmctl", "repair"])  # forgets the repairs of before
        restored(host.node)
    side.wait_for("a count", lambda: [each["count"] for each in news()
                                      if each["reason"] == "HostDrifted" and CONFIG in each["message"]] == [2])


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
    host.wait("back-off", lambda: "repaired 4 times, next repair at" in host.condition("HostAsApplied").get("message", ""))
    assert repairs(host) - before == 4
    # Not a stop: systemd, told to reload by the repair meanwhile, may miss that the processes ended, for 90 s.
    host.node.run(["systemctl", "kill", "--signal=KILL", "fighter"])
    host.node.run(["kubexmctl", "repair"])
    host.wait("a whole node", lambda: is_whole(host))
    assert "# mine" not in host.node.read(CONFIG).decode()
    assert event_writes(side, host) <= PROMISED_EVENTS


# --- a person's word --------------------------------------------------------------------------------------------------


def test_a_pause_stops_repair_over_a_reboot_and_resume_ends_it(joined):
    side, host = joined
    host.wait("a whole node", lambda: is_whole(host))
    host.node.run(["kubexmctl", "pause", "--for", "2h"])
    host.wait_for_phase("paused")
    host.node.reboot()
    told = host.wait_for_phase("paused")
    assert told["pause"]["uid"] == 0 and told["pause"]["until"]
    said = side.wait_for("the pause on the ByoHost", lambda: (now := condition(side, host, "NotPaused")).get("status") == "False" and now)
    assert "user 0 paused this host at" in said["message"] and said["message"].endswith(f"until {told['pause']['until']}")
    before = plans(host)
    patch(side, host, {"spec": {"labels": {"meanwhile": "yes"}}})
    host.node.run(["systemctl", "stop", "kubelet"])
    # This is written to the newest version only: kubexmd knows the label then.
    side.wait_for("the drift", lambda: "repair is paused" in condition(side, host, "HostAsApplied").get("message", ""))
    assert kubelet(host) == "0" and plans(host) == before
    assert "meanwhile" not in node_of(side, host)["metadata"]["labels"]
    host.node.run(["kubexmctl", "resume"])
    host.wait("a whole node", lambda: is_whole(host))
    side.wait_for("the label", lambda: node_of(side, host)["metadata"]["labels"].get("meanwhile") == "yes")
    host.wait_for_phase("joined")


def test_a_pause_ends_by_itself(joined):
    side, host = joined
    host.wait("a whole node", lambda: is_whole(host))
    host.node.run(["kubexmctl", "pause", "--for", "3s"])
    host.node.run(["systemctl", "stop", "kubelet"])
    host.wait("a whole node", lambda: is_whole(host))
    assert host.wait_for_phase("joined")["pause"] is None
    assert "next action: pause" in host.node.journal("--unit=kubexmd", "--lines=50", "--output=cat")


def test_a_node_that_is_not_ready_any_more_is_reported(joined):
    """Of its pod network kubelet says within seconds that it is gone, of itself the cluster after 40."""
    side, host = joined

    def wait_for_node(status: str) -> str:
        return side.wait_for(f"NodeReady to be {status}", lambda: (
            now := condition(side, host, "NodeReady")).get("status") == status and now["message"])
    wait_for_node("True")
    host.node.run(["mv", POD_NETWORK, "/run/pod-network"])
    assert "is not Ready: " in wait_for_node("False")
    assert condition(side, host)["status"] == "True" and host.phase() == "joined"
    host.node.run(["mv", "/run/pod-network", POD_NETWORK])
    wait_for_node("True")


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


def heartbeat(side, host) -> str:
    """When kubelet last said how the Node is, and that it is Ready; in UTC, empty: it is not."""
    ready = next(each for each in node_of(side, host)["status"]["conditions"] if each["type"] == "Ready")
    return ready["lastHeartbeatTime"] if ready["status"] == "True" else ""


def test_after_a_reboot_the_node_is_ready_as_soon_as_the_api_server_answers_and_without_kubexmd(joined):
    side, host = joined
    host.node.run(["systemctl", "disable", "kubexmd"])
    side.cluster.processes["kube-apiserver"].kill()
    host.node.reboot()
    assert host.node.run(["systemctl", "is-active", "kubexmd"], check=False).stdout.strip() == "inactive"
    waiting.until("kubelet", lambda: kubelet(host) != "0", 60, host.story)
    side.cluster.restart("kube-apiserver")
    # The Node is Ready from before the reboot until the cluster misses its heartbeats.
    started = host.node.run(["date", "--utc", "+%Y-%m-%dT%H:%M:%SZ", "--date", host.node.shown("ExecMainStartTimestamp", "kubelet")]).stdout.strip()
    side.wait_for("the Node", lambda: heartbeat(side, host) >= started)
    assert host.node.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip() == "1"
    assert re.search(r"^net\.ipv4\.ip_forward *= *1$", host.node.read("/etc/sysctl.d/99-kubexm.conf").decode(), re.MULTILINE)
    host.node.run(["systemctl", "enable", "--now", "kubexmd"])
    host.wait_for_phase("joined")
    assert byohost(side, host)["status"]["machineRef"]["uid"] == "by-hand-1"
