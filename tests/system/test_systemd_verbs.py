"""The verbs with which the executor drive systemd, on real systemd: daemon/executor/host/systemd.hpp."""

import json
import time

import pytest

from testbed import image, probe, waiting
from testbed.node import Node
from testbed.probe import Probe

OK = {"value": None}
UNITS = "/etc/systemd/system"


@pytest.fixture(scope="module", params=image.SUITES)
def host(request):
    """One node for all tests of this file: each has units of its own."""
    with Node(suite=request.param) as node:
        probe.install(node, "systemd_probe")
        yield node


@pytest.fixture
def probes(request, host):
    """probes() starts another one: another process, another connection."""
    def start() -> Probe:
        started = Probe(host)
        request.addfinalizer(started.close)
        return started
    return start


@pytest.fixture
def systemd(probes):
    return probes()


@pytest.fixture
def unit(request, host, systemd):
    """unit("name.service", "[Service]..."): a unit that is gone after the test."""
    def put(name: str, text: str, directory: str = UNITS) -> str:
        host.write(f"{directory}/{name}", text)
        assert systemd.ask("reload") == OK
        request.addfinalizer(lambda: remove(name, directory))
        return name

    def remove(name: str, directory: str) -> None:
        host.run(["systemctl", "stop", name], check=False)
        host.run(["rm", "-f", f"{directory}/{name}"])
        host.run(["systemctl", "daemon-reload"])
    return put


def service(command: str, settings: str = "", install: str = "") -> str:
    return f"[Service]\nExecStart={command}\n{settings}\n{install}\n"


def shown(host: Node, name: str, prop: str) -> str:
    return host.run(["systemctl", "show", "--value", "-p", prop, name]).stdout.strip()


def status(systemd: Probe, name: str) -> dict:
    return systemd.ask("status", name)["value"]


def is_error(answer: dict, code: str, *words: str) -> bool:
    assert answer.get("error") == code and all(word in answer["what"] for word in words), answer
    return True


def exists(host: Node, path: str) -> bool:
    return host.run(["test", "-e", path, "-o", "-L", path], check=False).returncode == 0


def runs(host: Node, command: str) -> bool:
    return host.run(["pgrep", "-f", f"^{command}$"], check=False).returncode == 0


def jobs(host: Node) -> str:
    return host.run(["systemctl", "list-jobs", "--no-legend"]).stdout


def wait_for_job(host: Node, name: str) -> None:
    waiting.until(f"a job of {name}", lambda: name in jobs(host), 60)


# --- jobs ----------------------------------------------------------------------------------------


def test_start_restart_and_stop(host, systemd, unit):
    name = unit("plain.service", service("sleep infinity"))
    assert systemd.ask("start", name) == OK
    first = shown(host, name, "MainPID")
    assert systemd.ask("start", name) == OK
    assert shown(host, name, "MainPID") == first != "0"
    assert systemd.ask("restart", name) == OK
    assert shown(host, name, "MainPID") not in (first, "0")
    assert status(systemd, name) == {
        "name": name, "load": "loaded", "active": "active", "sub": "running", "enablement": "static",
        "fragment": f"{UNITS}/{name}", "result": "success", "exit_code": 0, "needs_reload": False}
    assert systemd.ask("stop", name) == OK
    assert systemd.ask("stop", name) == OK
    assert status(systemd, name)["active"] == "inactive"


def test_a_start_ends_when_the_unit_is_up(host, systemd, unit):
    name = unit("slow.service", service("sleep infinity", "ExecStartPre=sleep 1\nExecStartPost=touch /run/slow-is-up"))
    assert systemd.ask("start", name) == OK
    assert exists(host, "/run/slow-is-up")


