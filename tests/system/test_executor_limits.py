"""What a client can use up: connections, space in the vault, and space in the audit."""

import hashlib
import json
import os
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from testbed import assignment, executor_wire, exit_code, waiting
from testbed.executor import client
from testbed.executor.client import ACCESS, apply, plan, reason
from testbed.executor.plan import everything, step

DEEP = "KUBEXM_TEST_DEEP" in os.environ
MOST_CONNECTIONS, MOST_OF_ONE_REFUSAL = 16, 20
MOST_OBJECTS, MOST_OWNERS, MOST_BYTES, MOST_FILE_BYTES, MOST_OFFERS, MOST_STEPS = 4000, 64, 1 << 30, 64 << 20, 1000, 200
LISTS = ["steps", "documents", "clusters", "registries", "units", "sysctls", "modules", "links", "executables",
         "components"]
PATHS = ["data-file", "secret-file", "directory", "symlink", "managed-block", "absent-path", "deleted-tree", "unmounted",
         "claim"]
FORWARD = step("sysctl", key="net.ipv4.ip_forward", value="1")


@pytest.fixture
def host(nodes):
    node = nodes(suite="trixie")
    client.install(node)
    return node


def test_idle_connections_of_one_user_do_not_keep_others_out(host):
    with ExitStack() as idle:
        for _ in range(MOST_CONNECTIONS):
            idle.enter_context(executor_wire.connect(host))
        with executor_wire.connect(host) as wire:
            assert f"has {MOST_CONNECTIONS} connections already" in reason(wire.hello())
        with executor_wire.connect(host, "root") as wire:
            assert wire.hello()["type"] == "hello"
            assert apply(wire, plan("p1", FORWARD, owner="test")) == ""

    def served():
        with executor_wire.connect(host) as wire:
            return wire.hello()["type"] == "hello"
    waiting.until("module for a connection", served, 60)


def test_what_came_with_a_refused_plan_does_not_stay(host):
    vault = Path(f"/proc/{host.leader}/root{executor_wire.STATE}/content")
    content = b"x" * (1 << 20)
    file = step("data-file", path="/etc/kubernetes/pki/ca.crt", kind="ca-bundle", access=ACCESS,
                digest=executor_wire.digest(content))
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert apply(wire, plan("p1", FORWARD)) == ""
        before = sorted(vault.iterdir())
        assert "was accepted before" in apply(wire, plan("p1", file), [content])
        assert sorted(vault.iterdir()) == before


def test_refusals_without_end_do_not_push_the_past_out_of_the_audit(host):
    bad = {"type": "preview", "plan": plan("p1", step("deleted-tree", path="/etc"))}
    replayed = {"type": "apply", "plan": plan("p0", FORWARD), "contents": [], "replace": False}
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert apply(wire, plan("p0", FORWARD)) == ""
        known = len(executor_wire.audit(host))
        for _ in range(200):
            assert "is not below" in reason(wire.ask(bad))
            assert "was accepted before" in reason(wire.ask(replayed))
        written = [detail for _, _, detail in executor_wire.audit(host)[known:]]
        assert len(written) == 2 * MOST_OF_ONE_REFUSAL + 1, written
        assert "is not below" in written[0] and "was accepted before" in written[1]
        assert "in this hour are only counted" in written[-1]
        assert apply(wire, plan("p2", FORWARD)) == ""


def empty_lists(*apart_from: str) -> str:
    lists = [f"{name}: []" for name in LISTS if name not in apart_from]
    paths = [f"{name}: []" for name in PATHS]
    return f"allow: {{{', '.join(lists)}, directories: {{{', '.join(paths)}}}}}\n"


def set_lists(host, text: str) -> None:
    host.write(client.CONFIGURATION, text)
    host.run(["systemctl", "restart", client.SERVICE])


