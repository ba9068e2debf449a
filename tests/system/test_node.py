"""The node of the testbed is a host like a user's: real systemd, containerd, network, both Debian releases."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testbed import enter, image, waiting
from testbed.node import Node
from testbed.nspawn import NodeFailed

pytestmark = pytest.mark.selftest

both_suites = pytest.mark.parametrize("node", image.SUITES, indirect=True)


def text(node: Node, *argv: str) -> str:
    return node.run(argv).stdout.strip()


@both_suites
def test_a_node_boots_and_runs(node: Node, figure) -> None:
    figure(f"node {node.suite}: running {node.boot_seconds:.2f} s after its start")
    assert text(node, "systemctl", "is-system-running") == "running"
    assert text(node, "cat", "/proc/1/comm") == "systemd"
    assert f"VERSION_CODENAME={node.suite}" in node.read("/etc/os-release").decode()
    assert text(node, "hostname") == node.name


@both_suites
def test_containerd_answers(node: Node) -> None:
    assert "Server:" in text(node, "ctr", "version")
    plugins = text(node, "ctr", "plugins", "ls")
    assert [line.split()[-1] for line in plugins.splitlines() if " cri " in line] == ["ok"]
    assert [line.split()[-1] for line in plugins.splitlines() if " overlayfs " in line] == ["ok"]


@both_suites
def test_it_has_what_kubelet_asks_of_a_host(node: Node) -> None:
    assert text(node, "stat", "-c", "%F", "/dev/kmsg") == "character special file"
    assert text(node, "getent", "ahostsv4", node.name).split()[0] == node.address
    node.run(["systemctl", "start", "network-online.target"])
    for group in cgroup_roots(node):
        node.run(["mkdir", f"{group}/probe"])
        node.run(["rmdir", f"{group}/probe"])


def cgroup_roots(node: Node) -> list[str]:
    """The hierarchies that control resources, as the node sees them."""
    kinds = [line.split()[1:3] for line in node.read("/proc/mounts").decode().splitlines()]
    return [place for place, kind in kinds if kind in ("cgroup", "cgroup2") and not place.endswith("/systemd")]


def test_two_nodes_see_each_other_and_share_nothing(nodes) -> None:
    first, second = nodes(suite="bookworm"), nodes(suite="trixie")
    first.run(["ping", "-c1", "-W5", second.address])
    second.run(["ping", "-c1", "-W5", first.address])
    assert first.read("/etc/machine-id") != second.read("/etc/machine-id")
    for group in cgroup_roots(first):
        first.run(["mkdir", f"{group}/kubepods"])
        assert second.run(["test", "-e", f"{group}/kubepods"], check=False).returncode == 1


MMAP = {"x86_64": 9, "aarch64": 222}[os.uname().machine]

# What a service may not do with a directive, and does without it.
HARDENING = {
    "User=nobody": "test $(id -u) = 0",
    "ProtectSystem=strict": "touch /usr/probe && rm /usr/probe",
    "PrivateNetwork=yes": "ip link show host0",
    "CapabilityBoundingSet=": "grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status",
    "SystemCallFilter=~@mount": "mount -t tmpfs probe /mnt && umount /mnt",
    "RestrictAddressFamilies=AF_UNIX": "ping -c1 127.0.0.1",
    "MemoryDenyWriteExecute=yes": f"perl -e 'exit(syscall({MMAP}, 0, 4096, 7, 34, -1, 0) == -1)'",
}


@both_suites
def test_hardening_of_services_is_real(node: Node) -> None:
    for directive, forbidden in HARDENING.items():
        run = ["systemd-run", "--wait", "--quiet", "--collect"]
        node.run([*run, "sh", "-c", forbidden])
        denied = node.run([*run, f"--property={directive}", "sh", "-c", forbidden], check=False)
        assert denied.returncode != 0, f"{directive} did not stop: {forbidden}"


@both_suites
def test_reboot_shutdown_and_power_cut_keep_the_disk(node: Node) -> None:
    machine, boots = node.read("/etc/machine-id"), set()
    for start_again in (node.reboot, lambda: (node.poweroff(), node.boot()), lambda: (node.kill(), node.boot())):
        boots.add(node.read("/proc/sys/kernel/random/boot_id"))
        node.write(f"/var/lib/kept-{len(boots)}", "kept")
        start_again()
        assert node.read("/etc/machine-id") == machine
        assert node.read(f"/var/lib/kept-{len(boots)}") == b"kept"
    assert len(boots) == 3


@both_suites
def test_a_node_whose_systemd_has_much_to_say_goes_down_all_the_same(node: Node) -> None:
    for _ in range(20):
        node.run(["systemctl", "daemon-reload"])
    node.poweroff()


def test_the_journal_survives_a_power_cut(node: Node) -> None:
    node.run(["logger", "a word before the dark"])
    node.run(["journalctl", "--sync"])
    node.kill()
    assert "a word before the dark" in node.journal()


def test_commands_have_input_user_and_exit_code(node: Node) -> None:
    assert node.run(["cat"], input="grüße").stdout == "grüße"
    assert node.run(["id", "-un"], user="nobody").stdout == "nobody\n"
    assert node.run(["sh", "-c", "exit 7"], check=False).returncode == 7
    assert text(node, "pwd") == "/"
    with pytest.raises(enter.CommandFailed, match="(?s)ended with 3, expected 0.*a reason"):
        node.run(["sh", "-c", "echo a reason >&2; exit 3"])


def test_a_command_that_hangs_is_ended(node: Node) -> None:
    with pytest.raises(enter.CommandFailed, match="(?s)did not end within 5 s; it printed:.here we go"):
        node.run(["sh", "-c", "echo here we go; sleep 86397"], timeout=5)
    waiting.until("the command to be gone", lambda: node.run(["pgrep", "-x", "sleep"], check=False).returncode == 1, 60)


def test_commands_run_among_the_node_s_own_processes(node: Node) -> None:
    assert text(node, "cat", "/proc/self/cgroup") == text(node, "cat", "/proc/1/cgroup")


def test_files_travel_with_their_mode(node: Node, tmp_path: Path) -> None:
    content = bytes(range(256))
    local = tmp_path / "tool"
    local.write_bytes(content)
    local.chmod(0o750)
    node.push(local, "/opt/new/tool")
    assert node.read("/opt/new/tool") == content
    assert text(node, "stat", "-c", "%a %U", "/opt/new/tool") == "750 root"


def staging_tree(top: Path) -> Path:
    files = {"usr/bin/greet": "#!/bin/sh\nid -un > /var/lib/greeter/name\n",
             "usr/lib/sysusers.d/greeter.conf": "u greeter - - -\n",
             "usr/lib/tmpfiles.d/greeter.conf": "d /var/lib/greeter 0700 greeter greeter\n",
             "lib/systemd/system/greet.service": "[Service]\nType=oneshot\nUser=greeter\nExecStart=/usr/bin/greet\n"}
    for name, content in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(content)
    (top / "usr/bin/greet").chmod(0o755)
    (top / "usr").chmod(0o700)  # what a staging directory looks like is not what /usr becomes
    os.chown(top / "usr/bin/greet", 1234, 1234)
    return top


@both_suites
def test_a_staging_tree_is_installed_like_a_package(node: Node, tmp_path: Path) -> None:
    node.install(staging_tree(tmp_path))
    node.run(["systemctl", "start", "greet.service"])
    assert node.read("/var/lib/greeter/name") == b"greeter\n"
    assert text(node, "stat", "-c", "%a %U", "/usr", "/usr/bin/greet") == "755 root\n755 root"
    assert text(node, "readlink", "/lib") == "usr/lib"


def test_a_node_that_does_not_get_up_says_why(nodes) -> None:
    with pytest.raises(NodeFailed, match="(?s)'degraded', expected 'running'.*broken.service.*no such luck"):
        node = nodes()
        node.write("/etc/systemd/system/broken.service",
                   "[Service]\nType=oneshot\nExecStart=sh -c 'echo no such luck; exit 1'\n[Install]\nWantedBy=multi-user.target\n")
        node.run(["systemctl", "enable", "broken.service"])
        node.reboot()


def test_a_node_that_does_not_boot_at_all_shows_its_console(node: Node) -> None:
    node.run(["mv", "/usr/lib/systemd/systemd", "/usr/lib/systemd/moved"])
    node.kill()
    with pytest.raises(NodeFailed, match="(?s)did not boot: systemd-nspawn ended with 1; .*console:.*(init|exec)"):
        node.boot()


def test_two_nodes_of_one_name_are_refused(node: Node) -> None:
    with pytest.raises(RuntimeError, match=f"a node named {node.name} exists"):
        Node(name=node.name)


@pytest.mark.parametrize("suite", image.SUITES)
def test_the_command_line_passes_on_output_and_exit_code(suite: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "KUBEXM_RUN"}
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "testbed", "node", "--suite", suite, "--", "sh", "-c", "cat /etc/os-release; exit 7"],
                          env=environment | {"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 7, done.stderr
    assert f"VERSION_CODENAME={suite}" in done.stdout
    assert f"({suite}, 10.99.0.10) running after" in done.stderr
    print(f"the whole command took {time.monotonic() - started:.1f} s")


FAILING_TEST = """
def test_that_fails(node):
    node.run(["logger", "seen in the journal"])
    node.run(["journalctl", "--sync"])
    assert False
"""


def test_a_failed_test_keeps_console_and_journal(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text(FAILING_TEST)
    paths = [str(Path(__file__).parent.parent), *sys.path]
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path),
                           f"--basetemp={tmp_path}/temporary"],
                          env=os.environ | {"PYTHONPATH": ":".join(paths), "KUBEXM_LOGS": str(tmp_path / "logs")},
                          capture_output=True, text=True, timeout=300)
    assert "1 failed" in done.stdout
    kept = next((tmp_path / "logs").iterdir())
    assert str(kept) in done.stdout
    assert "seen in the journal" in next(kept.glob("*-journal.log")).read_text()
    assert "Welcome to" in next(kept.glob("*-console.log")).read_text()
