"""The executor on a node, for tests that drive, kill and starve it.

    executor = Executor(node, tree)
    executor.apply(plan.text("p1"))
    executor.undo()
"""

import os
import select
import subprocess
from pathlib import Path

from testbed import enter, waiting
from testbed.executor import plan
from testbed.node import Node

DEATH_SECONDS = 120
PLAN_SECONDS = 60
LOOK_SECONDS = 0.05  # it is often meant to die, and is asked for its status when it does not
PLACE = "/run/kubexm-test"  # what the tests put on the node for themselves
DROP_IN = "/run/systemd/system/kubexm-executor.service.d/test.conf"

CONFIGURATION = f"""
allow:
  documents: [{', '.join(plan.DOCUMENTS)}]
  directories: {{unmounted: [/run/netns], claim: [{plan.CLAIMED}]}}
  units: [kubelet.service, containerd.service, shy.service, loud.service]
  sysctls: [net.ipv4.ip_forward, net.ipv4.tcp_keepalive_time]
  executables: [/usr/bin/true]
"""

# The tests look at the host before they start the executor again.
SETTINGS = f"[Service]\nRestart=no\nEnvironmentFile=-{PLACE}/environment\n"


class Executor:
    def __init__(self, node: Node, tree: Path, plan_seconds: float = PLAN_SECONDS) -> None:
        """`plan_seconds`: how long to wait for the end of a plan; a fault may hide it."""
        self.node, self._plan_seconds = node, plan_seconds
        self.root = Path(f"/proc/{node.leader}/root")  # the node's files, without a process there
        node.install(tree)
        node.write("/etc/kubexm/executor.yaml", CONFIGURATION)
        node.write("/etc/kubexm/trusted.sha256", plan.TRUSTED)
        node.write(DROP_IN, SETTINGS)
        for digest, content in plan.CONTENTS.items():
            node.write(f"{PLACE}/{digest}", content)
        node.run(["systemctl", "daemon-reload"])
        node.run(["systemctl", "enable", "--now", "kubexm-executor.socket"])
        self.start()

    def start(self) -> None:
        """Returns when an interrupted plan has come to its end."""
        self.node.run(["systemctl", "start", "kubexm-executor.service"])
        assert self._recovers(), "the executor died"

    def restart(self, **environment: str) -> bool:
        """A new process with these variables, which the one after it does not have. Whether it came to the end of an
        interrupted plan."""
        file = self.place("environment")
        file.write_text("".join(f"{name}={value}\n" for name, value in environment.items()))
        done = self.node.run(["systemctl", "restart", "kubexm-executor.service"], check=False)
        ended = done.returncode == 0 and self._recovers()
        file.unlink()
        return ended

    def _recovers(self) -> bool:
        """Whether it does not die before it says that it is ready for plans, or why it is not."""
        try:
            process = os.pidfd_open(pid_of(self.node))
        except (RuntimeError, ProcessLookupError):
            return False

        def ended() -> list[bool] | None:
            if select.select([process], [], [], LOOK_SECONDS)[0]:
                return [False]
            status = self.node.shown("StatusText", "kubexm-executor.service")
            return [True] if status.startswith(("Ready", "Not changing")) else None
        try:
            return waiting.until("the end of an interrupted plan", ended, self._plan_seconds)[0]
        finally:
            os.close(process)

    def place(self, name: str) -> Path:
        """A file of the tests' own on the node, as the sandbox sees it."""
        return self.root / PLACE.lstrip("/") / name

    def alive(self) -> bool:
        shown = self.node.run(["systemctl", "is-active", "kubexm-executor.service"], check=False).stdout
        return shown.strip() in ("active", "activating")

    def wait_death(self, where: str) -> None:
        """systemd sees it a moment after everybody else."""
        waiting.until(f"the executor to die at {where}", lambda: not self.alive(), DEATH_SECONDS)

    def pid(self) -> int:
        return pid_of(self.node)

    def apply(self, text: str, user: str | None = None) -> subprocess.CompletedProcess[str]:
        contents = [f"--content={PLACE}/{digest}" for digest in plan.CONTENTS if digest in text]
        file = self.place("plan.json")
        file.write_text(text)
        done = self.node.run(["kubexmctl", "apply", f"{PLACE}/plan.json", *contents], check=False, user=user,
                             timeout=self._plan_seconds)
        file.unlink()
        return done

    def undo(self) -> subprocess.CompletedProcess[str]:
        return self.node.run(["kubexmctl", "undo", plan.OWNER], check=False, timeout=self._plan_seconds)

    def last(self) -> str:
        """The newest plan in the history: "done p1 for test"."""
        return " ".join(self.node.run(["kubexmctl", "history", "--limit", "1"]).stdout.split())


def pid_of(node: Node) -> int:
    """The executor's process as the sandbox sees it."""
    if not (found := enter.processes(node.leader, "kubexm-executor.service")):
        raise RuntimeError("the executor does not run")
    return found[0]
