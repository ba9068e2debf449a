"""The host that the attacker wants: root's lists, root's objects, and what the attacker put beside them."""

import itertools
import os
import shutil
from pathlib import Path

from testbed import executor_wire
from testbed.executor import client, plan
from testbed.executor.client import SERVICE
from testbed.executor.gate import GATE
from testbed.node import Node

OWNER = client.OWNER
DROP = "/var/lib/kubexm/drop"  # the attacker's own directory, which root allowed for most steps
OTHERS = "/srv/others"  # root's: no list has it
PKI = "/etc/kubernetes/pki"
MOUNTED, LISTED_MOUNT, MOUNT_IN_A_TREE = f"{OTHERS}/mounted", "/var/lib/kubelet/mounted", f"{DROP}/tree/mounted"
# With names that kubelet gives: others stay where a claim is undone.
MADE_LATER, LOGS = "/var/lib/kubelet/cpu_manager_state", "kube-system_etcd_0123456789abcdef0123456789abcdef"
NO_MODULES = "/usr/local/share/sys"  # the executor's view of the kernel
NAMES = "/usr/local/share/hosts"  # as /etc/hosts is
MODULES_ASKED_FOR, RAN = "/run/modules-asked-for", "/run/ran"
STRANGER = "mallory"  # a member of group kubexm, whom the mode of the socket lets through
ENVIRONMENT = "/run/kubexm-test.environment"

DOCUMENTS = ", ".join(plan.DOCUMENTS)
_DIRECTORIES = f"""
  documents: [{DOCUMENTS}]
  directories:
    data-file: [{PKI}]
    secret-file: [{PKI}, {DROP}]
    directory: [/etc/kubernetes, /var/lib/kubelet, {DROP}]
    symlink: [{PKI}, {DROP}]
    managed-block: [/etc/hosts, /etc/kubernetes/private, {DROP}]
    absent-path: [/etc/kubernetes, {DROP}]
    deleted-tree: [/etc/kubernetes, {DROP}]
    unmounted: [/var/lib/kubelet]
    claim: [/etc/kubernetes, /run/netns, /var/lib/kubelet, {DROP}]
  units: [kubelet.service, containerd.service, listed.service]
  modules: [overlay, nobodys_module]
  executables: [/usr/bin/true, /usr/bin/touch, /usr/bin/cat]
"""
# Root's lists. The first has all that a node needs, and says nothing of clusters.
USUAL = f"allow:{_DIRECTORIES}"
NO_STEPS = f"allow:\n  steps: []{_DIRECTORIES}"
NO_DOCUMENTS = USUAL.replace(f"documents: [{DOCUMENTS}]", "documents: []")


def narrow(pin: str) -> str:
    """One cluster with the pin of its CA, and one registry."""
    return f'allow:\n  clusters: ["good.example:6443 sha256:{pin}"]\n  registries: [good.example]{_DIRECTORIES}'


UNIT_FILES = "/usr/local/lib/systemd/system"
UNITS = {
    f"{UNIT_FILES}/listed.service": "[Service]\nExecStart=/usr/bin/sleep infinity\n",
    f"{UNIT_FILES}/others.service": "[Service]\nExecStart=/usr/bin/sleep infinity\n"
                                   "[Install]\nWantedBy=multi-user.target\n",
    f"{UNIT_FILES}/others@.service": "[Service]\nExecStart=/usr/bin/sleep infinity\n",
    "/etc/systemd/system/srv-others-mounted.mount": f"[Mount]\nWhat=others\nWhere={MOUNTED}\nType=tmpfs\n",
    "/etc/systemd/system/var-lib-kubelet-mounted.mount": f"[Mount]\nWhat=others\nWhere={LISTED_MOUNT}\nType=tmpfs\n",
    "/etc/systemd/system/var-lib-kubexm-drop-tree-mounted.mount":
        f"[Mount]\nWhat=others\nWhere={MOUNT_IN_A_TREE}\nType=tmpfs\n",
    # A node cannot load modules: what it is asked for is written down.
    "/etc/systemd/system/systemd-modules-load.service.d/test.conf":
        "[Unit]\nConditionCapability=\nConditionDirectoryNotEmpty=\nConditionKernelCommandLine=\n[Service]\nExecStart=\n"
        f"ExecStart=/bin/sh -c 'cat /etc/modules-load.d/kubexm.conf > {MODULES_ASKED_FOR}'\n",
    # Some kernels have no modules at all.
    f"/etc/systemd/system/{SERVICE}.d/test.conf":
        f"[Service]\nEnvironmentFile=-{ENVIRONMENT}\nBindReadOnlyPaths={NO_MODULES}:/sys\n",
}
STARTED = ("listed.service", "others.service", "srv-others-mounted.mount", "var-lib-kubelet-mounted.mount",
           "var-lib-kubexm-drop-tree-mounted.mount")


PREPARED = f"""
mkfifo {GATE}
useradd --groups kubexm {STRANGER}
cp /etc/hosts {NAMES}
mkdir -p {NO_MODULES}/module {NO_MODULES}/fs/cgroup
systemctl daemon-reload
systemctl stop {SERVICE}
mount -t tmpfs -o mode=0700 state {executor_wire.STATE}  # commits need no disk
"""


