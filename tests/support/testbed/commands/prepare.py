"""python3 -m testbed prepare: makes images and programs ahead, where there is a network."""

from argparse import Namespace

from testbed import image, prepare

PARTS = {"demo": prepare.DEMO, "everything": prepare.EVERYTHING} | {suite: prepare.node(suite) for suite in image.SUITES}


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser("prepare", help="make images and programs ahead; a sandbox has no network for it")
    parser.add_argument("part", nargs="?", choices=PARTS, default="everything",
                        help="what the demo needs, or the node image of one Debian (default: %(default)s)")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    prepare.make(PARTS[arguments.part])
    return 0
