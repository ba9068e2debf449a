"""What is checked before a host becomes a node: each finding is provoked by another tool, and yields its own id."""

import json
import os
from pathlib import Path

import pytest

from testbed import cri, exit_code, waiting
from testbed.executor.plan import access, step, text
from testbed.host import Host
from testbed.node import Node

TREE = Path(os.environ["KUBEXM_TREE"])
UNIT = "[Service]\\nExecStart=/bin/sleep infinity\\n[Install]\\nWantedBy=multi-user.target\\n"
MAKE_UNIT = f"printf '{UNIT}' > /etc/systemd/system/kubelet.service; systemctl daemon-reload; systemctl "
DROP_UNIT = "systemctl disable --quiet --now kubelet; rm /etc/systemd/system/kubelet.service; systemctl daemon-reload"
DROP_IN = "/usr/lib/systemd/system/kubelet.service.d"
TOML = "/etc/containerd/config.toml"
SOON = 30
LONG_NAME = 64 * "n"  # as long as the kernel permits, and longer than the label of a Node

# Of an id: what makes the host unready, and what mends it.
PROVOKED = {
    "kubelet-active": (MAKE_UNIT + "start kubelet", DROP_UNIT),
    "kubelet-enabled": (MAKE_UNIT + "enable --quiet kubelet", DROP_UNIT),
    "kubeconfig-present": ("mkdir -p /etc/kubernetes; echo 'kind: Config' > /etc/kubernetes/kubelet.conf",
                           "rm -r /etc/kubernetes"),
    "static-pods-present": ("mkdir -p /etc/kubernetes/manifests; echo > /etc/kubernetes/manifests/etcd.yaml",
                            "rm -r /etc/kubernetes"),
    "kubelet-drop-in": (f"mkdir -p {DROP_IN}; printf '[Service]\\nExecStart=\\nExecStart=/usr/bin/kubelet\\n' >"
                        f" {DROP_IN}/10-kubeadm.conf", f"rm -r {DROP_IN}"),
    "kubelet-missing": ("chmod a-x /usr/local/bin/kubelet", "chmod a+x /usr/local/bin/kubelet"),
    "runtime-silent": ("systemctl stop containerd", "systemctl start containerd"),
    "cri-disabled": (f"""cp {TOML} /run/toml; sed -i '1i disabled_plugins = ["io.containerd.grpc.v1.cri"]' {TOML};"""
                     " systemctl restart containerd", f"cp /run/toml {TOML}; systemctl restart containerd"),
    "cgroup-driver": (f"sed -i 's/SystemdCgroup = true/SystemdCgroup = false/' {TOML}; systemctl restart containerd",
                      f"sed -i 's/SystemdCgroup = false/SystemdCgroup = true/' {TOML}; systemctl restart containerd"),
    "host-name": ("hostname localhost", "hostname \"$(cat /etc/hostname)\""),
    "port-10250": ("systemd-run --quiet --unit=squatter socat TCP-LISTEN:10250,fork EXEC:true", "systemctl stop squatter"),
    "network-tools": ("mv /usr/sbin/nft /usr/sbin/conntrack /run/", "mv /run/nft /run/conntrack /usr/sbin/"),
}
WARNINGS = {"network-tools"}
PLAN = {"id": "by-hand", "owner": "by-hand", "purpose": "join",
        "steps": [step("sysctl", key="net.ipv4.ip_forward", value="1")]}


@pytest.fixture(scope="module")
def node():
    with Node() as made:
        Host(made, TREE)
        # containerd is restarted more often than systemd allows in ten seconds.
        made.write("/etc/systemd/system/containerd.service.d/test.conf", "[Unit]\nStartLimitIntervalSec=0\n")
        made.run(["systemctl", "daemon-reload"])
        made.run(["systemctl", "start", "kubexm-executor"])
        yield made


def findings(node: Node, *options: str) -> dict[str, dict]:
    """By id. The exit code says whether one of them is an error."""
    done = node.run(["kubexmctl", "preflight", "-o", "json", *options], check=False)
    found = {each["id"]: each for each in json.loads(done.stdout)["findings"]}
    failed = any(each["severity"] == "error" for each in found.values())
    assert done.returncode == (exit_code.FAILED if failed else exit_code.DONE), done.stderr
    return found


def until_found(node: Node, wanted: set[str]) -> dict[str, dict]:
    """A process that was just started may not listen yet."""
    return waiting.until(f"findings {wanted}", lambda: ((found := findings(node)).keys() == wanted and (found, )),
                         SOON, lambda: str(findings(node)))[0]


def sh(node: Node, script: str) -> None:
    node.run(["sh", "-ec", script])


def test_a_clean_host_is_ready(node):
    assert findings(node) == {}
    assert "is ready for a join" in node.run(["kubexmctl", "preflight"]).stdout
    assert "not checked: API server, clock, name lookup" in node.run(["kubexmctl", "preflight"]).stderr, "kubexmd is not there"


