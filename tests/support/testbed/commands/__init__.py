"""The commands of `python3 -m testbed`.

A module here has add_parser(subparsers), which sets `run` as the default of its parser, and
run(arguments), which returns an exit code.
"""