def test_a_failing_unit_is_explained_and_can_be_reset(systemd, unit):
    name = unit("failing.service", service("sh -c 'exit 9'", "Type=oneshot"))
    assert is_error(systemd.ask("start", name), "unavailable", name, "failed (exit-code)", f"journalctl -u {name}")
    failed = status(systemd, name)
    assert (failed["active"], failed["result"], failed["exit_code"]) == ("failed", "exit-code", 9)
    assert systemd.ask("reset_failed", name) == OK
    assert status(systemd, name)["active"] == "inactive"
    assert systemd.ask("reset_failed", name) == OK


def test_reset_lifts_the_limit_of_starts(host, systemd, unit):
    limit = "[Unit]\nStartLimitIntervalSec=1000\nStartLimitBurst=1\n"
    name = unit("limited.service", limit + service("sh -c 'echo run >> /run/limited; exit 1'", "Type=oneshot"))
    for runs in (1, 1):
        assert is_error(systemd.ask("start", name), "unavailable", "exit-code")
        assert host.read("/run/limited") == b"run\n" * runs
    assert systemd.ask("reset_failed", name) == OK
    assert is_error(systemd.ask("start", name), "unavailable", "exit-code")
    assert host.read("/run/limited") == b"run\n" * 2


def test_a_dependency_that_fails_is_told(systemd, unit):
    broken = unit("broken.service", service("false", "Type=oneshot"))
    name = unit("needy.service", f"[Unit]\nRequires={broken}\nAfter={broken}\n" + service("true", "Type=oneshot"))
    assert is_error(systemd.ask("start", name), "unavailable", name, "dependency")


def test_a_hanging_unit_meets_the_deadline_and_leaves_no_job(host, systemd, unit):
    name = unit("hanging.service", service("sleep infinity", "Type=notify\nTimeoutStartSec=infinity"))
    started = time.monotonic()
    assert is_error(systemd.ask("start", name, seconds=0.7), "timeout", name)
    assert time.monotonic() - started >= 0.7
    assert name not in jobs(host)
    assert systemd.ask("stop", name) == OK


def test_a_job_that_a_person_cancels_is_told(host, systemd, unit):
    name = unit("person.service", service("sleep infinity", "Type=notify\nTimeoutStartSec=infinity"))
    systemd.send("start", name)
    wait_for_job(host, name)
    host.run(["systemctl", "cancel"])
    assert is_error(systemd.receive(), "cancelled", name)


def test_a_missing_unit_is_not_found(systemd):
    for verb in ("start", "stop", "restart", "enable", "disable"):
        assert is_error(systemd.ask(verb, "missing.service"), "not_found", "missing.service")
    assert systemd.ask("reset_failed", "missing.service") == OK
    missing = status(systemd, "missing.service")
    assert (missing["load"], missing["active"], missing["enablement"]) == ("not-found", "inactive", "")


def test_a_broken_unit_file_is_invalid(systemd, unit):
    name = unit("nonsense.service", "[Service]\nType=oneshot\n")
    assert is_error(systemd.ask("start", name), "invalid", name)
    assert status(systemd, name)["load"] == "bad-setting"


def test_a_bad_name_is_refused_before_systemd_sees_it(systemd):
    for name in ("../../etc/passwd.service", "no-type", "a b.service", "glob*.service", "template@.service"):
        assert is_error(systemd.ask("start", name), "invalid", "unit name")


def test_many_jobs_at_once_do_not_mix(host, probes, unit):
    names = [unit(f"many-{i}.service", service("false" if i % 2 else "true", "Type=oneshot")) for i in range(6)]
    running = [probes() for _ in names]
    for each, name in zip(running, names, strict=True):
        each.send("start", name)
    for i, each in enumerate(running):
        answer = each.receive()
        assert is_error(answer, "unavailable", names[i]) if i % 2 else answer == OK


# --- files ---------------------------------------------------------------------------------------