@pytest.mark.parametrize("check, provoke, mend", [(check, *how) for check, how in PROVOKED.items()] + [
    ("host-name", f"cp /etc/hostname /run/; hostnamectl set-hostname {LONG_NAME}", "hostnamectl set-hostname \"$(cat /run/hostname)\""),
    ("cgroup-driver", f"cp {TOML} /run/toml; sed -i /SystemdCgroup/d {TOML}; systemctl restart containerd",
     f"cp /run/toml {TOML}; systemctl restart containerd"),
    *(("kubeconfig-present", f"mkdir -p /var/lib/kubelet; echo 'kind: Config' > /var/lib/kubelet/{name}", "rm -r /var/lib/kubelet")
      for name in ("kubeconfig", "bootstrap-kubeconfig"))])
def test_each_has_its_own_id(node, check, provoke, mend):
    sh(node, provoke)
    try:
        finding = until_found(node, {check})[check]
        assert finding["severity"] == ("warning" if check in WARNINGS else "error")
        assert finding["found"] and finding["needed"] and finding["remedy"]
        assert finding["remedy"] in node.run(["kubexmctl", "preflight"], check=False).stdout
    finally:
        sh(node, mend)
    until_found(node, set())


@pytest.mark.parametrize("place", ["/etc/systemd/system/service.d", "/run/systemd/system.control/kubelet.service.d",
                                   "/usr/local/lib/systemd/system/kubelet.service.d"])
def test_drop_ins_in_every_place_where_systemd_reads_them(node, place):
    sh(node, f"mkdir -p {place}; printf '[Service]\\nExecStart=/usr/bin/kubelet\\n' > {place}/50-theirs.conf")
    try:
        assert f"{place}/50-theirs.conf" in until_found(node, {"kubelet-drop-in"})["kubelet-drop-in"]["found"]
    finally:
        sh(node, f"rm -r {place}")


def test_a_unit_file_that_hides_ours(node):
    place = "/etc/systemd/system.control"
    sh(node, f"mkdir -p {place}; printf '[Service]\\nExecStart=/usr/bin/kubelet\\n' > {place}/kubelet.service")
    try:
        assert f"{place}/kubelet.service" in until_found(node, {"kubelet-drop-in"})["kubelet-drop-in"]["found"]
    finally:
        sh(node, f"rm -r {place}")


def test_pods(node):
    pod = cri.run_pod(node, "somebodys")
    found = until_found(node, {"pods-present"})
    assert found["pods-present"]["found"] == "1 pods in the container runtime"
    cri.ask(node, "StopPodSandbox", cri.member(1, pod.encode()))
    assert findings(node).keys() == {"pods-present"}, "one that was stopped is there, too"
    cri.remove_pod(node, pod)
    until_found(node, set())


def test_the_version_that_is_ordered(node):
    version = node.run(["kubelet", "--version"]).stdout.split()[-1]
    minor = int(version.split(".")[1])
    assert findings(node, f"--minor={minor}") == {}
    found = findings(node, f"--minor={minor - 1}")
    assert found.keys() == {"kubelet-version"} and version in found["kubelet-version"]["found"]


def test_another_kubelet_at_the_same_path_is_noticed(node):
    sh(node, "mv /usr/local/bin/kubelet /run/kubelet; printf '#!/bin/sh\\necho Kubernetes v1.2.3\\n' > /usr/local/bin/kubelet;"
       " chmod +x /usr/local/bin/kubelet")
    assert "v1.2.3" in findings(node, "--minor=34")["kubelet-version"]["found"]
    sh(node, "rm /usr/local/bin/kubelet")
    assert findings(node).keys() == {"kubelet-missing"}
    sh(node, "mv /run/kubelet /usr/local/bin/kubelet")
    assert findings(node) == {}


def apply_own_kubelet(node: Node):
    service = {"type": "kubelet-service", "node_name": "n1", "node_ip": "", "provider_id": "byoh://n1", "labels": [],
               "taints": []}
    node.write("/run/plan.json", text(
        step("directory", path="/var/lib/kubelet", access=access("0750")), step("rendered-file", document=service),
        step("daemon-reload", units=["kubelet.service"]),
        step("unit-state", name="kubelet.service", active=True, restart_key=""), owner="by-hand"))
    return node.run(["kubexmctl", "apply", "/run/plan.json"], check=False)


def configure(node: Node, settings: str) -> None:
    node.write("/etc/kubexm/executor.yaml", settings)
    node.run(["systemctl", "reload", "kubexm-executor"])


@pytest.mark.parametrize("place", [DROP_IN, "/run/systemd/system/kubelet.service.d",
                                   "/etc/systemd/system.control/kubelet.service.d"])
