"""`./dev demo`: the story it tells is true, what it tells to try works, and nothing stays behind."""

import json
import os
import re
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

from testbed import cache, waiting

TOP = Path(__file__).resolve().parents[2]
PHASE_SECONDS = 180
END_SECONDS = 120
STORY = [  # in this order; the words of kubectl, of the API and of the snapshot
    r"my-cluster-workers +0$", r"^\s+active$", r"^\s+inactive$",
    r"^\s+-rw------- 1 root root .* /etc/kubexm/bootstrap-kubeconfig$", r"phase +waiting$",
    r"^\s+node-\d+ +linux +Debian",
    r"phase +joining$", r"done +write /var/lib/kubelet/config.yaml$", r"done +enable and start kubelet.service$",
    r"phase +joined$", r"^\s+node-\d+ +Ready ", r"byoh://node-\d+ +Running ", r"^\s+greeter +1/1 +Running ",
    r"^\s+greetings from greeter$"]
WAY_BACK = [
    r"phase +releasing$", r"done +undo: enable and start kubelet.service$",
    r"done +undo: set net.ipv4.ip_forward to 1$", r"phase +waiting$", r"byohost.*/node-\d+$",
    r"^\s+active$", r"^\s+inactive$", r"^\s+nothing is different$"]


@pytest.fixture
def demo(request):
    """demo("--once") starts it as from a terminal of its own; it is ended with the test."""
    def start(*arguments: str) -> subprocess.Popen:
        outside = {name: value for name, value in os.environ.items() if name != "KUBEXM_RUN"}
        process = subprocess.Popen([TOP / "dev", "demo", *arguments], env=outside, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, start_new_session=True)
        request.addfinalizer(process.wait)
        request.addfinalizer(process.kill)
        return process
    return start


def is_told(story: list[str], text: str) -> None:
    """Each line is found after the one before it."""
    lines = iter(text.splitlines())
    for wanted in story:
        assert any(re.search(wanted, line) for line in lines), f"{wanted!r} is missing or too early in\n{text}"


def directories_of(number: int | str) -> set[Path]:
    return set((cache.root() / "run").glob(f"kubexm-{number}-*"))


def test_once_goes_there_and_back_and_ends(demo):
    others = directories_of("*")
    process = demo("--once")
    text, _ = process.communicate(timeout=600)
    assert process.returncode == 0, text
    is_told(STORY + WAY_BACK, text)
    assert "\x1b" not in text  # no cursor games in a pipe
    # A process of another suite may have the same number in its namespace: its directory is older, or goes soon.
    assert not waiting.until_none(lambda: directories_of(process.pid) - others, END_SECONDS)


def phase_on(page: str) -> str:
    with urllib.request.urlopen(f"{page}/v1/status", timeout=10) as answer:
        return json.load(answer)["phase"]


def test_a_visitor_finds_what_the_last_screen_says(demo):
    process = demo()
    told = ""
    while not told.rstrip().endswith("--replicas=0"):
        assert (line := process.stdout.readline()), told
        told += line
    is_told(STORY, told)
    _, _, screen = told.partition("Now look at it yourself.")
    [page] = re.findall(r"^ +(http://\S+)$", screen, re.MULTILINE)
    [enter] = re.findall(r"^ +(/\S+/enter)$", screen, re.MULTILINE)
    tries = re.findall(r"^ {6}((?:kubectl|node-\d+) .+)$", screen, re.MULTILINE)

    assert Path(enter).parent in directories_of(process.pid)
    with urllib.request.urlopen(page, timeout=10) as answer:
        assert "text/html" in answer.headers["Content-Type"] and b"kubexm" in answer.read()
    assert phase_on(page) == "joined"
    assert len(tries) >= 5
    for command in tries:  # the last of them is the way back
        done = subprocess.run([enter, *command.split()], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stdout, f"{command}: {done.stderr}"
    waiting.until("the host to be released", lambda: phase_on(page) == "waiting", PHASE_SECONDS)

    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
    assert process.wait(END_SECONDS) == 0
    assert not Path(enter).parent.exists()
