"""A secret that goes through the executor is where it belongs and nowhere else."""

import secrets
import stat
from pathlib import Path

import pytest

from testbed import executor_wire, image, search, waiting
from testbed.executor import client
from testbed.executor.client import ACCESS, apply, offer, plan, shown, undo
from testbed.executor.gate import wait_picked_up
from testbed.executor.plan import step

GATE, KEY = "/run/gate", "/etc/kubernetes/pki/canary.key"
VAULT = f"{executor_wire.STATE}/content"


@pytest.fixture(params=image.USUAL)
def host(request, nodes):
    node = nodes(suite=request.param)
    client.install(node, "log: {level: debug}\nallow:\n  executables: [/usr/bin/cat]\n")
    node.run(["mkfifo", GATE])
    return node


def canary() -> str:
    return f"canary-{secrets.token_hex(24)}"


def secret_steps(secret: str) -> list[dict]:
    directories = [step("directory", path=path, access=ACCESS | {"mode": "0755"})
                   for path in ("/etc/kubernetes", "/etc/kubernetes/pki")]
    return [*directories, step("secret-file", path=KEY, handle="canary", digest=executor_wire.digest(secret.encode()),
                               access=ACCESS | {"mode": "0600"})]


def at_gate(*more: str) -> dict:
    return step("transient-unit", name="kubexm-gate.service", argv=["/usr/bin/cat", GATE, *more], timeout_seconds=240)


def executor_of(node) -> int:
    """The process as seen from here; restarted by systemd where it was killed."""
    def found():
        return next((pid for pid, name in search.processes(node).items() if name == "kubexm-executor"), 0)
    return waiting.until("the executor", found, 60)


def wait_at_gate(node) -> None:
    waiting.until("the step at the gate", lambda: shown(node, "ActiveState", "kubexm-gate.service") == "activating", 60)


def assert_secret_is_only_in(node, secret: str, *allowed: str) -> None:
    found = search.files(node, secret)
    assert {str(Path(path).parent) if path.startswith(VAULT) else path for path in found} == set(allowed), found
    for path in found:
        status = Path(f"/proc/{node.leader}/root{path}").stat()
        assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o600, 0), path
    assert not search.journal(node, secret)
    assert not search.arguments(node, secret)
    assert not search.memory(executor_of(node), secret)


def test_a_secret_is_in_its_file_and_the_vault_and_gone_after_undo(host):
    secret = canary()
    content = [secret.encode()]
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert wire.ask({"type": "preview", "plan": plan("shown", *secret_steps(secret))})["type"] == "end"
        broken = step("directory", path="/etc/kubernetes/missing/below", access=ACCESS | {"mode": "0755"})
        assert "missing" in apply(wire, plan("failing", *secret_steps(secret), broken), content)
        assert_secret_is_only_in(host, secret, KEY, VAULT)
        assert offer(wire, plan("killed", *secret_steps(secret), at_gate()), content)["type"] == "accepted"
        wait_at_gate(host)
        assert_secret_is_only_in(host, secret, KEY, VAULT)
    killed = shown(host, "MainPID")
    host.run(["kill", "-KILL", killed])
    wait_picked_up(host, killed)
    host.run(["sh", "-c", f"echo > {GATE}"])
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert wire.ask({"type": "follow", "plan_id": "killed"})["state"] == "done"
        assert wire.ask({"type": "history", "limit": 10})["type"] == "end"
        assert_secret_is_only_in(host, secret, KEY, VAULT)
        assert undo(wire, "undo") == ""
    assert_secret_is_only_in(host, secret)


def test_what_was_there_before_is_as_secret(host):
    """The pre-image of a file that a plan replaces may be a foreign key."""
    before, secret = canary(), canary()
    host.write(KEY, before, 0o600)
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert apply(wire, plan("replacing", *secret_steps(secret)), [secret.encode()]) == ""
        assert_secret_is_only_in(host, before, VAULT)
        assert undo(wire, "undo") == ""
    assert_secret_is_only_in(host, before, KEY)
    assert_secret_is_only_in(host, secret)


def test_a_preview_quotes_only_what_everybody_may_read(host):
    private, public = canary(), canary()
    host.write("/etc/kubernetes/kubelet.conf", f"client-key-data: {private}\n", 0o600)
    host.write("/etc/kubernetes/kube-proxy.conf", f"current-context: {public}\n", 0o644)
    steps = [step("rendered-file", document={"type": "kubeconfig", "user": user, "server": "https://10.99.0.2:6443"})
             for user in ("kubelet", "kube-proxy")]
    with executor_wire.connect(host) as wire:
        wire.hello()
        wire.send({"type": "preview", "plan": plan("shown", *steps)})
        shown_text = str([wire.receive() for _ in (*steps, "end")])
    assert public in shown_text and private not in shown_text


def test_the_search_finds_what_is_not_secret(host):
    """The control: without it the tests above would pass with a search that sees nothing."""
    control = canary()
    host.write(f"/run/{control}", control)
    with executor_wire.connect(host) as wire:
        wire.hello()
        block = step("managed-block", path="/etc/hosts", name=control, lines=["10.99.0.200 somebody"])
        assert offer(wire, plan("open", block, at_gate(f"/run/{control}")))["type"] == "accepted"
        wait_at_gate(host)
        found = search.files(host, control)
        assert {"/etc/hosts", f"/run/{control}"} <= set(found)
        assert any(path.startswith(f"{executor_wire.STATE}/journal.db") for path in found)
        assert search.journal(host, control)
        assert "cat" in search.arguments(host, control)
        assert search.memory(executor_of(host), control)
        host.run(["sh", "-c", f"echo > {GATE}"])
        assert wire.ask({"type": "follow", "plan_id": "open"})["state"] == "done"