def install(node: Node) -> None:
    """A node with the executor, which is stopped."""
    client.install(node, USUAL)
    for path, text in UNITS.items():
        node.write(path, text)
    node.write("/etc/kubexm/trusted.sha256", plan.TRUSTED)
    node.run(["sh", "-es"], input=PREPARED)
    bring_to_rest(node)


def bring_to_rest(node: Node) -> None:
    """As before any attempt, also with what runs and is mounted."""
    plant(node)
    node.run(["systemctl", "start", *STARTED])
    plant(node)


def restart(node: Node, configuration: str, *checks_off: str) -> None:
    """The executor with these lists of root's, without these checks, and without a past."""
    (root_of(node) / client.CONFIGURATION[1:]).write_text(configuration)
    (root_of(node) / ENVIRONMENT[1:]).write_text(f"KUBEXM_TEST_CHECKS_OFF={','.join(checks_off)}\n")
    node.run(["sh", "-ec", f"systemctl stop {SERVICE}; rm -rf {executor_wire.STATE}/*; systemctl start {SERVICE}"])


def root_of(node: Node) -> Path:
    """The node's files, without a process there."""
    return Path(f"/proc/{node.leader}/root")


def at(node: Node, path: str) -> Path:
    return root_of(node) / path[1:]


def put(node: Node, path: str, text: str = "root's own\n", mode: int = 0o600) -> None:
    file = at(node, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_symlink():
        file.unlink()
    file.write_text(text)
    file.chmod(mode)


def plant(node: Node) -> None:
    """Everything as it is before an attempt."""
    _plant_roots(node)
    _plant_attackers(node)


def _plant_roots(node: Node) -> None:
    at(node, OTHERS).mkdir(exist_ok=True)
    later = (MADE_LATER, "/etc/kubernetes/made-later", f"/var/log/pods/{LOGS}")
    for path in (*at(node, OTHERS).iterdir(), *(at(node, each) for each in later)):
        if path.is_dir() and not path.is_mount():
            shutil.rmtree(path)
        elif not path.is_dir():
            path.unlink(missing_ok=True)
    for path in (f"{PKI}/ca.crt", f"{PKI}/client-ca.crt"):
        at(node, path).unlink(missing_ok=True)
    for path in (PKI, f"{PKI}2", "/etc/kubernetes2", "/etc/kubernetes/manifests", "/etc/cni/net.d",
                 "/etc/containerd/certs.d/_default", "/etc/containerd/certs.d/good.example",
                 "/etc/systemd/system/kubelet.service.d", "/etc/systemd/system/containerd.service.d",
                 "/var/lib/kubelet/pods", "/etc/kubernetes/closed", "/etc/cron.d", "/opt/kubexm", "/run/kubexm",
                 "/run/netns", "/var/log/pods", f"{OTHERS}/empty", MOUNTED, LISTED_MOUNT):
        at(node, path).mkdir(parents=True, exist_ok=True)
    at(node, "/var/lib/kubelet/pods").chmod(0o750)
    at(node, "/etc/kubernetes/closed").chmod(0o700)
    for path in ("/etc/kubernetes/unwanted", "/etc/kubernetes/tree/file", "/etc/kubernetes/private", f"{OTHERS}/file",
                 f"{OTHERS}/table", f"{OTHERS}/tree/below/file", f"{OTHERS}/tree/file", f"{MOUNT_IN_A_TREE}/file"):
        put(node, path)
    at(node, "/etc/hosts").write_bytes(at(node, NAMES).read_bytes())
    for path in (MODULES_ASKED_FOR, RAN):
        at(node, path).unlink(missing_ok=True)


def _plant_attackers(node: Node) -> None:
    """It can do all of it itself, in its own directory."""
    at(node, f"{DROP}/new").unlink(missing_ok=True)
    for path in (f"{DROP}/a/b", MOUNT_IN_A_TREE):
        at(node, path).mkdir(parents=True, exist_ok=True)
    for path, target in ((f"{DROP}/out", OTHERS), (f"{DROP}/a/b/out", OTHERS),
                         (f"{DROP}/process-root", "/proc/self/root")):
        if not os.path.lexists(at(node, path)):
            at(node, path).symlink_to(target)
    if not at(node, f"{DROP}/pipe").exists():
        os.mkfifo(at(node, f"{DROP}/pipe"))
    # The kernel lets it make one only where fs.protected_hardlinks is off.
    if not at(node, f"{DROP}/hard").exists():
        os.link(at(node, "/etc/shadow"), at(node, f"{DROP}/hard"))
    put(node, f"{DROP}/program", f"#!/bin/sh\ntouch {RAN}\n", 0o755)
    uid, gid = executor_wire.ids(node, "kubexm")
    for parent, directories, files in os.walk(at(node, DROP)):
        for name in (*directories, *(name for name in files if name != "hard")):
            os.chown(Path(parent) / name, uid, gid, follow_symlinks=False)


_undos = itertools.count(1)


def give_back(node: Node, owner: str = OWNER, user: str = "root") -> str:
    """Undoes what is there for an owner; returns why not."""
    with executor_wire.connect(node, user) as wire:
        wire.hello()
        return client.undo(wire, f"undo-{next(_undos)}", owner)


def give_all_back(node: Node) -> None:
    with executor_wire.connect(node, "root") as wire:
        wire.hello()
        owners = wire.ask({"type": "observe"})["owners"]
    for owner in owners:
        if owner["objects"]:
            give_back(node, owner["name"])
