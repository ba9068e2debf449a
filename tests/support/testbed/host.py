"""A host as a user of kubexmd has it: containerd, a kubelet binary, kubexmd, and a bootstrap kubeconfig.

    host = Host(node, tree)
    host.enrol(cluster)
    host.wait_for_phase("waiting")
"""

import json
from collections.abc import Callable
from pathlib import Path

from testbed import waiting, worker
from testbed.cluster import Cluster
from testbed.management import example
from testbed.node import Node

MANIFESTS = Path(__file__).resolve().parents[3] / "packaging/manifests"
PHASE_SECONDS = 60
SETTINGS = "/run/systemd/system/{}.service.d/test.conf"


class Host:
    def __init__(self, node: Node, tree: Path, containerd: str = "debian") -> None:
        self.node = node
        worker.prepare(node, containerd)
        node.install(tree)

    def enrol(self, management: Cluster) -> None:
        """What the user does on the host: one file and one command."""
        token = management.create_bootstrap_token(example.GROUPS)
        self.node.write("/etc/kubexm/bootstrap-kubeconfig", management.bootstrap_kubeconfig(token), 0o600)
        self.node.run(["systemctl", "enable", "--now", "kubexm-hands.socket", "kubexmd"])

    def status(self) -> dict:
        """What the local API says; empty while it does not answer."""
        done = self.node.run(["curl", "-s", "--max-time", "10", "http://127.0.0.1:10240/v1/status"], check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def phase(self) -> str:
        return self.status().get("phase", "")

    def condition(self, kind: str) -> dict:
        return next((item for item in self.status().get("conditions", []) if item["type"] == kind), {})

    def wait_for_phase(self, phase: str, seconds: float = PHASE_SECONDS) -> dict:
        """Waits until the host says that it is in a phase, and returns all that it says then."""
        return self.wait(f"phase {phase}", lambda: (now := self.status()).get("phase") == phase and now, seconds)

    def wait(self, what: str, condition: Callable, seconds: float = PHASE_SECONDS):
        return waiting.until(f"{what} on {self.node.name}", condition, seconds, self.story)

    def story(self) -> str:
        """What its processes wrote, for somebody who wants to know why it is not where it should be."""
        units = ("kubexmd", "kubexm-hands", "kubelet")
        return self.node.journal("--lines=60", *(f"--unit={unit}" for unit in units))

    def crash_at(self, unit: str, point: str) -> None:
        """The next process of a unit is killed when it passes a point; the one after it is not."""
        self.node.write(SETTINGS.format(unit), "[Service]\nEnvironmentFile=-/run/crash-at\n"
                                               "ExecStartPost=+/bin/rm -f /run/crash-at\n")
        self.node.write("/run/crash-at", f"KUBEXM_CRASH_AT={point}\n")
        self.node.run(["systemctl", "daemon-reload"])


def allow_bootstrapping(cluster: Cluster) -> None:
    """What the administrator of a cluster allows once."""
    cluster.apply(MANIFESTS / "node-bootstrap.yaml")


def allow_self_delete(cluster: Cluster) -> None:
    cluster.apply(MANIFESTS / "node-self-delete.yaml")