def test_enable_and_disable(host, systemd, unit):
    name = unit("enabled.service", service("true", install="[Install]\nWantedBy=multi-user.target"))
    link = f"{UNITS}/multi-user.target.wants/{name}"
    assert status(systemd, name)["enablement"] == "disabled"
    for _ in range(2):  # what is repeated after a crash changes nothing more
        assert systemd.ask("enable", name) == OK
        assert status(systemd, name)["enablement"] == "enabled"
        assert exists(host, link)
        assert name in shown(host, "multi-user.target", "Wants")
    for _ in range(2):
        assert systemd.ask("disable", name) == OK
        assert status(systemd, name)["enablement"] == "disabled"
        assert not exists(host, link)
        assert name not in shown(host, "multi-user.target", "Wants")


def test_the_last_link_of_a_directory(host, systemd, unit):
    name = unit("alone.service", service("true", install="[Install]\nWantedBy=alone.target"))
    assert systemd.ask("enable", name) == OK
    assert systemd.ask("disable", name) == OK
    assert not exists(host, f"{UNITS}/alone.target.wants")


def test_a_unit_without_install_section_cannot_be_enabled(systemd, unit):
    name = unit("static.service", service("true"))
    assert is_error(systemd.ask("enable", name), "invalid", name, "[Install]")


def test_mask_and_unmask(host, systemd, unit):
    name = unit("masked.service", service("true", "Type=oneshot"), "/usr/lib/systemd/system")
    for _ in range(2):
        assert systemd.ask("mask", name) == OK
        masked = status(systemd, name)
        assert (masked["load"], masked["enablement"]) == ("masked", "masked")
    assert is_error(systemd.ask("start", name), "denied", name, "masked")
    assert is_error(systemd.ask("enable", name), "denied", name, "masked")
    for _ in range(2):
        assert systemd.ask("unmask", name) == OK
        assert status(systemd, name)["load"] == "loaded"
    assert systemd.ask("start", name) == OK
    assert not exists(host, f"{UNITS}/{name}")


def test_a_mask_never_takes_the_place_of_a_file(host, systemd, unit):
    name = unit("own.service", service("true"))
    before = host.read(f"{UNITS}/{name}")
    assert is_error(systemd.ask("mask", name), "conflict", name)
    assert host.read(f"{UNITS}/{name}") == before


def test_a_changed_file_needs_a_reload(host, systemd, unit):
    name = unit("changed.service", service("sleep infinity"))
    assert systemd.ask("start", name) == OK
    host.write(f"{UNITS}/{name}", service("sleep 1000000"))
    assert status(systemd, name)["needs_reload"] is True
    assert systemd.ask("reload") == OK
    assert status(systemd, name)["needs_reload"] is False


# --- systemd and the bus come and go -------------------------------------------------------------


def test_systemd_executes_itself_again_in_the_middle(host, systemd, unit):
    name = unit("reexec.service", service("sleep infinity", "Type=notify\nTimeoutStartSec=infinity"))
    systemd.send("start", name)
    wait_for_job(host, name)
    host.run(["systemctl", "daemon-reexec"])
    assert is_error(systemd.receive(), "unavailable", name)
    waiting.until("systemd to be back", lambda: systemd.ask("stop", name) == OK, 60)


def test_the_bus_restarts_in_the_middle(host, systemd, unit):
    name = unit("rebus.service", service("sleep infinity", "Type=notify\nTimeoutStartSec=infinity"))
    systemd.send("start", name)
    wait_for_job(host, name)
    host.run(["systemctl", "restart", "dbus.service"])
    assert is_error(systemd.receive(), "unavailable", name)
    waiting.until("systemd to be on the bus", lambda: systemd.ask("stop", name) == OK, 60)


def test_both_come_and_go_at_rest_unnoticed(host, systemd, probes, unit):
    name = unit("rest.service", service("true", "Type=oneshot"))
    for action in (["daemon-reexec"], ["restart", "dbus.service"]):
        assert systemd.ask("start", name) == OK
        host.run(["systemctl", *action])
        waiting.until("systemd to be on the bus", lambda: probes().ask("start", name) == OK, 60)
        assert systemd.ask("start", name) == OK


