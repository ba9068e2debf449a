"""The executor on a host with a kernel of its own: modules, swap, reboots, power cuts, control groups of version 2."""

import hashlib
import itertools
import json
import os
import random
from pathlib import Path

import pytest

from testbed import exit_code, waiting
from testbed.assignment import another_authority
from testbed.guest import Guest
from testbed.executor import kills

TREE = Path(os.environ["KUBEXM_TREE"])
SEED = os.environ.get("KUBEXM_TEST_SEED", "1")
CUTS = 8 if "KUBEXM_TEST_DEEP" in os.environ else 1
CA = another_authority()
INSTANCES = "fs.inotify.max_user_instances"
PLAN_SECONDS = 300  # an interrupted one goes on after the boot; the processor is emulated
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def guest():
    """All tests share one: it takes a while to boot."""
    with Guest(TREE) as made:
        made.install()
        made.write("/root/ca.crt", CA)
        made.shell("systemctl enable --now kubexm-executor.socket kubexm-executor.service kubexmd.service; sync")
        yield made


def step(type_: str, /, **parameters) -> dict:
    return {"type": type_, "with": parameters}


def modules_file(*names: str) -> dict:
    return step("rendered-file", document={"type": "modules-file", "modules": list(names)})


def kubexmctl(guest: Guest, verb: str, *steps: dict, content: str | None = None):
    text = json.dumps({"id": f"plan-{next(_numbers)}", "owner": "test", "steps": list(steps)})
    contents = ["--content", content] if content else []
    return guest.run(["kubexmctl", verb, "/dev/stdin", *contents], input=text, check=False)


def apply(guest: Guest, *steps: dict):
    return kubexmctl(guest, "apply", *steps)


def must(done) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def previewed(guest: Guest, *steps: dict) -> str:
    done = kubexmctl(guest, "preview", *steps)
    assert done.returncode == exit_code.WOULD_CHANGE, done.stdout + done.stderr
    return done.stdout


def undo(guest: Guest) -> str:
    return must(guest.run(["kubexmctl", "undo", "test"], check=False))


def states(printed: str) -> list[str]:
    return [line.split()[0] for line in printed.splitlines() if not line.startswith("plan ")]


def loaded(guest: Guest) -> set[str]:
    return {line.split()[0] for line in guest.run(["cat", "/proc/modules"]).stdout.splitlines()}


def sysctl(guest: Guest, key: str) -> str:
    return guest.run(["sysctl", "-n", key]).stdout.strip()


# --- control groups -------------------------------------------------------------------------------


def send(guest: Guest, unit: str):
    """A process in the control group of a unit sends a datagram to this host."""
    return guest.run(["bash", "-c", f"echo $$ > /sys/fs/cgroup/system.slice/{unit}/cgroup.procs; "
                                    "exec socat -u EXEC:'echo hello' UDP4-SENDTO:127.0.0.1:7777"], check=False)


def test_nothing_is_sent_by_the_executor(guest):
    assert guest.run(["stat", "-fc", "%T", "/sys/fs/cgroup"]).stdout.strip() == "cgroup2fs"
    assert send(guest, "kubexmd.service").returncode == 0
    refused = send(guest, "kubexm-executor.service")
    assert refused.returncode == 1
    assert "Operation not permitted" in refused.stderr
    must(apply(guest, step("sysctl", key="net.ipv4.ip_forward", value="1")))
    undo(guest)


# --- kernel modules -------------------------------------------------------------------------------


def test_modules_are_loaded_and_stay_until_the_next_boot(guest):
    bridge = step("sysctl", key="net.bridge.bridge-nf-call-iptables", value="0")
    steps = [modules_file("br_netfilter", "ip_vs"), step("kernel-module", name="br_netfilter"),
             step("kernel-module", name="ip_vs"), bridge]
    guest.shell("modprobe --remove ip_vs_wrr ip_vs br_netfilter")  # where another test loaded them
    assert not {"br_netfilter", "ip_vs"} & loaded(guest)
    assert "net.bridge.bridge-nf-call-iptables: none -> 0" in previewed(guest, *steps)
    must(apply(guest, *steps))
    assert {"br_netfilter", "ip_vs"} <= loaded(guest)
    assert sysctl(guest, "net.bridge.bridge-nf-call-iptables") == "0"
    assert states(must(apply(guest, *steps))) == ["skipped"] * 4
    assert "kernel module br_netfilter stays loaded until the next boot" in undo(guest)
    assert {"br_netfilter", "ip_vs"} <= loaded(guest)
    assert sysctl(guest, "net.bridge.bridge-nf-call-iptables") == "1"
    assert guest.run(["test", "-e", "/etc/modules-load.d/kubexm.conf"], check=False).returncode == 1


