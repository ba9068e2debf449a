"""`python3 -m testbed cluster` as a person uses it: what the command sees, and that nothing stays behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from testbed import waiting

pytestmark = pytest.mark.selftest

START_SECONDS = 240
END_SECONDS = 120


def _cluster(*arguments: str, **options) -> subprocess.Popen:
    """In a session and a sandbox of its own, as from a terminal."""
    environment = {name: value for name, value in os.environ.items() if name != "KUBEXM_RUN"}
    return subprocess.Popen([sys.executable, "-m", "testbed", "cluster", *arguments], env=environment, text=True,
                            stdout=subprocess.PIPE, start_new_session=True, **options)


def _processes_of(mark: str) -> list[str]:
    """The command lines of running processes that contain a text; nested namespaces are visible from here."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:  # it ended in this moment
            continue
    return [line for line in lines if mark in line]


def test_a_command_finds_the_cluster_and_the_nodes():
    script = "kubectl get --raw /readyz; echo; for node in $KUBEXM_NODES; do $node hostname; done; exit 7"
    process = _cluster("--nodes", "2", "--", "sh", "-c", script)
    output, _ = process.communicate(timeout=START_SECONDS)
    assert output == "ok\nnode-10\nnode-11\n"
    assert process.returncode == 7


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_behind(number):
    process = _cluster("--", "sh", "-c", 'echo "$KUBEXM_RUN"; exec sleep 600')
    run = process.stdout.readline().strip()
    mine = Path(run).name
    assert [line for line in _processes_of(mine) if "kube-apiserver" in line]

    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    process.wait(END_SECONDS)
    waiting.until(f"the processes of {mine} to be gone", lambda: not _processes_of(mine), END_SECONDS,
                  lambda: "\n".join(_processes_of(mine)))