def test_without_a_bus_systemd_is_unavailable(host, systemd):
    host.run(["systemctl", "stop", "dbus.socket", "dbus.service"])
    try:
        assert is_error(systemd.ask("reload"), "unavailable", "/run/dbus/system_bus_socket")
    finally:
        host.run(["systemctl", "start", "dbus.socket", "dbus.service"])
    waiting.until("systemd to be on the bus", lambda: systemd.ask("reload") == OK, 60)


def test_nobody_on_the_bus_can_pretend_that_a_job_ended(host, systemd, unit):
    name = unit("forged.service", service("sleep infinity", "Type=notify\nTimeoutStartSec=infinity"))
    systemd.send("start", name)
    wait_for_job(host, name)
    job = jobs(host).split()[0]
    clients = json.loads(host.run(["busctl", "list", "--json=short"]).stdout)
    victim = next(client["name"] for client in clients if client["process"] == "systemd_probe")
    host.run(["dbus-send", "--system", "--type=signal", f"--dest={victim}", "/org/freedesktop/systemd1",
              "org.freedesktop.systemd1.Manager.JobRemoved", f"uint32:{job}",
              f"objpath:/org/freedesktop/systemd1/job/{job}", f"string:{name}", "string:done"], user="nobody")
    host.run(["systemctl", "cancel"])
    assert is_error(systemd.receive(), "cancelled", name)


def test_root_without_any_capability_can_do_all_of_it(host, unit):
    name = unit("bare.service", service("sleep infinity", install="[Install]\nWantedBy=multi-user.target"))
    verbs = [["reload"], ["enable", name], ["start", name], ["restart", name], ["stop", name], ["disable", name],
             ["reset_failed", name], ["run", "probe-bare.service", "a test", "/bin/true"]]
    lines = "".join(json.dumps([60000, *verb]) + "\n" for verb in verbs)
    bare = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "systemd_probe"]
    answers = host.run(bare, input=lines).stdout.splitlines()
    assert [json.loads(answer) for answer in answers] == [OK] * 7 + [{"value": 0}]


# --- commands in units of their own --------------------------------------------------------------


def run(systemd: Probe, name: str, *argv: str, seconds: float = 60) -> dict:
    return systemd.ask("run", name, "a test", *argv, seconds=seconds)


def wait_for_file(path: str) -> str:
    """Shell words for a command that goes on when the test says so."""
    return f"until test -e {path}; do sleep 0.05; done"


def is_gone(host: Node, name: str) -> bool:
    listed = host.run(["systemctl", "list-units", "--all", "--plain", "--no-legend"]).stdout
    return (shown(host, name, "LoadState") == "not-found" and name not in listed
            and not exists(host, f"/run/systemd/transient/{name}"))


@pytest.mark.parametrize("script, code", [("exit 0", 0), ("exit 3", 3), ("sleep 0.3; exit 255", 255)])
def test_a_command_returns_its_exit_code_and_leaves_nothing(host, systemd, script, code):
    for _ in range(5):  # it may end before we even know its job
        assert run(systemd, "probe-exit.service", "/bin/sh", "-c", script) == {"value": code}
        assert is_gone(host, "probe-exit.service")


def test_a_command_that_is_killed_has_no_exit_code(host, systemd):
    killed = run(systemd, "probe-killed.service", "/bin/sh", "-c", "kill -KILL $$")
    assert is_error(killed, "unavailable", "probe-killed.service", "signal 9")
    assert is_gone(host, "probe-killed.service")


def test_a_command_that_is_not_there_has_systemds_exit_code(host, systemd):
    assert run(systemd, "probe-none.service", "/usr/bin/no-such-tool") == {"value": 203}
    assert is_gone(host, "probe-none.service")


