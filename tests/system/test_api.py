"""kubexmd's API on a real node: who may ask it, and where it listens."""

import json
import os
from pathlib import Path

import pytest

from testbed import exit_code, image, waiting
from testbed.browser import Browser

TREE = Path(os.environ["KUBEXM_TREE"])
SOCKET = "/run/kubexm/kubexmd.sock"
GOLDEN = Path(__file__).resolve().parents[1] / "unit/api/golden"


@pytest.fixture(params=image.USUAL)
def host(request, nodes):
    node = nodes(suite=request.param)
    node.install_and_start(TREE)
    return node


def listening(node) -> list[str]:
    """Addresses and ports of TCP that kubexmd's user listens on, as the kernel writes them."""
    uid = node.run(["id", "-u", "kubexm"]).stdout.strip()
    rows = [line.split() for line in node.run(["cat", "/proc/net/tcp", "/proc/net/tcp6"]).stdout.splitlines()]
    return [row[1] for row in rows if row[3] == "0A" and row[7] == uid]


def test_readers_are_answered_and_others_are_not(host):
    host.run(["useradd", "--system", "reader", "--groups", "kubexm-read"])
    assert host.run(["stat", "-c", "%A %U %G", SOCKET]).stdout.strip() == "srw-rw---- root kubexm-read"
    for user in ("root", "reader"):
        told = json.loads(host.run(["kubexmctl", "status", "--output", "json"], user=user).stdout)
        assert told["phase"] and told["version"], user
    refused = host.run(["kubexmctl", "status"], user="nobody", check=False)
    assert refused.returncode == exit_code.REFUSED and "join the group" in refused.stderr


def test_it_listens_on_loopback_only(host):
    assert listening(host) == ["0100007F:2800"]


def test_it_is_gone_after_a_stop_and_back_after_a_kill(host):
    pid = host.shown("MainPID", "kubexmd")
    host.run(["kill", "-KILL", pid])
    waiting.until("an answer of another process", lambda: pid != host.shown("MainPID", "kubexmd") and host.run(
        ["kubexmctl", "status"], check=False).returncode == 0, 30)
    host.run(["systemctl", "stop", "kubexmd"])
    refused = host.run(["kubexmctl", "status"], check=False)
    assert refused.returncode == exit_code.UNREACHABLE and "systemctl restart kubexmd" in refused.stderr
    assert host.shown("ActiveState", "kubexmd") == "inactive", "a request does not start what root has stopped"
    assert host.run(["ls", "-A", "/run/kubexm"]).stdout == ""


def test_a_request_during_a_restart_waits(host):
    """Two clients that ask without a pause, on both sockets, while kubexmd is restarted and killed.

    Only what a killed process has accepted may get no answer.
    """
    ask = ("curl -sS --max-time 60 -o /dev/null --unix-socket {} http://localhost/v1/status"
           " || [ -e /run/may-be-killed ] || exit 1")
    for name in ("kubexmd", "control"):
        loop = f"until [ -e /run/enough ]; do {ask.format(f'/run/kubexm/{name}.sock')}; echo; done"
        host.run(["systemd-run", f"--unit=ask-{name}", "--property=StandardOutput=file:/run/asked-" + name,
                  "sh", "-c", loop])

    def asked_again() -> None:
        before = asked(host)
        waiting.until("further answers", lambda: all(now > old for now, old in zip(asked(host), before)), 60)

    asked_again()
    for _ in range(5):
        host.run(["systemctl", "restart", "kubexmd"])
        asked_again()
    host.run(["touch", "/run/may-be-killed"])
    host.run(["systemctl", "kill", "--signal=KILL", "kubexmd"])
    waiting.until("another process", lambda: host.shown("NRestarts", "kubexmd") == "1", 60)
    host.run(["rm", "/run/may-be-killed"])
    asked_again()
    assert host.run(["systemctl", "is-active", "ask-kubexmd", "ask-control"], check=False).stdout == "active\nactive\n"
    host.run(["touch", "/run/enough"])


def asked(node) -> list[int]:
    """How often each client got an answer."""
    return [int(node.run(["stat", "-c", "%s", f"/run/asked-{name}"]).stdout) for name in ("kubexmd", "control")]


@pytest.mark.parametrize("language, pause, resume", [("en-US", "Paused on this host", "until kubexmctl resume"),
                                                     ("zh-CN", "已在本机暂停", "直到执行 kubexmctl resume")])
def test_the_page_shows_a_pause_and_what_stays(nodes, language, pause, resume):
    node = nodes()
    node.install(TREE)
    node.run(["systemctl", "start", "kubexmd"])
    status = json.loads((GOLDEN / "status-joining.json").read_text())
    with Browser(node.leader, "http://localhost:10240", language) as page:
        page.wait_for("a status", lambda: page.text("#phase"))
        assert page.text("#pause") == ""

        def shown(element: str) -> str:
            return page.evaluate(f"show({json.dumps(status)}), document.querySelector('{element}').innerText")

        assert all(word in shown("#pause") for word in (pause, status["pause"]["until"], "1000"))
        assert "file /etc/x" in shown("#stays") and "somebody changed it" in shown("#stays")
        status["pause"]["until"] = None
        assert resume in shown("#pause")
        status["pause"] = None
        assert shown("#pause") == ""
