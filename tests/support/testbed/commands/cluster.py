"""`python3 -m testbed cluster`: a control plane, if wanted a management side and nodes, and a shell."""

import argparse
import contextlib
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from testbed import enter, image, kubernetes, management, network, prepare, sandbox, worker
from testbed.cluster import Cluster
from testbed.management import programs as management_programs
from testbed.node import Node

NODE_PROGRAMS = ("kubelet", "kubeadm", "kube-proxy")


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser(
        "cluster", help="start a Kubernetes control plane and nodes, and open a shell",
        description="Starts a control plane (and a management side, and nodes that are ready to join but not "
                    "joined) and opens a shell, or runs COMMAND and exits with its code. There, KUBECONFIG is set, "
                    "KUBEXM_NODES names the nodes, and the name of a node is a command that runs something in it.")
    parser.add_argument("--management", choices=("none", *management.PROFILES), default="none")
    parser.add_argument("--nodes", type=int, default=0, metavar="N")
    parser.add_argument("--suite", choices=image.SUITES, default="bookworm", help="Debian suite of the nodes")
    parser.add_argument("--install", type=Path, metavar="TREE", help="staging tree to install in every node")
    parser.add_argument("command", nargs="*", metavar="COMMAND")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if "KUBEXM_RUN" not in os.environ:
        prepare.make(prepare.EVERYTHING)  # a sandbox has no network
        return sandbox.run([sys.executable, "-m", "testbed", *sys.argv[1:]])
    with contextlib.ExitStack() as stack:
        environment = _bring_up(arguments, stack)
        return _run_command(arguments.command or _shell(environment), environment)


def _bring_up(arguments: argparse.Namespace, stack: contextlib.ExitStack) -> dict[str, str]:
    commands = network.run_directory() / "bin"
    commands.mkdir()
    (commands / "kubectl").symlink_to(kubernetes.programs() / "kubectl")
    if arguments.management == "none":
        cluster = stack.enter_context(Cluster())
    else:
        (commands / "clusterctl").symlink_to(management_programs.kubeadm_providers() / "clusterctl")
        cluster = stack.enter_context(management.started(arguments.management, "workload")).cluster
    nodes = [_boot(arguments, stack, commands) for _ in range(arguments.nodes)]
    return {**os.environ, **cluster.environment(), "PATH": f"{commands}:{os.environ['PATH']}",
            "KUBEXM_NODES": " ".join(node.name for node in nodes)}


def _boot(arguments: argparse.Namespace, stack: contextlib.ExitStack, commands: Path) -> Node:
    node = stack.enter_context(Node(suite=arguments.suite))
    worker.prepare(node, programs=NODE_PROGRAMS)
    if arguments.install:
        node.install(arguments.install)
    write_entry(commands / node.name, node)
    return node


def write_entry(script: Path, node: Node) -> None:
    """The command with the node's name: `node-10 systemctl status`, or a shell when nothing is said."""
    variables = [f"{name}={value}" for name, value in enter.ENVIRONMENT.items()]
    inside = shlex.join(["env", "-i", *variables, *enter.command(node.leader, [])])
    script.write_text(f'#!/bin/sh\n[ $# -gt 0 ] || set -- bash --login\nexec {inside} "$@"\n')
    script.chmod(0o755)


def _shell(environment: dict[str, str]) -> list[str]:
    print(f"  a shell with KUBECONFIG set; nodes: {environment['KUBEXM_NODES'] or 'none'};"
          " everything is removed when it ends", file=sys.stderr, flush=True)
    return [os.environ.get("SHELL") or "/bin/sh"]


def _run_command(command: list[str], environment: dict[str, str]) -> int:
    child = subprocess.Popen(command, env=environment)
    signal.signal(signal.SIGINT, lambda *_: None)  # the terminal sends it to the command as well
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    code = child.wait()
    return code if code >= 0 else 128 - code