def test_a_command_gets_its_arguments_as_they_are_and_talks_to_the_journal(host, systemd):
    odd = ["$HOME", "${HOME}", "$$", "%n %i %%", "a b", "", "'\"\\", "two\nlines", ";", "grüße", "@-x"]
    script = 'printf "%s\\0" "$@" > /run/probe-arguments; echo a word to standard output; echo another to error >&2'
    assert run(systemd, "probe-arguments.service", "/bin/sh", "-c", script, "sh", *odd) == {"value": 0}
    assert host.read("/run/probe-arguments").decode().split("\0") == [*odd, ""]
    said = waiting.until("both words in the journal", lambda: (
        found := host.journal("-u", "probe-arguments.service")) and "another to error" in found and found, 60)
    assert "a word to standard output" in said


def test_a_command_survives_a_reload_unchanged(host, systemd):
    script = f'{wait_for_file("/run/probe-reload")}; printf "%s\\0" "$@" > /run/probe-reloaded; exit 5'
    systemd.send("run", "probe-reloaded.service", "one\nline", "/bin/sh", "-c", script, "sh", "$HOME %n", "two\nlines")
    wait_for_job(host, "probe-reloaded.service")
    host.run(["systemctl", "daemon-reload"])
    host.write("/run/probe-reload", "")
    assert systemd.receive() == {"value": 5}
    assert host.read("/run/probe-reloaded").decode().split("\0") == ["$HOME %n", "two\nlines", ""]


def test_a_command_is_ended_at_the_deadline(host, systemd):
    assert systemd.ask("reload") == OK  # connected: all of the time is the command's
    started = time.monotonic()
    assert is_error(run(systemd, "probe-late.service", "/usr/bin/sleep", "86391", seconds=0.7), "timeout", "probe-late")
    assert time.monotonic() - started >= 0.7
    waiting.until("the command to end", lambda: not runs(host, "/usr/bin/sleep 86391"), 60)
    waiting.until("the unit to go", lambda: is_gone(host, "probe-late.service"), 60)


def test_a_command_whose_starter_dies_is_ended_at_the_deadline_all_the_same(host, probes):
    dying = probes()
    dying.send("run", "probe-orphan.service", "a test", "/usr/bin/sleep", "86392", seconds=10)
    waiting.until("the command to begin", lambda: runs(host, "/usr/bin/sleep 86392"), 60)
    host.run(["pkill", "-KILL", "-x", "systemd_probe"])
    waiting.until("the command to end", lambda: not runs(host, "/usr/bin/sleep 86392"), 60)
    waiting.until("the unit to go", lambda: is_gone(host, "probe-orphan.service"), 60)


def test_an_interrupted_run_is_picked_up(host, probes):
    script = f"echo once >> /run/probe-once; {wait_for_file('/run/probe-go')}; exit 6"
    argv = ("run", "probe-once.service", "a test", "/bin/sh", "-c", script)
    dying = probes()
    dying.send(*argv)
    waiting.until("the command to begin", lambda: exists(host, "/run/probe-once"), 60)
    host.run(["pkill", "-KILL", "-x", "systemd_probe"])
    with pytest.raises(EOFError):
        dying.receive()
    first, second = probes(), probes()
    first.send(*argv)
    second.send(*argv)
    waiting.until("both to hold the unit", lambda: len(shown(host, "probe-once.service", "Refs").split()) == 2, 60)
    host.write("/run/probe-go", "")
    assert first.receive() == second.receive() == {"value": 6}
    assert host.read("/run/probe-once") == b"once\n"
    assert is_gone(host, "probe-once.service")


def test_a_command_that_somebody_stops_is_cancelled(host, systemd):
    systemd.send("run", "probe-stopped.service", "a test", "/usr/bin/sleep", "86393")
    wait_for_job(host, "probe-stopped.service")
    host.run(["systemctl", "stop", "probe-stopped.service"])
    assert is_error(systemd.receive(), "cancelled", "probe-stopped.service")
    waiting.until("the unit to go", lambda: is_gone(host, "probe-stopped.service"), 60)


