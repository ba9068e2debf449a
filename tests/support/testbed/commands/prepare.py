"""python3 -m testbed prepare: makes images and programs ahead, where there is a network."""

from argparse import Namespace

from testbed import image, kubernetes, management
from testbed.guest import image as guest_image


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser("prepare", help="make images and programs ahead; a sandbox has no network for it")
    parser.add_argument("part", nargs="?", choices=("node", "guest", "cluster", "management"),
                        help="only this (default: everything)")
    parser.add_argument("--suite", choices=image.SUITES, help="only the node image of this Debian release")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    if arguments.part in (None, "node"):
        for suite in [arguments.suite] if arguments.suite else image.SUITES:
            image.path(suite)
    if arguments.part in (None, "guest"):
        guest_image.path()
    if arguments.part in (None, "cluster"):
        kubernetes.prepare()
    if arguments.part in (None, "management"):
        management.prepare()
    return 0