@pytest.mark.parametrize("apart_from", [[], ["steps"]], ids=["all", "all but steps"])
def test_with_empty_lists_nothing_can_be_changed_and_all_is_given_back(host, apart_from):
    """Without `steps` every type is permitted: then its own list refuses it, but for swap and side effects."""
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert apply(wire, plan("before", FORWARD)) == ""
    set_lists(host, empty_lists(*apart_from))
    containerd = {"type": "containerd-configuration", "version": 2, "cgroup_driver": "systemd",
                  "sandbox_image": "registry.k8s.io/pause:3.10"}
    steps = [*json.loads(everything())["steps"], step("kernel-module", name="overlay"), step("swap-off"),
             step("rendered-file", document=containerd)]
    with executor_wire.connect(host) as wire:
        wire.hello()
        for number, each in enumerate(steps):
            if apart_from and each["type"] in ("side-effects", "swap-off"):
                continue
            assert "allow." in apply(wire, plan(f"p{number}", each)), each
        assert client.undo(wire, "back") == ""
    assert host.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip() == "0"


def bundle(content: bytes) -> list[dict]:
    """A file with CAs, and the directories that it needs."""
    directories = [step("directory", path=path, access={**ACCESS, "mode": "0755"})
                   for path in ("/etc/kubernetes", "/etc/kubernetes/pki")]
    return [*directories, step("data-file", path="/etc/kubernetes/pki/client-ca.crt", kind="ca-bundle", access=ACCESS,
                               digest=executor_wire.digest(content))]


def test_quotas_stop_kubexmd_and_never_a_return(host):
    """Each is used up, those that take long where the test is deep. The refusals name what SECURITY.md promises."""
    absent = [step("absent-path", path=f"/etc/kubernetes/{number}") for number in range(MOST_OBJECTS)]
    with executor_wire.connect(host) as wire:
        wire.hello()
        assert apply(wire, plan("first", FORWARD)) == ""
        first = executor_wire.audit(host)[0]
        kept, more = (assignment.another_authority().encode() for _ in range(2))
        assert apply(wire, plan("kept", *bundle(kept)), [kept]) == ""
        blob = f"{executor_wire.STATE}/content/{executor_wire.digest(kept)}"
        host.run(["truncate", f"--size={MOST_BYTES}", blob])  # with a hole: it needs no space
        assert f"bytes in the vault: at most {MOST_BYTES}, used {MOST_BYTES}, needed {len(more)}; undo an owner that is not" in apply(
            wire, plan("more", *bundle(more)), [more])
        host.run(["truncate", f"--size={MOST_FILE_BYTES}", blob])
        other = {**bundle(more)[-1], "with": {**bundle(more)[-1]["with"], "path": "/etc/kubernetes/pki/other.crt"}}
        assert f"bytes in files: at most {MOST_FILE_BYTES}, used {MOST_FILE_BYTES}, needed {len(more)}; undo an owner that is not" in apply(
            wire, plan("other", other), [more])
        host.run(["truncate", f"--size={len(kept)}", blob])
        assert client.undo(wire, "no-bundle") == ""
        assert apply(wire, plan("again", FORWARD)) == ""
        if DEEP:  # 4000 steps
            host.run(["mkdir", "-p", "/etc/kubernetes"])  # below a missing directory nothing has to be remembered
            for number in range(0, MOST_OBJECTS - 1, MOST_STEPS):
                some = absent[number:min(number + MOST_STEPS, MOST_OBJECTS - 1)]
                assert apply(wire, plan(f"objects-{number}", *some)) == ""
            assert f"objects in the ledger: at most {MOST_OBJECTS}, used {MOST_OBJECTS}, needed 1; undo an owner that is not" in apply(
                wire, plan("one-more", absent[-1]))
            assert apply(wire, plan("no-more", FORWARD)) == "", "adds nothing"
        assert client.undo(wire, "all") == ""
        for number in range(MOST_OWNERS):
            assert apply(wire, plan(f"owner-{number}", FORWARD, owner=f"machine-{number}")) == ""
        assert f"owners: at most {MOST_OWNERS}, used {MOST_OWNERS}, needed 1; undo an owner that is not" in apply(
            wire, plan("owner", FORWARD))
        if DEEP:  # 1000 plans
            offers = (apply(wire, plan(f"offer-{number}", FORWARD, owner="machine-1")) for number in range(MOST_OFFERS))
            assert f"plans an hour: at most {MOST_OFFERS}, used {MOST_OFFERS}; free again in" in next(filter(None, offers))
    set_lists(host, empty_lists())
    with executor_wire.connect(host) as wire:
        wire.hello()
        for number in range(MOST_OWNERS):
            assert client.undo(wire, f"back-{number}", f"machine-{number}") == ""
    assert host.run(["sysctl", "-n", "net.ipv4.ip_forward"]).stdout.strip() == "0"
    assert executor_wire.audit(host)[0] == first, "the audit of a week is kept"


