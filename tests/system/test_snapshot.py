"""Snapshots find every kind of change on a host, say it readably, and find nothing on a quiet one."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from testbed import image, nspawn, snapshot, waiting
from testbed.node import Node
from testbed.snapshot import ignore, rest, system

pytestmark = pytest.mark.selftest

QUIET_SECONDS = 180 if os.environ.get("KUBEXM_TEST_DEEP") else 3

UNIT = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=true\n[Install]\nWantedBy=multi-user.target\n"
DROP_IN = "/etc/systemd/system/containerd.service.d"
CONTAINERD_UNIT = "/usr/lib/systemd/system/containerd.service"
CGROUP = "/sys/fs/cgroup/memory" if not nspawn.UNIFIED.exists() else "/sys/fs/cgroup"


@dataclass
class Planted:
    """A change, how to take it back, and the lines of the report it must give: all of them, no others."""

    what: str
    plant: str
    undo: str
    report: list[str]


def overwrite_first_byte(letter: str) -> str:
    """In place, and with the old time stamp."""
    return f"t=$(stat -c %y /etc/issue) && printf {letter} | dd of=/etc/issue conv=notrunc status=none && touch -d \"$t\" /etc/issue"


CHANGES = [
    Planted("content", "echo two > /etc/planted", "echo one > /etc/planted",
            [r"file /etc/planted changed: content sha256 [0-9a-f]{12}… -> sha256 [0-9a-f]{12}…"]),
    Planted("one byte of a file of the image", overwrite_first_byte("X"), overwrite_first_byte("D"),
            ["file /etc/issue changed: content .*"]),
    Planted("mode", "chmod 600 /etc/planted", "chmod 644 /etc/planted",
            ["file /etc/planted changed: mode 0644 -> 0600"]),
    Planted("owner", "chown nobody /etc/planted", "chown root /etc/planted",
            ["file /etc/planted changed: owner 0:0 -> 65534:0"]),
    Planted("extended attribute", "setfattr -n user.note -v hi /etc/planted", "setfattr -x user.note /etc/planted",
            [r"file /etc/planted changed: xattr user.note \(none\) -> 0x6869"]),
    Planted("access list", "setfacl -m u:nobody:r /etc/planted", "setfacl -b /etc/planted",
            [r"file /etc/planted changed: xattr system.posix_acl_access \(none\) -> 0x\w+"]),
    Planted("capability", "setcap cap_net_raw=ep /usr/bin/planted", "setcap -r /usr/bin/planted",
            [r"file /usr/bin/planted changed: xattr security.capability \(none\) -> 0x\w+"]),
    Planted("hard link", "ln /etc/planted /etc/second", "rm /etc/second",
            [r"file /etc/planted changed: hard links \(none\) -> 2",
             r"file /etc/second appeared: mode 0644, owner 0:0, size 4, hard links 2, content sha256 \w{12}…"]),
    Planted("symlink", "ln -s /nowhere /etc/link", "rm /etc/link",
            ["symlink /etc/link appeared: mode 0777, owner 0:0, target /nowhere"]),
    Planted("removed file", "rm /etc/planted", "echo one > /etc/planted",
            [r"file /etc/planted disappeared: mode 0644, owner 0:0, size 4, content sha256 \w{12}…"]),
    Planted("directory with files", "mkdir -p /opt/tree/sub && touch /opt/tree/sub/a /opt/tree/b", "rm -r /opt/tree",
            ["directory /opt/tree appeared: mode 0755, owner 0:0; with 3 below it: /opt/tree/b, /opt/tree/sub, /opt/tree/sub/a"]),
    Planted("enabled unit", "systemctl enable planted.service", "systemctl disable planted.service",
            ["symlink /etc/systemd/system/multi-user.target.wants/planted.service appeared: .*",
             "unit planted.service changed: file disabled -> enabled"]),
    Planted("masked unit", "systemctl mask planted.service", "systemctl unmask planted.service",
            ["symlink /etc/systemd/system/planted.service appeared: .*target /dev/null",
             "unit planted.service changed: file disabled -> masked"]),
    Planted("started unit", "systemctl start planted.service", "systemctl stop planted.service",
            ["symlink /run/systemd/units/invocation:planted.service appeared: .*",
             r"unit planted.service changed: state \(none\) -> active \(exited\)"]),
    Planted("drop-in", f"mkdir {DROP_IN} && touch {DROP_IN}/planted.conf && systemctl daemon-reload", f"rm -r {DROP_IN} && systemctl daemon-reload",
            [f"directory {DROP_IN} appeared: mode 0755, owner 0:0; with 1 below it: {DROP_IN}/planted.conf",
             rf"unit containerd.service changed: drop-ins \(none\) -> {DROP_IN}/planted.conf"]),
    Planted("unit file without reload", f"echo >> {CONTAINERD_UNIT}", f"sed -i '$d' {CONTAINERD_UNIT} && systemctl daemon-reload",
            [rf"file {CONTAINERD_UNIT} changed: size \d+ -> \d+, content .*",
             r"unit containerd.service changed: needs daemon-reload \(none\) -> yes"]),
    Planted("network sysctl", "echo 5 > /proc/sys/net/ipv4/tcp_syn_retries", "echo 6 > /proc/sys/net/ipv4/tcp_syn_retries",
            ["sysctl net.ipv4.tcp_syn_retries changed: value 6 -> 5"]),
    Planted("mount", "mount -t tmpfs -o mode=755 planted /mnt", "umount /mnt",
            ["mount /mnt appeared: source planted, root /, options rw,relatime, settings .*"]),
    Planted("mount option", "mount -o remount,bind,ro /tmp", "mount -o remount,bind,rw /tmp",
            [r"mount /tmp changed: options rw,\S* -> ro,\S*"]),
    Planted("link", "ip link add planted0 type bridge", "ip link delete planted0",
            ["link planted0 appeared: .*kind bridge.*"]),
    Planted("address", "ip address add 10.98.0.1/32 dev host0", "ip address delete 10.98.0.1/32 dev host0",
            ["address 10.98.0.1/32 on host0 appeared: .*", "route IPv4 local dst 10.98.0.1 dev host0 table local appeared: .*"]),
    Planted("route", "ip route add 10.97.0.0/24 via 10.99.0.1", "ip route delete 10.97.0.0/24",
            ["route IPv4 unicast dst 10.97.0.0/24 gateway 10.99.0.1 dev host0 table main appeared: .*"]),
    Planted("policy rule", "ip rule add fwmark 7 table 100", "ip rule delete fwmark 7 table 100",
            ["rule IPv4 priority 32765 src all fwmark 0x7 table 100 appeared"]),
    Planted("permanent neighbour", "ip neighbour add 10.99.0.9 lladdr 02:00:00:00:00:09 dev host0", "ip neighbour delete 10.99.0.9 dev host0",
            ["neighbour 10.99.0.9 on host0 appeared: lladdr 02:00:00:00:00:09, state PERMANENT"]),
    Planted("nft table", "nft 'table inet planted { chain one { counter accept; }; }'", "nft delete table inet planted",
            ["nft table inet planted appeared: rules", " *chain one {", " *counter accept", " *}"]),
    Planted("order of rules", "nft insert rule ip kept one drop", "nft 'flush chain ip kept one; add rule ip kept one accept'",
            ["nft table ip kept changed: rules", r"    \+ +drop"]),
    Planted("iptables chain", "iptables -t mangle -N PLANTED", "iptables -t mangle -X PLANTED; nft delete table ip mangle",
            [r"iptables table mangle \(iptables\) appeared: rules", r" *:[A-Z]+ ACCEPT", " *:PLANTED -",
             "nft table ip mangle appeared: rules", r" *chain \w+ {", " *}"]),
    Planted("cgroup", f"mkdir {CGROUP}/planted", f"rmdir {CGROUP}/planted", [r"cgroup \w+:/planted appeared"]),
    Planted("process", "setsid sleep 86398 > /dev/null 2>&1 & until pgrep -x sleep; do :; done", "kill $(pgrep -x sleep) && while pgrep -x sleep; do :; done",
            [r"process sleep in /\S*init.scope appeared: count 1"]),
]
NOT_EXACT = Planted("user", "useradd --system planted", "userdel planted", [
    "user planted appeared: uid .*, home /home/planted, shell /bin/sh", "group planted appeared: gid .*",
    "file /etc/passwd changed: size .*content .*", "file /etc/shadow changed: .*"])


@pytest.fixture(scope="module", params=image.SUITES)
def host(request) -> Node:
    """One node for all changes: each is taken back, and that must be seen as well."""
    node = Node(suite=request.param)
    request.addfinalizer(node.close)
    node.boot()
    node.write("/etc/planted", "one\n")
    node.write("/usr/bin/planted", "#!/bin/sh\n", 0o755)
    node.write("/usr/lib/systemd/system/planted.service", UNIT)
    node.run(["systemctl", "daemon-reload"])
    node.run(["nft", "table ip kept { chain one { accept; }; }"])
    return node


@pytest.fixture(scope="module")
def before(host: Node) -> snapshot.Snapshot:
    return snapshot.settled(host)


def difference(host: Node, before: snapshot.Snapshot) -> snapshot.Report:
    return snapshot.diff(before, host.snapshot())


def shell(host: Node, script: str) -> None:
    host.run(["sh", "-c", script])


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)
def test_a_planted_change_is_reported(host: Node, before: snapshot.Snapshot, change: Planted) -> None:
    def wrong() -> list[str]:
        """What the report says and should not, and the other way round: the host may not be at rest yet."""
        lines = str(difference(host, before)).splitlines()[1:]
        unexpected = [line for line in lines if not any(re.fullmatch(each, line) for each in change.report)]
        missing = [each for each in change.report if not any(re.fullmatch(each, line) for line in lines)]
        return [*(f"unexpected: {line}" for line in unexpected), *(f"missing: {each}" for each in missing)]

    shell(host, change.plant)
    complaints = waiting.until_none(wrong, rest.SETTLE_SECONDS)
    shell(host, change.undo)
    assert not complaints, "\n".join(complaints)
    assert not (left := snapshot.lasting_diff(before, host)), left


def test_a_new_user_is_reported(host: Node, before: snapshot.Snapshot) -> None:
    shell(host, NOT_EXACT.plant)
    report = difference(host, before)
    shell(host, NOT_EXACT.undo)
    print(report)
    for pattern in NOT_EXACT.report:
        assert any(re.fullmatch(pattern, line) for line in str(report).splitlines()), pattern


def test_nothing_is_different_on_a_quiet_host(host: Node) -> None:
    before = snapshot.settled(host)
    host.run(["systemctl", "restart", "containerd.service"])
    host.run(["systemd-run", "--wait", "--collect", "--property=DynamicUser=yes", "--property=MemoryMax=64M",
              "--property=PrivateTmp=yes", "sleep", str(QUIET_SECONDS)], timeout=QUIET_SECONDS + 60)
    host.run(["logger", "something happened"])
    host.run(["ctr", "version"])
    report = snapshot.lasting_diff(before, host)
    assert not report, report
    assert str(report) == "nothing is different"


def test_nothing_is_different_after_a_reboot(host: Node) -> None:
    host.run(["nft", "delete table ip kept"])  # rules never survive a reboot
    before = snapshot.settled(host)
    host.reboot()
    assert not (report := snapshot.lasting_diff(before, host)), report


@pytest.mark.parametrize("entry, why", [
    ("{file: /etc/hosts, reason: x}", "/etc"),
    ("{file: /etc/**, reason: x}", "/etc"),
    ("{file: '/e*', reason: x}", "/etc"),
    ("{file: '/**', reason: x}", "/etc"),
    ("{file: '/*/hosts', reason: x}", "/etc"),
    ("{file: /usr/bin/kubelet, only: [content], reason: x}", "/usr"),
    ("{file: /opt/kubexm, reason: x}", "/opt"),
    ("{file: /run/systemd/**, reason: x}", "/run/systemd/system"),
    ("{file: /var/../etc/hosts, reason: x}", "without '..'"),
    ("{unit: kubelet.service, reason: x}", "never ignored"),
    ("{mount: /mnt, reason: x}", "never ignored"),
    ("{link: cni0, reason: x}", "never ignored"),
    ("{nft table: ip filter, reason: x}", "never ignored"),
    ("{file: /var/log/journal/**}", "a reason"),
    ("{file: /var/log/journal/**, reason: ' '}", "a reason"),
])
def test_what_must_be_seen_cannot_be_ignored(tmp_path: Path, entry: str, why: str) -> None:
    (tmp_path / "list.yaml").write_text(f"- {entry}\n")
    with pytest.raises(ignore.Refused, match=why):
        ignore.load(tmp_path / "list.yaml")


def test_an_entry_hides_what_it_says_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("- {file: '/var/a/*', reason: x}\n- {file: /var/b, only: [size], reason: x}\n")
    taken = snapshot.Snapshot("some host")
    names = ("/var/a", "/var/a/gone", "/var/a/sub/kept", "/var/b", "/var/bb")
    taken.add("file", {name: {"size": "1", "mode": "0644"} for name in names})
    taken.add("unit", {"/var/a/gone": {"file": "enabled"}})
    ignore.load(tmp_path / "list.yaml").apply(taken)
    assert taken.of("file").keys() == {"/var/a", "/var/a/sub/kept", "/var/b", "/var/bb"}
    assert taken.of("file")["/var/b"] == {"mode": "0644"} and "size" in taken.of("file")["/var/bb"]
    assert taken.of("unit")


def test_a_process_counts_when_it_stays_what_it_is() -> None:
    at_first = {1: "systemd in init.scope", 7: "systemd in init.scope", 8: "systemd in init.scope", 9: "sleep in a.service"}
    at_last = {1: "systemd in init.scope", 7: "(sd-close) in init.scope", 9: "sleep in a.service", 10: "ip in b.service"}
    assert system.lasting(at_first, at_last) == {"systemd in init.scope": {"count": "1"}, "sleep in a.service": {"count": "1"}}
