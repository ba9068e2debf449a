"""The hosts on which the plan of testbed.executor.plan begins."""

import os
from pathlib import Path

from testbed.executor import Executor, plan

ODD_MODE, ODD_OWNER = 0o604, 1234

# As iptables of kubelet makes them.
CHAINS = ("add table ip mangle; add chain ip mangle KUBE-MADE; add chain ip mangle OUTPUT"
          " { type route hook output priority -150; policy accept; }; add rule ip mangle OUTPUT jump KUBE-MADE")

# Units of the host's owner; shy.service makes something when it starts, as kubelet does.
UNITS = {
    "shy.service": f"[Service]\nType=oneshot\nRemainAfterExit=yes\n"
                   f"ExecStart=/usr/bin/install -D /etc/hostname {plan.CLAIMED}/made/file\n"
                   "ExecStart=/usr/bin/systemctl start kubepods-made.slice\n"
                   "ExecStart=/usr/bin/ip link add cni0 type bridge\n"
                   f"ExecStart=/usr/sbin/nft \"{CHAINS}\"\n",
    "loud.service": "[Service]\nExecStart=/usr/bin/sleep infinity\n",
    "run-netns-deleted.mount": f"[Mount]\nWhat=deleted\nWhere={plan.UNMOUNTED}\nType=tmpfs\n",
}
INSTALL = "[Install]\nWantedBy=multi-user.target\n"


def bare(executor: Executor) -> None:
    """Nothing of what the plan makes is there, and all that it takes away is."""
    _install_units(executor)
    _put(executor.root, plan.UNWANTED, "an old one\n")
    _run(executor, "enable", "--now", "loud.service")
    remake_deleted(executor)


def foreign(executor: Executor) -> None:
    """Everything the plan touches is there already, with content, mode, owner and attributes of another owner.

    Attributes are of the user's kind: for the trusted kind the executor would need CAP_SYS_ADMIN.
    """
    _install_units(executor)
    for path in plan.DIRECTORIES:
        (executor.root / path[1:]).mkdir(parents=True, exist_ok=True)
    for path in [*plan.RENDERED, plan.CERTIFICATE, plan.UNWANTED, plan.LINK, f"{plan.CLAIMED}/theirs",
                 f"{plan.COMPONENT}/theirs/bin/crictl"]:
        _put(executor.root, path, f"# theirs: {path}")
    _put(executor.root, "/etc/systemd/system/kubelet.service", UNITS["loud.service"] + INSTALL)
    _put(executor.root, f"{plan.DROP_INS}/10-kubexm-proxy.conf", "[Service]\nEnvironment=THEIRS=1\n")
    (executor.root / plan.SECRET[1:]).symlink_to("somewhere else")
    (executor.root / plan.IN_USE[1:]).symlink_to("theirs")
    hosts = executor.root / plan.BLOCK[1:]
    hosts.write_text(hosts.read_text().rstrip("\n"))  # also without an end of its last line
    for path in [*plan.DIRECTORIES, *plan.RENDERED, plan.CERTIFICATE, plan.SECRET, plan.LINK, plan.BLOCK,
                 plan.UNWANTED, plan.CLAIMED, f"{plan.CLAIMED}/theirs", plan.COMPONENT, plan.IN_USE]:
        _make_odd(executor.root / path[1:])
    executor.node.run(["sysctl", "-qw", "net.ipv4.tcp_keepalive_time=1234"])
    _run(executor, "daemon-reload")
    _run(executor, "enable", "--now", "kubelet.service")
    _run(executor, "start", "loud.service")
    _run(executor, "mask", "shy.service")
    remake_deleted(executor)


def remake_deleted(executor: Executor) -> None:
    """Makes again what a plan deletes for good, or unmounts."""
    _put(executor.root, f"{plan.DELETED_TREE}/deep/file", "gone with the tree\n")
    (executor.root / plan.DELETED_TREE[1:] / "link").unlink(missing_ok=True)
    (executor.root / plan.DELETED_TREE[1:] / "link").symlink_to("deep/file")
    _run(executor, "start", "run-netns-deleted.mount")


def _install_units(executor: Executor) -> None:
    for name, text in UNITS.items():
        _put(executor.root, f"/usr/local/lib/systemd/system/{name}", text + ("" if name.endswith("mount") else INSTALL))
    _run(executor, "daemon-reload")


def _put(root: Path, path: str, text: str) -> None:
    file = root / path[1:]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o644)


def _make_odd(path: Path) -> None:
    os.chown(path, ODD_OWNER, ODD_OWNER, follow_symlinks=False)
    if path.is_symlink():  # neither mode nor user attributes
        return
    path.chmod(0o705 if path.is_dir() else ODD_MODE)
    os.setxattr(path, "user.theirs", b"\x00odd\xff")


def _run(executor: Executor, *verb: str) -> None:
    executor.node.run(["systemctl", *verb])
