"""The executor as a service: one instance, reload, drain, watchdog, status, and what journalctl tells."""

import json
import subprocess

import pytest

from testbed import executor_wire, image, waiting
from testbed.executor import client
from testbed.executor.client import apply, plan, shown, until_logged
from testbed.executor.gate import (ALLOW_CAT, CAT, FORWARD, GATE, begin_plan_at_gate, forwarding, open_gate, state_of,
                                wait_picked_up)
from testbed.executor.plan import step

ALLOW_TRUE = "allow:\n  executables: [/usr/bin/true]\n"
TRUE = step("transient-unit", name="kubexm-true.service", argv=["/usr/bin/true"], timeout_seconds=60)

both = pytest.mark.parametrize("host", image.SUITES, indirect=True)  # for what depends on systemd's version


@pytest.fixture(params=image.USUAL)
def host(request, nodes):
    node = nodes(suite=request.param)
    client.install(node, ALLOW_CAT)
    node.run(["mkfifo", GATE])
    return node


def attempt(node, document: dict) -> str:
    with executor_wire.connect(node) as wire:
        wire.hello()
        return apply(wire, document)


def test_a_second_instance_refuses_and_names_the_first(host):
    first = shown(host, "MainPID")
    host.run(["systemd-run", "--unit=second", "--property=Type=notify",
              "--socket-property=ListenSequentialPacket=/run/second.sock", "/usr/libexec/kubexm/kubexm-executor"])
    started = host.run(["systemctl", "start", "second.service"], check=False)
    assert started.returncode != 0
    # Not by unit: it may be gone before journald asks where it belonged.
    assert f"in use by process {first};" in until_logged(host, "in use by")
    assert shown(host, "MainPID") == first
    assert attempt(host, plan("p1", FORWARD)) == ""


def test_a_reload_puts_a_change_into_effect(host):
    assert "is not in allow.executables" in attempt(host, plan("p1", TRUE))
    host.write(client.CONFIGURATION, ALLOW_TRUE)
    host.run(["systemctl", "reload", client.SERVICE])
    until_logged(host, "executor.yaml reloaded")
    assert attempt(host, plan("p2", TRUE)) == ""
    assert "is not in allow.executables" in attempt(host, plan("p3", CAT))


@pytest.mark.parametrize("content, owner, mode, complaint", [
    (ALLOW_TRUE + "  unit: []\n", "root", "0644", 'executor.yaml:3:3: unknown key "allow.unit"'),
    (ALLOW_TRUE + "  sysctls: [kernel.core_pattern]\n", "root", "0644", "executor.yaml:3:13: allow.sysctls[0]: "),
    (ALLOW_TRUE + "log: {level: loud}\n", "root", "0644", "executor.yaml:3:14: log.level: "),
    (ALLOW_TRUE, "kubexm", "0644", "executor.yaml"),
    (ALLOW_TRUE, "root", "0666", "executor.yaml"),
], ids=["unknown-key", "denied-value", "bad-value", "of-kubexmd", "writable-by-all"])
def test_a_reload_with_a_bad_file_keeps_the_old_one_and_says_where(host, content, owner, mode, complaint):
    pid = shown(host, "MainPID")
    host.write(client.CONFIGURATION, content)
    host.run(["chown", owner, client.CONFIGURATION])
    host.run(["chmod", mode, client.CONFIGURATION])
    host.run(["systemctl", "reload", client.SERVICE])
    assert complaint in until_logged(host, "keeping the old configuration", "-u", client.SERVICE, "-p", "err")
    assert "is not in allow.executables" in attempt(host, plan("p1", TRUE))
    assert attempt(host, plan("p2", FORWARD)) == ""
    assert shown(host, "MainPID") == pid


def test_the_log_level_changes_with_a_reload(host):
    host.write(client.CONFIGURATION, "log: {level: error}\n")
    host.run(["systemctl", "reload", client.SERVICE])
    host.run(["systemctl", "kill", "--signal=HUP", client.SERVICE])  # the same by hand
    with executor_wire.connect(host, "root") as wire:
        wire.hello()  # answered by the loop that took the signals before
    assert attempt(host, plan("quiet", FORWARD)) == ""
    host.write(client.CONFIGURATION, "log: {level: info}\n")
    host.run(["systemctl", "reload", client.SERVICE])
    until_logged(host, "executor.yaml reloaded")
    assert attempt(host, plan("loud", FORWARD)) == ""
    until_logged(host, "plan loud ended: done")
    assert host.journal("-o", "cat", "PLAN=quiet").strip() == ""


@both
def test_a_stop_lets_the_step_end_and_the_plan_goes_on_at_the_next_start(host):
    begin_plan_at_gate(host, "p1")
    host.run(["systemctl", "stop", "--no-block", client.SERVICE])
    waiting.until("the stop", lambda: shown(host, "SubState") == "stop-sigterm", 60)
    finishing = "Finishing the running step."
    waiting.until("it to say so", lambda: shown(host, "StatusText") == finishing, 60)
    open_gate(host)
    waiting.until("the end", lambda: shown(host, "ActiveState") == "inactive", 60)
    assert forwarding(host) == "0"
    assert shown(host, "Result") == "success"
    host.run(["systemctl", "start", client.SERVICE])
    waiting.until("the end of the plan", lambda: state_of(host, "p1") == "done", 60)
    assert forwarding(host) == "1"
    assert host.journal("-o", "cat", "_PID=1", "UNIT=kubexm-gate.service").count("Finished ") == 1


