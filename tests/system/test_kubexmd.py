"""kubexmd as a service on a real node: starts, says how it is, reloads, is alone, and comes back."""

import os
from pathlib import Path

import pytest

from testbed import image, waiting
from testbed.node import Node

TREE = Path(os.environ["KUBEXM_TREE"])
CONFIG = "/etc/kubexm/kubexmd.yaml"
UNITS = ("kubexmd.service", "kubexmd.socket", "kubexmd-api.socket", "kubexm-executor.service", "kubexm-executor.socket")


@pytest.fixture(scope="module", params=image.SUITES)
def host(request):
    """For tests that only look."""
    with Node(suite=request.param) as node:
        node.install_and_start(TREE)
        yield node


@pytest.fixture
def one(nodes):
    node = nodes()
    node.install_and_start(TREE)
    return node


def log_of(node) -> str:
    return node.run(["journalctl", "-u", "kubexmd", "-o", "cat", "--no-pager"]).stdout


def wait_for_status(node, words: str) -> None:
    waiting.until(f"a status with '{words}'", lambda: words in node.shown("StatusText", "kubexmd"), 30)


def test_it_is_ready_and_says_what_it_knows(host):
    wait_for_status(host, "Executor available.")
    assert host.shown("ActiveState", "kubexmd") == "active"
    assert host.shown("User", "kubexmd") == "kubexm"
    status = host.read(f"/proc/{host.shown('MainPID', 'kubexmd')}/status").decode()
    assert "CapEff:\t0000000000000000" in status


@pytest.mark.parametrize("unit, most", [("kubexmd.service", 1.5), ("kubexm-executor.service", 2.5)])
def test_the_units_are_as_hardened_as_promised(host, unit, most):
    exposure = host.run(["systemd-analyze", "security", "--no-pager", unit], check=False).stdout
    assert float(exposure.splitlines()[-1].split(":")[1].split()[0]) <= most, exposure


def test_no_unit_of_ours_waits_for_the_network(host):
    for unit in UNITS:
        ordered = host.run(["systemctl", "show", "-P", "After", "-P", "Wants", "-P", "Requires", unit]).stdout
        assert "network" not in ordered, unit


def test_the_units_are_valid(host):
    for unit in UNITS:
        checked = host.run(["systemd-analyze", "verify", unit], check=False)
        assert "kubexm" not in checked.stderr, checked.stderr


def test_restarts_wait_longer_and_longer(host):
    """The testbed's own drop-in, which makes them quick, is taken away."""
    units = ("kubexmd.service", "kubexm-executor.service")
    steps = Path(__file__).parents[2] / "units/restart-steps.conf"
    for unit in units:
        host.run(["mv", f"/etc/systemd/system/{unit}.d/soon.conf", f"/run/{unit}.soon"])
    host.run(["systemctl", "daemon-reload"])
    assert [host.shown("RestartUSec", unit) for unit in units] == ["20s", "20s"]
    if host.suite != "bookworm":  # its systemd is older
        for unit in units:
            host.write(f"/etc/systemd/system/{unit}.d/restart-steps.conf", steps.read_text())
        host.run(["systemctl", "daemon-reload"])
        assert [host.shown("RestartSteps", unit) for unit in units] == ["6", "6"]
        assert [host.shown("RestartMaxDelayUSec", unit) for unit in units] == ["1min", "1min"]
    for unit in units:
        host.run(["sh", "-c", f"rm -f /etc/systemd/system/{unit}.d/restart-steps.conf;"
                              f" mv /run/{unit}.soon /etc/systemd/system/{unit}.d/soon.conf"])
    host.run(["systemctl", "daemon-reload"])


def test_it_finds_the_executor_again_after_it_was_stopped(one):
    wait_for_status(one, "Executor available")
    one.run(["systemctl", "stop", "kubexm-executor.socket", "kubexm-executor.service"])
    wait_for_status(one, "Executor not available")
    one.run(["systemctl", "start", "kubexm-executor.socket"])
    wait_for_status(one, "Executor available")
    assert one.shown("NRestarts", "kubexmd") == "0"


def test_a_second_one_refuses_and_names_the_first(one):
    pid = one.shown("MainPID", "kubexmd")
    second = one.run(["kubexmd"], user="kubexm", check=False)
    assert second.returncode == 1
    assert f"/var/lib/kubexm: in use by process {pid}" in second.stderr


def test_a_reload_takes_a_good_file_and_refuses_a_bad_one(one):
    wait_for_status(one, "Executor available")
    one.write(CONFIG, "log:\n  level: debug\n")
    one.run(["systemctl", "reload", "kubexmd"])
    waiting.until("the new configuration", lambda: "configuration reloaded" in log_of(one), 20)
    one.write(CONFIG, "log:\n  levle: debug\n")
    one.run(["systemctl", "reload", "kubexmd"])
    waiting.until("the complaint", lambda: f"{CONFIG}:2:3" in log_of(one), 20)
    assert "keeping the old configuration" in log_of(one)
    assert "level" in log_of(one).split(f"{CONFIG}:2:3")[1], "the nearest valid key"
    assert one.shown("ActiveState", "kubexmd") == "active"


def test_check_config_prints_what_is_in_effect_or_what_is_wrong(one):
    one.run(["mkdir", "-p", f"{CONFIG}.d"])
    one.write(f"{CONFIG}.d/10-log.yaml", "log: {level: warning}\n")
    printed = one.run(["kubexmd", "--check-config"]).stdout
    assert "level: warning" in printed and "10-log.yaml" in printed
    assert "socket: /run/kubexm-executor/executor.sock" in printed
    one.write(f"{CONFIG}.d/20-bad.yaml", "sate: /x\n")
    refused = one.run(["kubexmd", "--check-config"], check=False)
    assert refused.returncode == 1
    assert "20-bad.yaml:1:1" in refused.stderr and "state" in refused.stderr
    assert "components" in one.run(["/usr/libexec/kubexm/kubexm-executor", "--check-config"]).stdout


def test_it_comes_back_after_a_kill_and_ends_when_asked(one):
    pid = one.shown("MainPID", "kubexmd")
    one.run(["kill", "-KILL", pid])
    waiting.until("another process", lambda: one.shown("MainPID", "kubexmd") not in ("0", pid), 30)
    wait_for_status(one, "Executor available")
    one.run(["systemctl", "stop", "kubexmd"])
    assert one.shown("Result", "kubexmd") == "success"
