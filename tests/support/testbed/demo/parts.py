"""The chapters of the demo: it boots, installs and applies; kubexmd and the cluster do the rest."""

import contextlib
from pathlib import Path

import yaml

from testbed import host as hosts
from testbed import management, snapshot, worker
from testbed.demo.setting import Setting, answered, chapter, note, say
from testbed.host import Host
from testbed.management import example
from testbed.node import Node
from testbed.standin.machines import AGAIN_SECONDS

PACE = 0.05
POD = "greeter"
DULL = ("claim", "side-effects")  # steps that only remember what a release has to remove


def start_cluster(stack: contextlib.ExitStack) -> Setting:
    chapter("1. A cluster",
            "Kubernetes runs programs on many machines as if they were one, and Cluster API is the part of it that "
            "adds and removes machines. Both are real here. The provider for machines of your own is a stand-in "
            f"written for tests: it polls every {PACE * AGAIN_SECONDS:g} s, the real one every {AGAIN_SECONDS} s.")
    setting = Setting(stack.enter_context(management.started("kubexm", "demo", pace=PACE)))
    hosts.allow_bootstrapping(setting.side.cluster)
    hosts.allow_self_delete(setting.side.cluster)
    setting.side.apply(example.objects(setting.side.cluster, replicas=0))
    setting.kubectl("version")
    setting.kubectl("get", "machinedeployments", "--output", "custom-columns=NAME:.metadata.name,WANTED:.spec.replicas")
    setting.kubectl("get", "nodes", "--output", "name")
    return setting


def start_machine(setting: Setting, stack: contextlib.ExitStack, tree: Path) -> None:
    chapter("2. A machine",
            "An ordinary Debian with systemd, containerd, which runs containers, and the program kubelet, which is "
            "not started; it belongs to no cluster. kubexmd is installed on it. In this demo it is a container "
            "that boots like a machine.")
    setting.host = Host(stack.enter_context(Node()), tree)
    setting.on_node("sh", "-c", ". /etc/os-release; echo $PRETTY_NAME")
    setting.on_node("systemctl", "is-active", "containerd", "kubelet", check=False)
    setting.on_node("kubexmd", "--version")


def offer_machine(setting: Setting) -> snapshot.Snapshot:
    chapter("3. Its owner enrols it",
            "The owner puts one file on the machine, a bootstrap kubeconfig, and starts kubexmd. With that file "
            "kubexmd requests a certificate of its own; then it registers the machine and waits.")
    setting.host.enrol(setting.side.cluster)
    setting.host.wait_for_phase("waiting")
    setting.on_node("ls", "-l", "/etc/kubexm/bootstrap-kubeconfig")
    setting.on_node("kubexmctl", "status")
    setting.kubectl("get", "byohosts")
    taken = snapshot.settled(setting.host.node)
    note("A snapshot of the machine, for a comparison at the end, has this many objects of each kind:",
         ", ".join(f"{kind} {len(things)}" for kind, things in taken.things.items() if things))
    return taken


def join(setting: Setting) -> None:
    chapter("4. The cluster takes it",
            "The number of wanted machines is set to one. kubexmd makes a plan of the changes that a node needs; its "
            "executor carries it out step by step and journals each step first, so that it can be undone.")
    scale(setting, 1, "joined")
    setting.side.wait_for("a running Machine", lambda: machine_phases(setting) == ["Running"])
    setting.kubectl("get", "nodes", "--output", "wide")
    setting.kubectl("get", "machines")


def run_pod(setting: Setting) -> None:
    chapter("5. It works",
            "A pod is a program that Kubernetes runs on one of its nodes; now there is one. This pod answers HTTP.")
    cluster = setting.side.cluster
    cluster.apply(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD},
        "spec": {"containers": [{"name": POD, "image": worker.GREETER, "imagePullPolicy": "Never"}]}}))
    address = setting.host.wait("an address of the pod", lambda: cluster.get("pod", POD)["status"].get("podIP"))
    ask = ["curl", "--silent", "--max-time", "5", f"http://{address}:8080"]
    setting.host.wait("an answer of the pod", lambda: setting.host.node.run(ask, check=False).stdout)
    setting.kubectl("get", "pods", "--output", "wide")
    setting.on_node(*ask)


def release(setting: Setting, before: snapshot.Snapshot) -> None:
    chapter("6. And back",
            "The number of wanted machines is set to zero. The executor undoes its steps, the last one first, and "
            "removes what kubelet made meanwhile. Then the machine is as it was and waits for the next cluster.")
    scale(setting, 0, "waiting")
    setting.side.wait_for("the end of the Machine", lambda: not machine_phases(setting))
    for kind in ("machines", "nodes", "byohosts"):
        setting.kubectl("get", kind, "--output", "name")
    setting.on_node("systemctl", "is-active", "containerd", "kubelet", check=False)
    report = snapshot.lasting_diff(before, setting.host.node)
    note("Differences between the machine and the snapshot of chapter 3:", str(report))
    if report:
        raise RuntimeError("the machine is not as it was: this is a defect of kubexmd")


def scale(setting: Setting, replicas: int, phase: str) -> None:
    """Sets the number of wanted machines and shows the host's status until it is in a phase."""
    shown = set(lines_of(setting))
    setting.kubectl("scale", "machinedeployment", example.DEPLOYMENT, f"--replicas={replicas}")
    say(f"    $ {setting.host.node.name} curl --silent localhost:10240/v1/status   (repeated)")

    def arrived() -> bool:
        lines = lines_of(setting)
        for line in lines:
            if line not in shown:
                answered(line)
        shown.update(lines)
        return f"phase    {phase}" in lines
    setting.host.wait(f"phase {phase}", arrived)


def lines_of(setting: Setting) -> list[str]:
    """The phase and the finished steps of the plan; of dull steps only their number, when the plan ended."""
    if not (status := setting.host.status()):
        return []
    plan = status["plan"] or {"state": "", "steps": []}
    setting.dull |= {step["text"] for step in plan["steps"] if step["type"] in DULL}
    dull = [step for step in plan["steps"] if any(text in step["text"] for text in setting.dull)]  # of an undo, too
    lines = [f"{step['state']:<8} {step['text']}" for step in plan["steps"]
             if step["state"] in ("done", "skipped") and step not in dull]
    if plan["state"] in ("done", "undone"):
        lines.append(f"{plan['state']:<8} the plan, with {len(dull)} more steps about what kubelet makes")
    phase = f"phase    {status['phase']}"
    return [phase, *lines] if status["phase"] in ("joining", "releasing") else [*lines, phase]


def machine_phases(setting: Setting) -> list[str]:
    found = setting.side.cluster.api.get("/apis/cluster.x-k8s.io/v1beta1/machines")["items"]
    return [item.get("status", {}).get("phase", "") for item in found]
