"""CAs: whoever has a certificate of kubelet's client CA is root on the host."""

import subprocess

from escapes import CA, CONTENTS, OTHER_CA, Escape, bundles, carry_out, data, kubeconfig, name_of, of_plan, secret
from escapes.host import OWNER, PKI, at, give_back, narrow, put
from escapes.probes import gone, has_mode, made, says
from testbed import executor_wire
from testbed.executor.client import reason
from testbed.executor.plan import step
from testbed.node import Node

NOT_PINNED, ONLY_A_BUNDLE = "expected one that is pinned", "expected a data-file of kind ca-bundle"
SERVER, NOTICE = "https://good.example:6443", "Written by kubexm; manual changes are overwritten."
SERVER_CA, CLIENT_CA = f"{PKI}/ca.crt", f"{PKI}/client-ca.crt"
LEAF = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                       "-keyout", "/dev/null", "-subj", "/CN=leaf", "-addext", "basicConstraints=critical,CA:FALSE"],
                      check=True, capture_output=True).stdout
JUNK = b"not a certificate\n"
WITH_OTHER, WITH_LEAF = CA + OTHER_CA, CA + LEAF
CONTENTS.update((executor_wire.digest(content), content) for content in (LEAF, JUNK, WITH_OTHER, WITH_LEAF))
PINNED = narrow("0" * 64)  # none that anybody has


def _content(aim: str, because: str, content: bytes) -> Escape:
    return of_plan(aim, "ca-content", because, data(f"{PKI}/new.crt", content), reached=made(f"{PKI}/new.crt"))


def _on_a_node(aim: str, stopped_by: str, because: str, each: dict, reached) -> Escape:
    """Of a host that is a node of its cluster, and stays it."""
    def attempt(node: Node) -> str:
        joined = carry_out(node, f"{name_of(aim)}-joined", *bundles(), kubeconfig(SERVER))
        assert joined == "", joined
        return carry_out(node, name_of(aim), each)

    return Escape(aim, (each["type"],), (stopped_by,), because, attempt, reached, finding="A2")


def _after_another_owner(node: Node) -> str:
    first = carry_out(node, "first-owner", data(CLIENT_CA), owner="machine-first")
    assert first == "", first
    outcome = carry_out(node, "second-owner", data(CLIENT_CA, OTHER_CA), owner=OWNER)
    give_back(node, "machine-first")
    return outcome


def _in_two_steps(node: Node) -> str:
    for identity, content in (("added-joined", CA), ("added", WITH_OTHER)):
        added = carry_out(node, identity, data(SERVER_CA, content), data(CLIENT_CA), kubeconfig(SERVER))
        assert added == "", added
    return carry_out(node, "alone", data(SERVER_CA, OTHER_CA))


def _joins(node: Node, identity: str, server: str, clients: bytes = CA) -> str:
    return carry_out(node, identity, data(SERVER_CA), data(CLIENT_CA, clients), kubeconfig(server))


def _join_again(aim: str, server: str) -> Escape:
    """It leaves the cluster and joins it once more: nothing says that this is the same one."""
    def attempt(node: Node) -> str:
        joined = _joins(node, f"{name_of(aim)}-joined", SERVER)
        assert joined == "", joined
        give_back(node, user="kubexm")
        return _joins(node, name_of(aim), server, WITH_OTHER)

    return Escape(aim, ("data-file",), ("joined-cas",), "expected a CA of the last join", attempt,
                  says(CLIENT_CA, OTHER_CA.decode()), finding="A2")


def _without_a_journal(aim: str, stopped_by: str, because: str, each: dict, reached) -> Escape:
    """Root has discarded the journal of a node, which runs on."""
    def attempt(node: Node) -> str:
        put(node, "/etc/systemd/system/kubelet.service", f"# {NOTICE}\n[Service]\nExecStart=/bin/true\n")
        put(node, "/etc/kubernetes/kubelet.conf", f'# {NOTICE}\nclusters:\n- cluster:\n    server: "{SERVER}"\n')
        for path in (SERVER_CA, CLIENT_CA):
            put(node, path, CA.decode())
        outcome = carry_out(node, name_of(aim), each)
        node.run(["rm", "/etc/systemd/system/kubelet.service", "/etc/kubernetes/kubelet.conf"])
        return outcome

    return Escape(aim, (each["type"],), (stopped_by,), because, attempt, reached, finding="A2")


def _confirm(node: Node) -> str:
    with executor_wire.connect(node) as wire:
        wire.hello()
        return reason(wire.ask({"type": "trust-ca", "bundle": OTHER_CA.decode()}))


ALL = [
    of_plan("a join with a CA of its own", "ca-pins", NOT_PINNED, *bundles(), kubeconfig(SERVER),
            reached=made("/etc/kubernetes/kubelet.conf"), finding="A2", configuration=PINNED),
    of_plan("a CA of its own before the join", "ca-pins", NOT_PINNED, data(SERVER_CA, OTHER_CA),
            reached=made(SERVER_CA), finding="A2", configuration=PINNED),
    _on_a_node("its CA among those whose clients kubelet accepts", "ca-pins", NOT_PINNED, data(CLIENT_CA, WITH_OTHER),
               says(CLIENT_CA, OTHER_CA.decode())),
    _on_a_node("the CA of its server replaced", "ca-stays", "not in place of all", data(SERVER_CA, OTHER_CA),
               says(SERVER_CA, OTHER_CA.decode())),
    Escape("the CA of its server replaced in two steps", ("data-file",), ("ca-stays",), "not in place of all", _in_two_steps,
           lambda node: at(node, SERVER_CA).read_bytes() == OTHER_CA),
    _join_again("its CA among the clients of the next join", SERVER),
    _join_again("its CA among the clients of a join under another address", "https://192.0.2.7:6443"),
    _without_a_journal("its CA among the clients of a node without a journal", "ca-pins", NOT_PINNED,
                       data(CLIENT_CA, WITH_OTHER), says(CLIENT_CA, OTHER_CA.decode())),
    _without_a_journal("another CA for the server of a node without a journal", "ca-stays", "not in place of all",
                       data(SERVER_CA, OTHER_CA), says(SERVER_CA, OTHER_CA.decode())),
    _on_a_node("the client CAs as a secret", "ca-files", ONLY_A_BUNDLE, secret(CLIENT_CA),
               has_mode(CLIENT_CA, 0o600)),
    _on_a_node("the client CAs behind a link", "ca-files", ONLY_A_BUNDLE,
               step("symlink", path=CLIENT_CA, target="other.crt"), lambda node: at(node, CLIENT_CA).is_symlink()),
    _on_a_node("no client CAs at all", "ca-files", ONLY_A_BUNDLE, step("absent-path", path=CLIENT_CA), gone(CLIENT_CA)),
    _content("a text in place of a CA", "certificate", JUNK),
    _content("a leaf in place of a CA", "expected a CA, found a leaf", LEAF),
    _content("a leaf behind a CA", "expected a CA, found a leaf", WITH_LEAF),
    Escape("other client CAs when the first owner leaves", ("data-file",), ("client-cas",), "has other CAs there",
           _after_another_owner, says(CLIENT_CA, OTHER_CA.decode())),
    Escape("its CA confirmed", (), ("trust-ca",), "only root decides", _confirm,
           made(f"{executor_wire.STATE}/confirmed-cas"), finding="A2"),
]
