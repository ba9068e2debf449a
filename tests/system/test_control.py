"""Operations on kubexmd's control socket, on a real node: who may ask, and what a reading request does not do."""

import json
import os
from pathlib import Path

import pytest

from testbed import executor_wire, exit_code, waiting
from testbed.executor import client, pid_of, strace

TREE = Path(os.environ["KUBEXM_TREE"])
SOCKET = "/run/kubexm/control.sock"
SOCKETS = ("kubexmd.socket", "kubexmd-api.socket")
PATHS = ("", "style.css", "page.js", "healthz", "v1/status", "v1/plan", "v1/operations", "none")


@pytest.fixture
def host(nodes):
    node = nodes()
    node.install_and_start(TREE)
    return node


def access(node) -> str:
    return node.run(["stat", "-c", "%A %U %G", SOCKET]).stdout.strip()


def post(node, body: str, user: str | None = None) -> dict:
    """A problem, or the accepted operation."""
    return json.loads(node.run(["curl", "-sS", "--unix-socket", SOCKET, "--data", body,
                                "http://localhost/v1/operations"], user=user).stdout)


def test_only_root_is_heard(host):
    assert access(host) == "srw------- root root"
    for user in ("kubexm", "nobody"):
        refused = host.run(["kubexmctl", "pause"], user=user, check=False)
        assert refused.returncode == exit_code.REFUSED and "only root has access" in refused.stderr, user
    # That root is heard: the body is read only after the user was checked.
    assert post(host, '{"verb": "dance"}')["detail"].startswith("operation.verb: expected one of pause")


def test_the_kernel_names_the_user_where_the_file_mode_does_not_protect(host):
    host.run(["chmod", "0666", SOCKET])
    for user in ("kubexm", "nobody"):
        assert post(host, '{"verb": "leave"}', user)["status"] == 403, user
        refused = host.run(["kubexmctl", "leave"], user=user, check=False)
        assert refused.returncode == exit_code.REFUSED and "accepted from root" in refused.stderr
    assert post(host, "{}")["status"] == 400


def test_the_socket_stays_roots_over_restarts_and_kills(host):
    host.run(["systemctl", "restart", "kubexmd"])
    assert access(host) == "srw------- root root"
    pid = host.shown("MainPID", "kubexmd")
    host.run(["kill", "-KILL", pid])
    waiting.until("another process", lambda: host.shown("MainPID", "kubexmd") not in ("0", pid), 30)
    waiting.until("its answer", lambda: host.run(["kubexmctl", "status"], check=False).returncode == 0, 30)
    assert access(host) == "srw------- root root"
    assert post(host, "{}")["status"] == 400
    assert host.run(["stat", "-c", "%a %U %G", "/run/kubexm"]).stdout.strip() == "755 root root"


def test_the_socket_is_there_after_many_restarts(host):
    for _ in range(8):  # systemd's default is 5 in 10 seconds
        host.run(["systemctl", "restart", "kubexmd"])
    assert [host.shown("ActiveState", unit) for unit in SOCKETS] == ["active", "active"]
    assert post(host, "{}")["status"] == 400


def test_kubexmd_starts_without_its_sockets(host):
    host.run(["systemctl", "stop", "kubexmd"])
    host.run(["systemctl", "mask", "--runtime", "kubexmd.socket", "kubexmd-api.socket"])
    host.run(["systemctl", "start", "kubexmd"])
    assert host.run(["curl", "-sS", "http://localhost:10240/healthz"]).stdout == "ok\n"
    for command in ("resume", "status"):
        refused = host.run(["kubexmctl", command], check=False)
        assert refused.returncode == exit_code.UNREACHABLE and "systemctl restart kubexmd" in refused.stderr, command
    host.run(["systemctl", "unmask", "--runtime", "kubexmd.socket", "kubexmd-api.socket"])
    host.run(["systemctl", "restart", "kubexmd"])
    assert post(host, "{}")["status"] == 400
    assert host.run(["kubexmctl", "status"]).stdout


def test_a_host_that_is_no_node_has_nothing_to_leave(host):
    def left() -> str:
        tried = host.run(["kubexmctl", "leave"], check=False)
        return tried.stdout if tried.returncode != exit_code.UNREACHABLE else ""
    said = waiting.until("kubexmd to know what is on the host", left, 30)
    assert said == "this host is no node of a cluster: nothing to leave\n"
    assert post(host, '{"verb": "leave"}')["status"] == 404


@pytest.mark.parametrize("options", [[], ["--no-wait"]], ids=["shown", "no-wait"])
def test_without_kubexmd_a_leave_restores_the_host(host, options):
    key = "net.ipv4.ip_forward"
    before = host.run(["sysctl", "-n", key]).stdout
    with executor_wire.connect(host) as wire:
        wire.hello()
        forward = {"type": "sysctl", "with": {"key": key, "value": "1"}}
        assert client.apply(wire, client.plan("p1", forward, owner="machine-1")) == ""
    assert "machine-1" in host.run(["kubexmctl", "journal", "show"]).stdout
    host.run(["systemctl", "stop", "kubexmd"])
    left = host.run(["kubexmctl", "leave", *options])
    assert "kubexmd does not listen" in left.stdout and key in left.stdout
    assert "The Node stays in the cluster" in left.stdout and "until kubexmctl resume or new orders" in left.stdout
    assert "machine-1" not in host.run(["kubexmctl", "journal", "show"]).stdout
    assert host.run(["sysctl", "-n", key]).stdout == before and host.shown("ActiveState", "kubexmd") == "inactive"
    assert "nothing to leave" in host.run(["kubexmctl", "leave", *options]).stdout


