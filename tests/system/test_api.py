"""kubexmd's API on a real node: who may ask it, and where it listens."""

import json
import os
from pathlib import Path

import pytest

from testbed import image, waiting

TREE = Path(os.environ["KUBEXM_TREE"])
SOCKET = "/run/kubexm/kubexmd.sock"


@pytest.fixture(params=image.USUAL)
def host(request, nodes):
    node = nodes(suite=request.param)
    node.install(TREE)
    node.run(["systemctl", "enable", "--now", "kubexm-executor.socket", "kubexmd"])
    return node


def listening(node) -> list[str]:
    """Addresses and ports of TCP that kubexmd's user listens on, as the kernel writes them."""
    uid = node.run(["id", "-u", "kubexm"]).stdout.strip()
    rows = [line.split() for line in node.run(["cat", "/proc/net/tcp", "/proc/net/tcp6"]).stdout.splitlines()]
    return [row[1] for row in rows if row[3] == "0A" and row[7] == uid]


def test_readers_are_answered_and_others_are_not(host):
    host.run(["useradd", "--system", "reader", "--groups", "kubexm-read"])
    assert host.run(["stat", "-c", "%A %U %G", SOCKET]).stdout.strip() == "srw-rw---- kubexm kubexm-read"
    for user in ("root", "reader"):
        told = json.loads(host.run(["kubexmctl", "status", "--output", "json"], user=user).stdout)
        assert told["phase"] and told["version"], user
    refused = host.run(["kubexmctl", "status"], user="nobody", check=False)
    assert refused.returncode == 1 and "join the group" in refused.stderr


def test_it_listens_on_loopback_only(host):
    assert listening(host) == ["0100007F:2800"]


def test_it_is_gone_after_a_stop_and_back_after_a_kill(host):
    pid = host.run(["systemctl", "show", "-P", "MainPID", "kubexmd"]).stdout.strip()
    host.run(["kill", "-KILL", pid])
    waiting.until("an answer of another process", lambda: pid != host.run(
        ["systemctl", "show", "-P", "MainPID", "kubexmd"]).stdout.strip() and host.run(
        ["kubexmctl", "status"], check=False).returncode == 0, 30)
    host.run(["systemctl", "stop", "kubexmd"])
    refused = host.run(["kubexmctl", "status"], check=False)
    assert refused.returncode == 1 and "systemctl start kubexmd" in refused.stderr
