"""`python3 -m testbed demo`: shows a machine become a node and a machine again."""

import argparse
import contextlib
import os
import sys
from pathlib import Path

from testbed import sandbox
from testbed.demo import explore, page, parts


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser("demo", help="show how a machine becomes a node and back")
    parser.add_argument("--install", type=Path, metavar="TREE", required=True, help="staging tree with kubexmd")
    parser.add_argument("--once", action="store_true", help="release the node again and end by itself")
    parser.add_argument("--outside", type=int, help=argparse.SUPPRESS)  # the sandbox's process, for itself
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if "KUBEXM_RUN" in os.environ:
        return _tell(arguments)
    if not arguments.once:
        page.listen()
    return sandbox.run([sys.executable, "-m", "testbed", *sys.argv[1:], f"--outside={os.getpid()}"])


def _tell(arguments: argparse.Namespace) -> int:
    with contextlib.ExitStack() as stack:
        setting = parts.start_cluster(stack)
        parts.start_machine(setting, stack, arguments.install)
        before = parts.offer_machine(setting)
        parts.join(setting)
        parts.run_pod(setting)
        if arguments.once:
            parts.release(setting, before)
        else:
            explore.wait_for_end(setting, arguments.outside)
    return 0