def test_without_kubexmd_and_executor_nobody_can_leave(host):
    host.run(["systemctl", "stop", "kubexmd", "kubexm-executor.socket", "kubexm-executor"])
    refused = host.run(["kubexmctl", "leave"], check=False)
    assert refused.returncode == exit_code.UNREACHABLE and "kubexm-executor.socket" in refused.stderr


def test_a_taken_port_is_retried_while_the_sockets_work(host):
    host.run(["systemctl", "stop", "kubexmd"])
    host.run(["systemd-run", "--unit=other", "socat", "TCP-LISTEN:10240,bind=127.0.0.1,fork", "EXEC:/usr/bin/cat"])
    taken = "ss -Hlnt 'sport = 10240' | grep -q LISTEN"
    waiting.until("the other listener", lambda: host.run(["sh", "-c", taken], check=False).returncode == 0, 30)
    host.run(["systemctl", "start", "kubexmd"])
    assert host.run(["kubexmctl", "status"]).stdout
    assert post(host, "{}")["status"] == 400
    log = host.run(["journalctl", "-u", "kubexmd", "-o", "cat", "--no-pager"]).stdout
    assert "127.0.0.1 port 10240: in use by another process" in log
    host.run(["systemctl", "stop", "other"])
    ask = ["curl", "-sS", "--max-time", "5", "http://localhost:10240/healthz"]
    waiting.until("an answer at the port", lambda: host.run(ask, check=False).stdout == "ok\n", 60)
    assert host.shown("NRestarts", "kubexmd") == "0"


def read_all(node, port: str, times: int, *options: str) -> list[str]:
    """GETs every path so often; returns the status codes."""
    url = f"http://localhost{port}/{{{','.join(PATHS)}}}?[1-{times}]"
    return node.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}\n", *options, url]).stdout.split()


def frames(trace: Path) -> list[str]:
    """What the executor received from its clients: a frame is a JSON object, unlike the messages of D-Bus."""
    return [line for line in trace.read_text().splitlines() if 'iov_base="{' in line]


def test_a_thousand_reading_requests_put_no_frame_on_the_executors_socket(host, tmp_path):
    waiting.until("the executor", lambda: "Executor available" in host.shown("StatusText", "kubexmd"), 30)
    trace = tmp_path / "trace"
    with strace.attached(pid_of(host), ["recvmsg"], "-o", str(trace)):
        answered = read_all(host, ":10240", 63) + read_all(host, "", 63, "--unix-socket", "/run/kubexm/kubexmd.sock")
        assert len(answered) == 2 * 63 * len(PATHS) >= 1000
        assert set(answered) == {"200", "404", "405"}
        # A host that waits is checked every five minutes, whether anybody reads or not.
        assert [frame for frame in frames(trace) if "needs" not in frame] == []
        host.run(["kubexmctl", "observe"])  # the control: such a frame is seen
    assert frames(trace)


def test_the_api_can_be_on_the_sockets_only(host):
    host.write("/etc/kubexm/kubexmd.yaml", 'api: {listen: ""}\n')
    host.run(["systemctl", "restart", "kubexmd"])
    assert host.run(["kubexmctl", "status"]).stdout
    assert host.run(["ss", "-Hlnt", "sport = 10240"]).stdout == ""
    host.run(["rm", "/etc/kubexm/kubexmd.yaml"])
    host.run(["systemctl", "restart", "kubexmd"])
    assert "127.0.0.1:10240" in host.run(["ss", "-Hlnt", "sport = 10240"]).stdout


def test_the_status_has_no_confidential_id(host):
    shown = host.run(["curl", "-s", "localhost:10240/v1/status"]).stdout
    identity = host.read("/etc/machine-id").decode().strip()
    assert identity not in shown and len(json.loads(shown)["host"]["machineIdHash"]) == len(identity)


def test_the_status_says_what_root_permits(host):
    def permits() -> dict | None:
        return json.loads(host.run(["curl", "-s", "localhost:10240/v1/status"]).stdout)["permits"]

    waiting.until("what root permits", lambda: permits() == {"clusters": "any", "registries": "any"}, 60)
    assert "clusters: any; registries: any with TLS" in host.run(["kubexmctl", "status"]).stdout
    host.write("/etc/kubexm/executor.yaml", "allow: {clusters: [10.99.0.2:6443], registries: []}\n")
    host.run(["systemctl", "reload", "kubexm-executor"])
    waiting.until("the new lists", lambda: permits() == {"clusters": "listed", "registries": "none"}, 60)
    assert "clusters: those that root listed; registries: none" in host.run(["kubexmctl", "status"]).stdout


@pytest.mark.parametrize("unit", ["kubexmd", "kubexm-executor"])
def test_memory_and_tasks_have_a_limit(host, unit):
    assert int(host.shown("MemoryMax", unit)) <= 512 << 20
    assert int(host.shown("TasksMax", unit)) == 64
