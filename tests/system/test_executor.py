"""The executor on a real node: plans are carried out, survive a kill, and leave nothing when undone."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from testbed import exit_code, image, snapshot, waiting
from testbed.assignment import another_authority
from testbed.executor import client, gate

TREE = Path(os.environ["KUBEXM_TREE"])
CA = another_authority()
ACCESS = {"mode": "0644", "uid": 0, "gid": 0}


@pytest.fixture(params=image.USUAL)
def host(request, nodes):
    """A node with the executor installed and its socket active, as a package would leave it."""
    node = nodes(suite=request.param)
    node.install(TREE)
    node.run(["systemctl", "enable", "--now", "kubexm-executor.socket"])
    node.run(["systemctl", "start", "kubexm-executor.service"])
    return node


def step(type_: str, /, **parameters) -> dict:
    return {"type": type_, "with": parameters}


def plan(identity: str, *steps: dict, owner: str = "test") -> str:
    return json.dumps({"id": identity, "owner": owner, "steps": list(steps)})


def rich_plan(identity: str) -> str:
    return plan(identity, *rich_steps())


def rich_steps() -> list[dict]:
    """Every kind of step that a node allows."""
    directory = {"mode": "0750", "uid": 0, "gid": 0}
    return [
        step("directory", path="/etc/kubernetes", access={**directory, "mode": "0755"}),
        step("directory", path="/etc/kubernetes/pki", access=directory),
        step("directory", path="/var/lib/kubelet", access=directory),
        step("data-file", path="/etc/kubernetes/pki/ca.crt", kind="ca-bundle", access=ACCESS,
             digest=hashlib.sha256(CA.encode()).hexdigest()),
        step("symlink", path="/etc/kubernetes/pki/current.crt", target="ca.crt"),
        step("managed-block", path="/etc/hosts", name="own name", lines=["10.99.0.200 somebody"]),
        step("sysctl", key="net.ipv4.ip_forward", value="1"),
        step("rendered-file", document={"type": "kubelet-configuration", "minor": 34, "cgroup_driver": "systemd",
                                        "cluster_dns": ["10.96.0.10"], "cluster_domain": "cluster.local",
                                        "fail_swap_on": True, "fail_cgroup_v1": False, "max_pods": 110}),
        step("rendered-file", document={"type": "kubeconfig", "user": "kubelet", "server": "https://10.99.0.2:6443"}),
        step("claim", path="/usr/libexec/kubernetes"),
        step("unit-state", name="containerd.service", active=False, enabled=False, restart_key=""),
    ]


def apply(node, text: str, user: str | None = None):
    node.write("/run/plan.json", text)
    node.write("/run/ca.crt", CA)
    return node.run(["kubexmctl", "apply", "/run/plan.json", "--content", "/run/ca.crt"], check=False, user=user)


@pytest.mark.parametrize("host", image.SUITES, indirect=True)
def test_a_plan_is_carried_out_and_taken_back_without_a_trace(host):
    host.write("/run/plan.json", rich_plan("p1"))
    host.write("/run/ca.crt", CA)
    before = snapshot.settled(host)
    done = apply(host, rich_plan("p1"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert host.read("/etc/kubernetes/pki/ca.crt").decode() == CA
    assert host.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip() == "1"
    assert host.run(["systemctl", "is-active", "containerd"], check=False).stdout.strip() == "inactive"
    assert b"10.99.0.200 somebody" in host.read("/etc/hosts")
    undone = host.run(["kubexmctl", "undo", "test"], check=False)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    report = snapshot.lasting_diff(before, host)
    assert not report, report


def test_the_same_plan_twice_has_nothing_to_do(host):
    assert apply(host, rich_plan("p1")).returncode == 0
    again = apply(host, rich_plan("p2"))
    assert again.returncode == 0, again.stdout + again.stderr
    states = {line.split()[0] for line in again.stdout.splitlines() if not line.startswith("plan ")}
    assert states == {"skipped"}, again.stdout


def test_a_preview_shows_diffs_and_changes_nothing(host):
    host.write("/run/plan.json", rich_plan("p1"))
    before = snapshot.settled(host)
    previewed = host.run(["kubexmctl", "preview", "/run/plan.json"], check=False)
    assert previewed.returncode == exit_code.WOULD_CHANGE
    shown = previewed.stdout
    assert "+10.99.0.200 somebody" in shown
    assert "net.ipv4.ip_forward: 0 -> 1" in shown
    report = snapshot.lasting_diff(before, host)
    assert not report, report


def test_a_plan_prints_as_text_as_json_and_as_diffs(host):
    host.write("/run/plan.json", rich_plan("p1"))

    def printed(form: str, code: int = exit_code.WOULD_CHANGE) -> str:
        shown = host.run(["kubexmctl", "preview", "--output", form, "/run/plan.json"], check=False)
        assert shown.returncode == code
        return shown.stdout

    assert "change   set net.ipv4.ip_forward to 1\n" in printed("text")
    assert "+10.99.0.200 somebody" in printed("diff")
    document = json.loads(printed("json"))
    assert {"type", "target", "text", "effects", "state", "with"} == set(document["steps"][0])
    assert {step["state"] for step in document["steps"]} == {"change"}
    assert apply(host, json.dumps(document)).returncode == 0, "what was printed is the plan"
    host.write("/run/plan.json", json.dumps({**document, "id": "p2"}))
    again = json.loads(printed("json", exit_code.DONE))
    assert {step["state"] for step in again["steps"]} == {"holds"}
    assert again["hash"] == document["hash"]
    followed = host.run(["kubexmctl", "follow", "p1"]).stdout
    assert "done     set net.ipv4.ip_forward to 1" in followed and "plan p1: done" in followed
    refused = host.run(["kubexmctl", "cancel", "p1"], check=False)
    assert refused.returncode == exit_code.REFUSED and "plan p1 is not running" in refused.stderr


@pytest.mark.parametrize("bad, complaint", [
    (step("data-file", path="/etc/passwd", kind="ca-bundle", digest="0" * 64, access=ACCESS), "/etc/passwd is not below"),
    (step("sysctl", key="kernel.core_pattern", value="|/tmp/x"), "no configuration can allow it"),
    (step("sysctl", key="vm.swappiness", value="1"), "vm.swappiness is not in allow.sysctls"),
    (step("unit-state", name="dbus.service", active=False, restart_key=""), "dbus.service is not in allow.units"),
    (step("transient-unit", name="kubexm-x.service", argv=["/bin/sh"], timeout_seconds=5), "/bin/sh is not in allow.executables"),
])
def test_what_root_did_not_allow_is_refused(host, bad, complaint):
    refused = apply(host, plan("p1", bad))
    assert refused.returncode == exit_code.REFUSED
    assert complaint in refused.stderr


def test_a_plan_is_not_carried_out_twice(host):
    one = plan("p1", step("sysctl", key="net.ipv4.ip_forward", value="1"))
    host.write("/run/plan.json", one)
    assert host.run(["kubexmctl", "apply", "/run/plan.json"]).returncode == 0
    replayed = host.run(["kubexmctl", "apply", "/run/plan.json"], check=False)
    assert replayed.returncode == exit_code.REFUSED
    assert "p1 was accepted before" in replayed.stderr


def test_nobody_but_root_and_kubexm_is_heard(host):
    host.run(["chmod", "0666", "/run/kubexm-executor/executor.sock"])  # only the kernel's word protects now
    refused = host.run(["kubexmctl", "history"], user="nobody", check=False)
    assert refused.returncode == exit_code.REFUSED
    assert "is not permitted to use the executor" in refused.stderr
    assert host.run(["kubexmctl", "history"], user="kubexm").returncode == 0


def test_a_plan_survives_a_kill_of_the_executor(host):
    """In the middle for sure: a step that waits at a gate is there."""
    host.write(client.CONFIGURATION, gate.ALLOW_CAT)
    host.run(["systemctl", "restart", client.SERVICE])
    host.run(["mkfifo", gate.GATE])
    first, then = rich_steps()[:6], rich_steps()[6:]
    host.write("/run/plan.json", plan("p1", *first, gate.CAT, *then))
    host.write("/run/ca.crt", CA)
    running = host.popen(["kubexmctl", "apply", "/run/plan.json", "--content", "/run/ca.crt"])
    gate.wait_at_gate(host)
    assert b"somebody" in host.read("/etc/hosts")
    killed = client.shown(host, "MainPID")
    host.run(["kill", "-KILL", killed])
    running.wait(60)
    gate.wait_picked_up(host, killed)
    assert host.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip() == "0"
    gate.open_gate(host)
    waiting.until("the plan's end", lambda: "done " in host.run(["kubexmctl", "history"], check=False).stdout, 120)
    assert host.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip() == "1"
    assert host.read("/etc/kubernetes/pki/ca.crt").decode() == CA
    assert host.run(["systemctl", "is-active", "containerd"], check=False).stdout.strip() == "inactive"


def carry_out(node, identity: str, *steps: dict, user: str | None = None):
    """A plan that needs no content."""
    node.write("/run/plan.json", plan(identity, *steps, owner="machine-test" if user else "test"))
    return node.run(["kubexmctl", "apply", "/run/plan.json"], check=False, user=user)


def undo(node, owner: str = "test") -> str:
    undone = node.run(["kubexmctl", "undo", owner], check=False)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    return undone.stdout


def forwarding(node) -> str:
    """Everything that the kernel changes when forwarding is set for the whole host, and its neighbours."""
    return node.run(["sh", "-c", "cd /proc/sys/net && grep -H . ipv4/ip_forward ipv4/conf/*/forwarding "
                                 "ipv4/conf/*/accept_redirects ipv6/conf/*/forwarding"], check=False).stdout


def test_forwarding_comes_back_for_every_interface(host):
    has_ipv6 = host.run(["test", "-e", "/proc/sys/net/ipv6/conf/all/forwarding"], check=False).returncode == 0
    families = ["ipv4", "ipv6"] if has_ipv6 else ["ipv4"]
    host.run(["ip", "link", "add", "odd.7", "type", "veth", "peer", "name", "odd8"])
    host.run(["sysctl", "-w", "net/ipv4/conf/all/accept_redirects=0"])
    for family in families:
        host.run(["sysctl", "-w", f"net/{family}/conf/odd.7/forwarding=1"])
    before = forwarding(host)
    assert "ipv4/conf/odd.7/forwarding:1" in before and "ipv4/conf/odd8/forwarding:0" in before, before
    keys = ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"][:len(families)]
    done = carry_out(host, "p1", *(step("sysctl", key=key, value="1") for key in keys))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ipv4/conf/odd8/forwarding:1" in forwarding(host), "the kernel did not set it for every interface"
    undo(host)
    assert forwarding(host) == before


def test_names_that_are_no_text_survive_in_a_claimed_directory(host):
    host.run(["sh", "-c", r"mkdir -p /var/log/pods && touch /var/log/pods/$(printf 'caf\351')"])
    done = carry_out(host, "p1", step("claim", path="/var/log/pods"))
    assert done.returncode == 0, done.stdout + done.stderr
    host.run(["sh", "-c", r"cd /var/log/pods; touch $(printf 'n\377_pod_0123456789abcdef0123456789abcdef') $(printf 'new\377')"])
    assert r"/var/log/pods stays with new\xff: not made by pods" in undo(host), "the other name is one of kubelet's"
    assert host.run(["ls", "--quoting-style=escape", "/var/log/pods"]).stdout == "caf\\351\nnew\\377\n"


def test_a_claim_on_a_link_to_another_disk_leaves_it_and_the_undo_ends(host):
    host.run(["sh", "-c", "mkdir /srv/pods && ln -s /srv/pods /var/log/pods"])
    steps = [step("sysctl", key="net.ipv4.ip_forward", value="1"), step("claim", path="/var/log/pods")]
    assert carry_out(host, "p1", *steps).returncode == 0
    host.run(["touch", "/srv/pods/log"])
    assert "/var/log/pods stays with its content" in undo(host)
    assert host.run(["readlink", "/var/log/pods"]).stdout.strip() == "/srv/pods"
    assert host.run(["ls", "/srv/pods"]).stdout.strip() == "log"
    assert host.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip() == "0", "older entries come back as well"


def test_a_file_that_takes_days_to_read_holds_nobody_up(host):
    host.run(["install", "-d", "-o", "kubexm", "/var/lib/kube-proxy"])
    host.run(["truncate", "-s", "15T", "/var/lib/kube-proxy/x"], user="kubexm")
    failed = carry_out(host, "p1", step("absent-path", path="/var/lib/kube-proxy/x"), user="kubexm")
    assert failed.returncode == exit_code.FAILED
    assert "undo could not restore it: move it away" in failed.stdout + failed.stderr
    after = carry_out(host, "p2", step("sysctl", key="net.ipv4.ip_forward", value="1"))
    assert after.returncode == 0, after.stdout + after.stderr


@pytest.mark.parametrize("host", image.SUITES, indirect=True)
def test_a_service_that_fails_again_and_again_is_stopped_and_does_so_again_after_undo(host):
    def state() -> str:
        return host.run(["systemctl", "is-active", "kubelet"], check=False).stdout.strip()

    host.write("/etc/systemd/system/kubelet.service",
               "[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStart=/bin/false\nRestart=always\nRestartSec=600\n")
    host.run(["systemctl", "daemon-reload"])
    host.run(["systemctl", "start", "kubelet"])
    waiting.until("the next try to be waited for", lambda: state() == "activating", 30)
    done = carry_out(host, "p1", step("unit-state", name="kubelet.service", active=False, restart_key=""))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "done     " in done.stdout and state() == "inactive"
    undo(host)
    waiting.until("the next try to be waited for", lambda: state() == "activating", 30)
