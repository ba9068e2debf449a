"""python3 -m testbed node: boots a node for a shell or one command."""

import os
import sys
from argparse import Namespace
from pathlib import Path

from testbed import image, sandbox
from testbed.node import Node


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser("node", help="boot a node; a root shell in it, or run a command and exit with its code")
    parser.add_argument("--suite", choices=image.SUITES, default=image.SUITES[0], help="the Debian release (default: %(default)s)")
    parser.add_argument("--install", type=Path, metavar="TREE", help="a staging tree (DESTDIR) to install in the node")
    parser.add_argument("command", nargs="*", metavar="-- COMMAND", help="what to run instead of a shell")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    if "KUBEXM_RUN" not in os.environ:
        image.path(arguments.suite)  # a sandbox has no network to make it
        return sandbox.run([sys.executable, "-m", "testbed", *sys.argv[1:]])
    with Node(suite=arguments.suite) as node:
        if arguments.install:
            node.install(arguments.install)
        if arguments.command:
            return node.attach(arguments.command)
        print(f"  root shell in {node.name}; everything is removed when it ends", file=sys.stderr, flush=True)
        return node.attach(["bash", "--login"])
