"""The testbed's command line; every module of testbed.commands is one command."""

import argparse
import importlib
import pkgutil
import sys

from testbed import commands


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m testbed", description="Real nodes and clusters on one machine.")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for found in pkgutil.iter_modules(commands.__path__):
        importlib.import_module(f"testbed.commands.{found.name}").add_parser(subparsers)
    arguments = parser.parse_args(argv)
    try:
        return arguments.run(arguments)
    except KeyboardInterrupt:
        return 130
    except (LookupError, RuntimeError) as error:  # said for a person; anything else is our mistake
        print(f"testbed: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.exit(code if code >= 0 else 128 - code)