def test_a_command_that_is_being_ended_is_waited_for_and_started_anew(host, probes):
    script = 'echo run >> /run/probe-anew; test $(wc -l < /run/probe-anew) = 2 && exit 8; ' \
             'trap "sleep 1; exit 1" TERM; sleep 86394 & wait'
    argv = ("run", "probe-anew.service", "a test", "/bin/sh", "-c", script)
    first, second = probes(), probes()
    first.send(*argv)
    waiting.until("the command to begin", lambda: runs(host, "sleep 86394"), 60)
    host.run(["systemctl", "stop", "--no-block", "probe-anew.service"])
    assert is_error(first.receive(), "cancelled")
    assert second.ask(*argv) == {"value": 8}


def test_a_name_that_is_taken_is_a_conflict(host, systemd, probes, unit):
    name = unit("taken.service", service("sleep infinity"))
    assert is_error(run(systemd, name, "/bin/true"), "conflict", name)
    assert systemd.ask("start", name) == OK
    assert is_error(run(systemd, name, "/bin/true"), "conflict", name)
    assert status(systemd, name)["active"] == "active"
    other = probes()
    other.send("run", "probe-taken.service", "a test", "/bin/sh", "-c", wait_for_file("/run/probe-taken"))
    wait_for_job(host, "probe-taken.service")
    assert is_error(run(systemd, "probe-taken.service", "/usr/bin/sleep", "4"), "conflict", "probe-taken.service")
    host.write("/run/probe-taken", "")
    assert other.receive() == {"value": 0}


def test_a_command_is_hardened_and_still_acts_on_the_host(host, systemd):
    forbidden = ["date --set=@0", "unshare --mount true", "chmod u+s /run/probe-hard", "hostname other",
                 "strace -o /dev/null -p 1", "setarch i686 true"]
    allowed = ["mount -t tmpfs probe-hard /mnt", "ip link show", "curl --silent http://127.0.0.1:1 || test $? = 7",
               "systemctl is-active dbus.service", "ctr version", "iptables -L -n", "sysctl -w net.ipv4.ip_forward=1"]
    script = "touch /run/probe-hard\n" + "".join(f"if {line}; then exit {40 + i}; fi\n" for i, line in enumerate(forbidden))
    script += "".join(f"( {line} ) || exit {60 + i}\n" for i, line in enumerate(allowed))
    assert run(systemd, "probe-hard.service", "/bin/sh", "-c", script) == {"value": 0}, \
        host.journal("-u", "probe-hard.service")
    host.run(["umount", "/mnt"])


# --- mounts --------------------------------------------------------------------------------------


def test_mounts_below_a_path_come_deepest_first_and_can_be_stopped(host, systemd):
    top = "/var/lib/probe-mounts"
    long = f"{top}/" + "/".join("a-rather-long-name" for _ in range(14))  # a unit name of over 255 bytes
    inside = [f"{top}/one", f"{top}/one/two", f"{top}/one/two/three", f"{top}/with blank-and\\back", long]
    outside = [top, f"{top}-neighbour"]
    for path in [top, *inside, f"{top}-neighbour"]:
        host.run(["mkdir", "-p", path])
        host.run(["mount", "-t", "tmpfs", "probe", path])

    found = waiting.until("systemd to see all mounts", lambda: (
        seen := systemd.ask("active_units", "mount", top)["value"]) and len(seen) == len(inside) and seen, 60)
    assert {each["path"] for each in found} == set(inside)
    depths = [each["path"].count("/") for each in found]
    assert depths == sorted(depths, reverse=True)
    for each in found:
        assert systemd.ask("stop", each["unit"]) == OK
    assert systemd.ask("active_units", "mount", top) == {"value": []}
    left = [line.split()[1] for line in host.read("/proc/mounts").decode().splitlines()]
    assert [path for path in left if path.startswith(top)] == outside
    host.run(["umount", *outside])


def test_there_are_only_mounts_and_swaps(systemd):
    assert systemd.ask("active_units", "swap", "") == {"value": []}
    assert is_error(systemd.ask("active_units", "service", ""), "invalid", "service")