def test_root_pins_the_cas_of_a_cluster(host):
    ours, theirs = (assignment.another_authority().encode() for _ in range(2))
    set_lists(host, f"allow: {{clusters: ['10.99.0.2:6443 sha256:{pin(ours)}']}}\n")
    with executor_wire.connect(host) as wire:
        wire.hello()
        for number, content in enumerate((theirs, ours + theirs)):
            refused = apply(wire, plan(f"theirs-{number}", *bundle(content)), [content])
            assert f"with pin sha256:{pin(theirs)}: expected one that is pinned in allow.clusters" in refused
        trusted = ["kubexmctl", "certs", "trust-ca", "/root/theirs.crt"]
        stranger = host.run(["kubexmctl", "certs", "trust-ca", "/etc/passwd"], user="nobody", check=False)
        assert stranger.returncode == exit_code.REFUSED and "run kubexmctl as root" in stranger.stderr, stranger
        host.write("/root/theirs.crt", theirs.decode())
        assert client.reason(wire.ask({"type": "trust-ca", "bundle": theirs.decode()})) == "trust-ca: only root decides whom this host trusts"
        host.write("/root/rubbish", "rubbish")
        rubbish = host.run([*trusted[:-1], "/root/rubbish"], check=False)
        assert rubbish.returncode == exit_code.REFUSED and "/root/rubbish: block 1" in rubbish.stderr, rubbish
        for command in (trusted, ["bash", "-c", "kubexmctl certs trust-ca <(cat /root/theirs.crt)"]):
            assert host.run(command).stdout == f"trusted: CN=another sha256:{pin(theirs)}\n"
        assert apply(wire, plan("confirmed", *bundle(theirs)), [theirs]) == ""
        host.run(["rm", "/var/lib/kubexm-executor/confirmed-cas"])
        assert "expected one that is pinned" in apply(wire, plan("no-more", *bundle(ours + theirs)), [ours + theirs])
        assert "expected a certificate" in apply(wire, plan("none", *bundle(b"garbage")), [b"garbage"])
        with executor_wire.connect(host, "root") as roots:
            roots.hello()
            refused = apply(roots, plan("no-bundle", *bundle(b"garbage"), owner="test"), [b"garbage"])
            assert "/etc/kubernetes/pki/client-ca.crt: " in refused and "expected a certificate" in refused
        assert apply(wire, plan("ours", *bundle(ours)), [ours]) == ""
        assert host.read("/etc/kubernetes/pki/client-ca.crt") == ours
        assert client.undo(wire, "back") == ""


def pin(certificate: bytes) -> str:
    """As kubeadm prints it."""
    key = subprocess.run(["openssl", "x509", "-noout", "-pubkey"], input=certificate, check=True, capture_output=True).stdout
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "DER"], input=key, check=True, capture_output=True).stdout
    return hashlib.sha256(der).hexdigest()


def test_root_names_the_clusters_that_a_host_may_join(host):
    set_lists(host, "allow: {clusters: [10.99.0.2:6443]}\n")
    steps = [step("rendered-file", document={"type": "kubeconfig", "user": "kubelet", "server": f"https://{server}"})
             for server in ("10.99.0.2:6443", "10.99.0.3:6443")]
    with executor_wire.connect(host) as wire:
        wire.hello()
        directories = [step("directory", path=path, access={**ACCESS, "mode": "0755"})
                       for path in ("/etc/kubernetes", "/etc/kubernetes/pki")]
        authority = assignment.another_authority().encode()
        bundles = [step("data-file", path=f"/etc/kubernetes/pki/{name}", kind="ca-bundle", access=ACCESS,
                        digest=executor_wire.digest(authority)) for name in ("ca.crt", "client-ca.crt")]
        assert "client-ca.crt: expected its CA bundle in the plan" in apply(
            wire, plan("half", *directories, bundles[0], steps[0]), [authority])
        assert apply(wire, plan("ours", *directories, *bundles, steps[0]), [authority]) == ""
        assert "https://10.99.0.3:6443 is not in allow.clusters" in apply(wire, plan("theirs", steps[1]))
        assert b"10.99.0.2:6443" in host.read("/etc/kubernetes/kubelet.conf")
        assert client.undo(wire, "back") == ""
