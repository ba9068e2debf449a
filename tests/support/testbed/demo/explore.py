"""The end of the demo: the node stays, for a look from another terminal and a browser."""

import os
import shlex
import signal
from pathlib import Path

from testbed import kubernetes, network
from testbed.commands.cluster import write_entry
from testbed.demo import page
from testbed.demo.setting import Setting, say
from testbed.management import example

PAGE_SOCKET = "run/kubexm/kubexmd.sock"

WHAT_NEXT = """
Now look at it yourself. {node} stays a node until you press Ctrl-C here; then the demo removes everything.

  In your browser, the status of {node} as it changes:
      {url}
  (from another computer: ssh -L {port}:127.0.0.1:{port} THIS-ONE, and then the same address)

  In another terminal, as root, a shell with KUBECONFIG set:
      {enter}
  There:
      kubectl get nodes --output wide
      kubectl get clusters,machinedeployments,machines,byohosts
      {node} kubexmctl status
      {node} kubexmctl plan
      {node} curl --silent localhost:10240/v1/status
      {node} journalctl --unit kubexmd --unit kubexm-executor
  The way back, with the page open:
      kubectl scale machinedeployment {deployment} --replicas=0
"""


def wait_for_end(setting: Setting, outside: int) -> None:
    """Stays until Ctrl-C. `outside` is the number of the demo's process outside of the sandbox."""
    ends = {signal.SIGINT, signal.SIGTERM}  # a terminal's Ctrl-C sends one, the sandbox the other
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # before there are threads that could get them
    node = setting.host.node
    url = page.serve(Path(f"/proc/{node.leader}/root") / PAGE_SOCKET)
    say(WHAT_NEXT.format(url=url, port=url.rsplit(":", 1)[1], enter=_write_enter(setting, outside), node=node.name,
                         deployment=example.DEPLOYMENT))
    signal.sigwait(ends)


def _write_enter(setting: Setting, outside: int) -> Path:
    """A program that runs a shell or a command in the sandbox, with its programs and KUBECONFIG."""
    commands = network.run_directory() / "bin"
    commands.mkdir()
    (commands / "kubectl").symlink_to(kubernetes.programs() / "kubectl")
    write_entry(commands / setting.host.node.name, setting.host.node)
    settings = {**setting.side.cluster.environment(), "PATH": f"{commands}:{os.environ['PATH']}"}
    variables = shlex.join(f"{name}={value}" for name, value in settings.items())
    enter = network.run_directory() / "enter"
    enter.write_text(f"#!/bin/sh\n[ $# -gt 0 ] || set -- bash\nread -r first </proc/{outside}/task/{outside}/children\n"
                     f'exec nsenter --target "$first" --mount --net --ipc --pid -- env {variables} "$@"\n')
    enter.chmod(0o755)
    return enter