@both
def test_an_interrupted_plan_does_not_hold_up_the_boot(host):
    begin_plan_at_gate(host, "p1")
    killed = shown(host, "MainPID")
    host.run(["kill", "-KILL", killed])
    with executor_wire.connect(host) as wire:
        wire.hello()
        wire.send({"type": "follow", "plan_id": "p1"})  # at the first moment, before anything goes on
        wait_picked_up(host, killed)
        waiting.until("a status", lambda: shown(host, "StatusText").startswith("Plan p1"), 60)
        assert shown(host, "ActiveState") == "active"
        assert "kubexm-executor" not in host.run(["systemctl", "list-jobs", "--no-legend"]).stdout
        open_gate(host)
        waiting.until("ready", lambda: shown(host, "StatusText") == "Ready for plans.", 60)
        assert forwarding(host) == "1"
        assert wire.last()["state"] == "done"
    assert until_logged(host, "resuming interrupted plan p1")


def test_the_status_tells_what_runs(host):
    waiting.until("a status", lambda: shown(host, "StatusText") == "Ready for plans.", 60)
    begin_plan_at_gate(host, "p1")
    at_work = f"Plan p1, step 0: run /usr/bin/cat {GATE} in kubexm-gate.service."
    waiting.until("the step in the status", lambda: shown(host, "StatusText") == at_work, 60)
    open_gate(host)
    at_rest = "Ready for plans. Last plan: p1, done."
    waiting.until("the plan's end", lambda: shown(host, "StatusText") == at_rest, 60)


def test_a_step_that_takes_long_tells_how_far_it_is(host):
    begin_plan_at_gate(host, "p1")
    follower = host.popen(["kubexmctl", "follow", "p1"], stdout=subprocess.PIPE, text=True)
    told = next(line for line in follower.stdout if "waiting for systemd job" in line)
    assert f"run /usr/bin/cat {GATE} in kubexm-gate.service: waiting for systemd job of kubexm-gate.service for" in told
    open_gate(host)
    rest = follower.communicate(timeout=60)[0]
    assert follower.returncode == 0 and "plan p1: done" in rest
    assert not any("waiting for systemd job" in line for line in host.journal("-u", client.SERVICE).splitlines())
    again = host.run(["kubexmctl", "follow", "p1"]).stdout
    assert "waiting for systemd job" not in again, "it was true for a moment only"


@both
def test_the_watchdog_ends_a_process_that_hangs(host):
    host.write(f"/etc/systemd/system/{client.SERVICE}.d/quick.conf", "[Service]\nWatchdogSec=5\n")
    host.run(["systemctl", "daemon-reload"])
    host.run(["systemctl", "restart", client.SERVICE])
    hung = shown(host, "MainPID")
    host.run(["kill", "-STOP", hung])
    waiting.until("another process", lambda: shown(host, "MainPID") not in ("0", hung)
                  and shown(host, "ActiveState") == "active", 120, lambda: host.journal("-u", client.SERVICE))
    assert "watchdog" in host.journal("-u", client.SERVICE).lower()
    assert attempt(host, plan("p1", FORWARD)) == ""


def test_the_journal_has_the_fields_of_a_plan(host):
    stop = step("unit-state", name="containerd.service", active=False, restart_key="")
    broken = step("directory", path="/etc/kubernetes/missing/below", access=client.ACCESS | {"mode": "0755"})
    assert "missing" in attempt(host, plan("p1", stop, broken))
    until_logged(host, "plan p1 ended: failed")
    entries = [json.loads(line) for line in host.journal("-o", "json", "PLAN=p1").splitlines()]
    steps = [entry for entry in entries if "STEP" in entry]
    assert {(entry["STEP"], entry["STATE"]) for entry in steps} >= {("0", "prepared"), ("0", "done"), ("1", "failed")}
    assert {entry["UNIT"] for entry in steps if entry["STEP"] == "0"} == {"containerd.service"}
    assert {entry["CODE"] for entry in steps if entry["STATE"] == "failed"} == {"not_found"}
    assert all(len(bytes.fromhex(entry["MESSAGE_ID"])) == 16 for entry in entries)
    assert len({entry["MESSAGE_ID"] for entry in entries}) == 4, "accepted, step, failed step, end"


@both
def test_units_of_plans_are_hardened_and_scored(host, figure):
    begin_plan_at_gate(host, "p1")
    exposure = host.run(["systemd-analyze", "security", "--no-pager", "kubexm-gate.service"], check=False).stdout
    score = float(exposure.splitlines()[-1].split(":")[1].split()[0])
    figure(f"exposure of a transient unit on {host.suite}: {score}")
    assert score <= 7.0, exposure
    open_gate(host)