def test_no_other_command_is_started_as_kubelet(node, place):
    """As the drop-in of a package would do it. Drop-ins that leave the command alone are permitted."""
    drop_in = f"{place}/10-kubeadm.conf"
    sh(node, f"""mv /usr/local/bin/kubelet /run/kubelet
        printf '#!/bin/sh\\nsystemd-notify --ready; exec sleep infinity\\n' > /usr/local/bin/kubelet
        chmod +x /usr/local/bin/kubelet; mkdir -p {place}
        printf '[Service]\\nNotifyAccess=all\\nEnvironment=A=b\\nMemoryMax=1G\\n' > {place}/20-harmless.conf
        printf '[Service]\\nExecStart=\\nExecStart=/usr/local/bin/kubelet --other\\n' > {drop_in}""")
    try:
        failed = apply_own_kubelet(node)
        assert failed.returncode == exit_code.FAILED, failed.stdout + failed.stderr
        assert (f"expected the command in /etc/systemd/system/kubelet.service, found /usr/local/bin/kubelet --other of {drop_in};"
                in failed.stdout + failed.stderr)
        assert node.shown("ActiveState", "kubelet.service") == "inactive"
        configure(node, "preflight: {ignore: [kubelet-drop-in]}\n")
        assert apply_own_kubelet(node).returncode == exit_code.DONE, "root permits it"
        configure(node, "")
        assert apply_own_kubelet(node).returncode == exit_code.FAILED, "it runs, but with another command"
        sh(node, f"rm {drop_in}; systemctl stop kubelet")
        assert apply_own_kubelet(node).returncode == exit_code.DONE
        assert node.shown("ActiveState", "kubelet.service") == "active"
    finally:
        configure(node, "")
        sh(node, f"kubexmctl undo by-hand; rm -r {place}; systemctl daemon-reload; mv /run/kubelet /usr/local/bin/kubelet")
    until_found(node, set())


@pytest.mark.parametrize("setting", ["ExecStartPre=/bin/true", "ExecStopPost=/bin/true", "User=nobody", "RootDirectory=/srv",
                                     "BindReadOnlyPaths=/bin/true:/usr/local/bin/kubelet", "Environment=LD_PRELOAD=/srv/lib.so"])
def test_no_drop_in_changes_whom_or_what_kubelet_starts(node, setting):
    """Before a join it is a finding; one that comes later stops the next start."""
    place = "/run/systemd/system/kubelet.service.d"
    name, drop_in = setting.split("=")[0], f"{place}/30-theirs.conf"
    sh(node, f"mkdir -p {place}; printf '[Service]\\n{setting}\\n' > {drop_in}; systemctl daemon-reload")
    try:
        assert f"{drop_in} sets {name}=" in until_found(node, {"kubelet-drop-in"})["kubelet-drop-in"]["found"]
        failed = apply_own_kubelet(node)
        assert failed.returncode == exit_code.FAILED, failed.stdout + failed.stderr
        assert f"without {name}=, found it in {drop_in}; remove that file" in failed.stdout + failed.stderr
        assert node.shown("ActiveState", "kubelet.service") == "inactive"
    finally:
        sh(node, f"kubexmctl undo by-hand; rm -r {place}; systemctl daemon-reload")
    until_found(node, set())


def test_a_join_plan_is_refused_whoever_sends_it(node):
    node.write("/run/plan.json", json.dumps(PLAN))
    sh(node, PROVOKED["static-pods-present"][0])
    refused = node.run(["kubexmctl", "apply", "/run/plan.json"], check=False)
    assert refused.returncode == exit_code.REFUSED
    assert "static-pods-present: expected an empty /etc/kubernetes/manifests" in refused.stderr
    assert "move the files elsewhere" in refused.stderr
    sh(node, PROVOKED["static-pods-present"][1])
    assert node.run(["kubexmctl", "apply", "/run/plan.json"]).returncode == exit_code.DONE
    node.run(["kubexmctl", "undo", "by-hand"])


def test_root_can_ignore_one_check(node):
    sh(node, PROVOKED["kubelet-drop-in"][0])
    node.write("/etc/kubexm/executor.yaml", "preflight: {ignore: [kubelet-drop-in]}\n")
    node.run(["systemctl", "reload", "kubexm-executor"])
    until_found(node, set())
    sh(node, PROVOKED["static-pods-present"][0])
    assert findings(node).keys() == {"static-pods-present"}
    sh(node, PROVOKED["static-pods-present"][1] + "; " + PROVOKED["kubelet-drop-in"][1])
    node.write("/etc/kubexm/executor.yaml", "preflight: {ignore: [everything]}\n")
    refused = node.run(["/usr/libexec/kubexm/kubexm-executor", "--check-config"], check=False)
    assert refused.returncode != 0 and "preflight.ignore[0]: expected a check that kubexmctl preflight shows" in refused.stderr
    node.write("/etc/kubexm/executor.yaml", "")
    node.run(["systemctl", "reload", "kubexm-executor"])
