"""A host as a user of kubexmd has it: containerd, a kubelet binary, kubexmd, and a bootstrap kubeconfig.

    host = Host(node, tree)
    host.enrol(cluster)
    host.wait_for_phase("waiting")
"""

import http.client
import json
from collections.abc import Callable
from pathlib import Path

from testbed import enter, waiting, worker
from testbed.cluster import TROUBLE, Cluster
from testbed.management import example, manifests
from testbed.node import Node

PHASE_SECONDS = 180
STATUS_SECONDS = 10
STATE = "/var/lib/kubexm"
BOOTSTRAP = "/etc/kubexm/bootstrap-kubeconfig"
SELF_DELETE = manifests.SHIPPED / "node-self-delete.yaml"

# Every start of a unit takes the next environment that a test left for it, if there is one: that process has it, and
# no other, however early it dies.
PLACE = "/run/kubexm-test"
TRACE_DIRECTORY = f"{PLACE}/traces"  # any user's
TAKE_NEXT = "cd \"$1\" && rm -f now && next=$(ls | head -n 1) && [ -z \"$next\" ] || mv \"$next\" now\n"
DROP_IN = "/run/systemd/system/{unit}.service.d/test.conf"
SETTINGS = ("[Service]\nExecStartPre=+/bin/sh {place}/take-next {place}/{unit}\n"
            "EnvironmentFile=-{place}/{unit}/now\nReadWritePaths={traces}\n")


class Host:
    def __init__(self, node: Node, tree: Path, containerd: str = "debian") -> None:
        self.node = node
        worker.prepare(node, containerd)
        node.install(tree)

    def enrol(self, management: Cluster) -> None:
        """What the user does on the host: one file and one command."""
        self.introduce(management)
        self.node.run(["systemctl", "enable", "--now", "kubexmd"])

    def introduce(self, management: Cluster) -> None:
        """Writes the file: the bootstrap kubeconfig of a management cluster, in the place of an earlier one."""
        token = management.create_bootstrap_token(example.GROUPS)
        self.node.write(BOOTSTRAP, management.bootstrap_kubeconfig(token), 0o600)

    def status(self) -> dict:
        """What the local API says; empty while it does not answer."""
        api = http.client.HTTPConnection("127.0.0.1", 10240)
        try:
            api.sock = enter.connect(self.node.leader, (api.host, api.port), STATUS_SECONDS)
            api.request("GET", "/v1/status")
            return json.loads(api.getresponse().read())
        except (OSError, http.client.HTTPException):
            return {}
        finally:
            api.close()

    def phase(self) -> str:
        return self.status().get("phase", "")

    def condition(self, kind: str) -> dict:
        return next((item for item in self.status().get("conditions", []) if item["type"] == kind), {})

    def wait_for_phase(self, phase: str, seconds: float = PHASE_SECONDS) -> dict:
        """Waits until the host says that it is in a phase, and returns all that it says then."""
        return self.wait(f"phase {phase}", lambda: (now := self.status()).get("phase") == phase and now, seconds)

    def wait(self, what: str, condition: Callable, seconds: float = PHASE_SECONDS):
        return waiting.until(f"{what} on {self.node.name}", condition, seconds, self.story, TROUBLE)

    def story(self) -> str:
        """The end of its processes' logs, for the message of a failure."""
        units = ("kubexmd", "kubexm-executor", "kubelet")
        return self.node.journal("--lines=60", *(f"--unit={unit}" for unit in units))

    def kept(self) -> list[str]:
        """Names of the files that kubexmd has for itself."""
        return self.node.run(["ls", "-A", STATE]).stdout.split()

    # --- killing -----------------------------------------------------------------------------------

    def restart(self, unit: str, *environments: dict[str, str]) -> None:
        """A new process, which has the first of the environments; the one after it has the next, and so on."""
        self._listen(unit)
        self.disarm(unit)  # after a test that failed
        for number, environment in enumerate(environments):
            text = "".join(f"{name}={value}\n" for name, value in environment.items())
            self.node.write(f"{PLACE}/{unit}/next-{number}", text)
        self.node.run(["systemctl", "restart", f"{unit}.service"], check=False)  # it may be meant to die at once

    def crash_at(self, unit: str, *points: str) -> None:
        """The next process of a unit is killed when it passes the first point, the one after it at the next."""
        self.restart(unit, *({"KUBEXM_CRASH_AT": point} for point in points))

    def is_active(self, unit: str) -> bool:
        """Not while it is away between two processes."""
        return self.node.run(["systemctl", "is-active", f"{unit}.service"], check=False).stdout.strip() == "active"

    def deaths(self, unit: str) -> int:
        """How often the unit's process ended by itself since the last restart()."""
        return int(self.node.shown("NRestarts", f"{unit}.service"))

    def disarm(self, unit: str) -> int:
        """Removes the crash points that no process has taken yet, and returns how many these are."""
        return len(self.node.run(["find", f"{PLACE}/{unit}", "-type", "f", "-print", "-delete"]).stdout.split())

    def _listen(self, unit: str) -> None:
        """Where a boot made it forget, too."""
        drop_in = DROP_IN.format(unit=unit)
        if self.node.run(["test", "-e", drop_in], check=False).returncode == 0:
            return
        self.node.run(["mkdir", "-p", f"{PLACE}/{unit}"])
        self.node.run(["install", "--directory", "--mode=1777", TRACE_DIRECTORY])
        self.node.write(f"{PLACE}/take-next", TAKE_NEXT)
        self.node.write(drop_in, SETTINGS.format(place=PLACE, unit=unit, traces=TRACE_DIRECTORY))
        self.node.run(["systemctl", "daemon-reload"])


def allow_bootstrapping(cluster: Cluster) -> None:
    """What the administrator of a cluster allows once."""
    cluster.apply(manifests.SHIPPED / "node-bootstrap.yaml")


def allow_self_delete(cluster: Cluster) -> None:
    cluster.apply(SELF_DELETE)
