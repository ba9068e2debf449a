"""The exit codes of kubexmctl."""

DONE, USAGE, REFUSED, FAILED, UNREACHABLE, WOULD_CHANGE = 0, 2, 3, 4, 5, 10