@pytest.mark.parametrize("bad", [step("kernel-module", name="loop"), modules_file("overlay", "loop")],
                         ids=["module", "file"])
def test_a_module_that_root_did_not_allow_is_refused(guest, bad):
    refused = apply(guest, bad)
    assert refused.returncode == exit_code.REFUSED
    assert "loop is not in allow.modules" in refused.stderr


def test_a_module_that_is_not_there_is_named(guest):
    failed = apply(guest, step("kernel-module", name="ip_vs_sh"))  # of no file that the loader reads
    assert failed.returncode == exit_code.FAILED
    assert "systemd-modules-load.service did not load ip_vs_sh" in failed.stdout
    undo(guest)


def test_a_module_of_somebody_else_that_fails_does_not_matter(guest):
    guest.write("/etc/modules-load.d/theirs.conf", "kvm_amd\n")  # the emulated processor has no use for it
    must(apply(guest, modules_file("ip_vs_wrr"), step("kernel-module", name="ip_vs_wrr")))
    assert guest.run(["systemctl", "is-failed", "systemd-modules-load"], check=False).stdout.strip() == "failed"
    assert "ip_vs_wrr" in loaded(guest)
    undo(guest)
    guest.shell("rm /etc/modules-load.d/theirs.conf; systemctl restart systemd-modules-load")


# --- swap -----------------------------------------------------------------------------------------


SWAPS = r"""
for name in listed unit hand; do
    fallocate -l 16M /$name; chmod 0600 /$name; mkswap -q /$name
done
uuid=11111111-2222-3333-4444-555555555555
mkswap -q -U $uuid /dev/disk/by-id/virtio-blank
until [ -e /dev/disk/by-uuid/$uuid ]; do sleep 0.1; done
printf '/listed none swap pri=7 0 0\nUUID=%s none swap sw 0 0\n' $uuid >> /etc/fstab
printf '[Swap]\nWhat=/unit\n' > /etc/systemd/system/unit.swap
systemctl daemon-reload
systemctl start unit.swap swap.target listed.swap
systemctl start "$(systemd-escape --path --suffix=swap /dev/disk/by-uuid/$uuid)"
swapon --priority 5 /hand
until systemctl is-active --quiet hand.swap; do sleep 0.1; done
"""


def in_use(guest: Guest) -> list[str]:
    shown = guest.run(["swapon", "--show=NAME,PRIO", "--noheadings"]).stdout
    return sorted(" ".join(line.split()) for line in shown.splitlines())


def test_swaps_of_all_kinds_are_turned_off_and_on_again(guest):
    guest.shell(SWAPS)
    before = in_use(guest)
    assert [swap.split()[0] for swap in before] == ["/dev/vdc", "/hand", "/listed", "/unit"]
    refused = guest.run(["kubexmctl", "preflight", "--output=json"], check=False)
    assert refused.returncode == exit_code.FAILED and '"id":"swap-on"' in refused.stdout, refused
    shown = previewed(guest, step("swap-off"))
    assert all(f"{name}: on -> off" in shown for name in ("/hand", "/listed", "/unit")), shown
    assert in_use(guest) == before
    must(apply(guest, step("swap-off")))
    assert in_use(guest) == []
    assert states(must(apply(guest, step("swap-off")))) == ["skipped"]
    undo(guest)
    assert in_use(guest) == before
    guest.shell("swapoff --all; sed -i '/ swap /d' /etc/fstab; rm /etc/systemd/system/unit.swap; "
                "systemctl daemon-reload")


# --- reboots and power cuts -----------------------------------------------------------------------


def apply_for_a_reboot(guest: Guest):
    return kubexmctl(guest, "apply", *steps_for_a_reboot(), content="/root/ca.crt")


