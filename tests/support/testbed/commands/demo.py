"""`python3 -m testbed demo`: shows a machine become a node and a machine again."""

import argparse
import contextlib
import os
import sys
from pathlib import Path

from testbed import sandbox
from testbed.demo import page, story, visit


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
        scene = story.prologue(stack)
        story.a_machine(scene, stack, arguments.install)
        before = story.the_owner_offers_it(scene)
        story.the_cluster_takes_it(scene)
        story.it_works(scene)
        if arguments.once:
            story.and_back(scene, before)
        else:
            visit.receive(scene, arguments.outside)
    return 0
