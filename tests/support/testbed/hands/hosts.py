"""The hosts on which the plan of testbed.hands.plan begins."""

import os
from pathlib import Path

from testbed.hands import Hands, plan

ODD_MODE, ODD_OWNER = 0o604, 1234

# As iptables of kubelet makes them.
CHAINS = ("add table ip mangle; add chain ip mangle KUBE-MADE; add chain ip mangle OUTPUT"
          " { type route hook output priority -150; policy accept; }; add rule ip mangle OUTPUT jump KUBE-MADE")

# Units of the host's owner; shy.service makes something when it starts, as kubelet does.
UNITS = {
    "shy.service": f"[Service]\nType=oneshot\nRemainAfterExit=yes\n"
                   f"ExecStart=/usr/bin/install -D /etc/hostname {plan.CLAIMED}/made/by-product\n"
                   "ExecStart=/usr/bin/systemctl start kubepods-made.slice\n"
                   "ExecStart=/usr/bin/ip link add cni0 type bridge\n"
                   f"ExecStart=/usr/sbin/nft \"{CHAINS}\"\n",
    "loud.service": "[Service]\nExecStart=/usr/bin/sleep infinity\n",
    "run-netns-doomed.mount": f"[Mount]\nWhat=doomed\nWhere={plan.DOOMED_MOUNT}\nType=tmpfs\n",
}
INSTALL = "[Install]\nWantedBy=multi-user.target\n"


def bare(hands: Hands) -> None:
    """Nothing of what the plan makes is there, and all that it takes away is."""
    _install_units(hands)
    _put(hands.root, plan.UNWANTED, "an old one\n")
    _run(hands, "enable", "--now", "loud.service")
    doom(hands)


def foreign(hands: Hands) -> None:
    """Everything the plan touches is there already, with content, mode, owner and attributes of somebody else.

    Attributes are of the user's kind: for the trusted kind the hands would need CAP_SYS_ADMIN.
    """
    _install_units(hands)
    for path in plan.DIRECTORIES:
        (hands.root / path[1:]).mkdir(parents=True, exist_ok=True)
    for path in [*plan.RENDERED, plan.CERTIFICATE, plan.UNWANTED, plan.LINK, f"{plan.CLAIMED}/theirs",
                 f"{plan.COMPONENT}/theirs/bin/crictl"]:
        _put(hands.root, path, f"# somebody else's {path}")
    _put(hands.root, "/etc/systemd/system/kubelet.service", UNITS["loud.service"] + INSTALL)
    _put(hands.root, f"{plan.DROP_INS}/10-kubexm-proxy.conf", "[Service]\nEnvironment=THEIRS=1\n")
    (hands.root / plan.SECRET[1:]).symlink_to("somewhere else")
    (hands.root / plan.IN_USE[1:]).symlink_to("theirs")
    hosts = hands.root / plan.BLOCK[1:]
    hosts.write_text(hosts.read_text().rstrip("\n"))  # also without an end of its last line
    for path in [*plan.DIRECTORIES, *plan.RENDERED, plan.CERTIFICATE, plan.SECRET, plan.LINK, plan.BLOCK,
                 plan.UNWANTED, plan.CLAIMED, f"{plan.CLAIMED}/theirs", plan.COMPONENT, plan.IN_USE]:
        _make_odd(hands.root / path[1:])
    hands.node.run(["sysctl", "-qw", "net.ipv4.tcp_keepalive_time=1234"])
    _run(hands, "daemon-reload")
    _run(hands, "enable", "--now", "kubelet.service")
    _run(hands, "start", "loud.service")
    _run(hands, "mask", "shy.service")
    doom(hands)


def doom(hands: Hands) -> None:
    """Makes again what a plan deletes for good, or unmounts."""
    _put(hands.root, f"{plan.DOOMED_TREE}/deep/file", "gone with the tree\n")
    (hands.root / plan.DOOMED_TREE[1:] / "link").unlink(missing_ok=True)
    (hands.root / plan.DOOMED_TREE[1:] / "link").symlink_to("deep/file")
    _run(hands, "start", "run-netns-doomed.mount")


def _install_units(hands: Hands) -> None:
    for name, text in UNITS.items():
        _put(hands.root, f"/usr/local/lib/systemd/system/{name}", text + ("" if name.endswith("mount") else INSTALL))
    _run(hands, "daemon-reload")


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


def _run(hands: Hands, *verb: str) -> None:
    hands.node.run(["systemctl", *verb])