def steps_for_a_reboot() -> list[dict]:
    """The value comes before its file: after a boot in between, what was there before would not be known."""
    public, private = ({"mode": mode, "uid": 0, "gid": 0} for mode in ("0644", "0600"))
    digest = hashlib.sha256(CA.encode()).hexdigest()
    return [
        step("directory", path="/etc/kubernetes", access={**public, "mode": "0755"}),
        step("directory", path="/etc/kubernetes/pki", access={**public, "mode": "0750"}),
        step("data-file", path="/etc/kubernetes/pki/ca.crt", kind="ca-bundle", access=public, digest=digest),
        step("secret-file", path="/etc/kubernetes/pki/key", handle="key", access=private, digest=digest),
        step("symlink", path="/etc/kubernetes/pki/current.crt", target="ca.crt"),
        step("managed-block", path="/etc/hosts", name="own name", lines=["10.99.0.200 somebody"]),
        modules_file("nf_conntrack", "overlay"),
        step("kernel-module", name="overlay"),
        step("sysctl", key=INSTANCES, value="8765"),
        step("rendered-file", document={"type": "sysctl-file", "values": [{"key": INSTANCES, "value": "8765"}]}),
    ]


def files(guest: Guest) -> str:
    return guest.shell("cd /; find etc opt var/lib/kubelet* -printf '%p %y %m %U:%G %l\\n' | sort; "
                       "find etc -type f -exec sha256sum {} + | sort")


def trace(guest: Guest) -> list[str]:
    """What an uninterrupted run passes; the plan stays applied."""
    guest.shell("systemctl set-environment KUBEXM_CRASH_TRACE=/run/trace; systemctl restart kubexm-executor")
    must(apply_for_a_reboot(guest))
    guest.shell("systemctl unset-environment KUBEXM_CRASH_TRACE; systemctl restart kubexm-executor")
    return guest.run(["cat", "/run/trace"]).stdout.split()


def die_at(guest: Guest, point: kills.Point) -> None:
    """The executor ends at that point and is not started again. All of this is gone with the power."""
    guest.write("/run/systemd/system/kubexm-executor.service.d/test.conf", "[Service]\nRestart=no\n")
    guest.shell("systemctl daemon-reload; systemctl stop kubexmd; "
                f"systemctl set-environment KUBEXM_CRASH_AT={point.passage}; systemctl restart kubexm-executor")
    assert apply_for_a_reboot(guest).returncode == exit_code.UNREACHABLE, f"the executor should have died at {point}"
    assert guest.run(["systemctl", "is-failed", "kubexm-executor"], check=False).stdout.strip() == "failed", point


def test_a_plan_outlives_reboots_and_power_cuts(guest, figure):
    before = files(guest)
    value = sysctl(guest, INSTANCES)
    assert value != "8765"
    points = kills.points(trace(guest))
    after = files(guest)
    assert before != after
    guest.reboot()
    assert {"nf_conntrack", "overlay"} <= loaded(guest)
    assert not {"br_netfilter", "ip_vs"} & loaded(guest)  # taken back before
    assert sysctl(guest, INSTANCES) == "8765"
    undo(guest)
    assert files(guest) == before
    assert sysctl(guest, INSTANCES) == value
    for point in random.Random(SEED).sample(points, CUTS):
        cut_at(guest, point, before, after)
        assert sysctl(guest, INSTANCES) == value, point
        figure(f"power cut at {point}, one of {len(points)} points (seed {SEED}): survived")


def last_plan(guest: Guest) -> str:
    return guest.run(["kubexmctl", "history", "--limit", "1"]).stdout


def cut_at(guest: Guest, point: kills.Point, before: str, after: str) -> None:
    die_at(guest, point)
    guest.shell("echo here > /root/not-synced")
    guest.power_cut()
    guest.boot()
    assert guest.run(["cat", "/root/not-synced"], check=False).stdout == "", "the cut lost nothing: it proves nothing"
    waiting.until(f"the end of the plan ({point})", lambda: last_plan(guest).startswith("done"), PLAN_SECONDS)
    assert files(guest) == after, point
    assert "overlay" in loaded(guest), point
    assert sysctl(guest, INSTANCES) == "8765", point
    undo(guest)
    assert files(guest) == before, point
