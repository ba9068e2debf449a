"""Waiting for something to become true, with a deadline and a reason when it does not."""

import time
from collections.abc import Callable
from typing import TypeVar

POLL_SECONDS = 0.02  # at least; a condition that takes longer to check is checked half of the time at most

Value = TypeVar("Value")


class TimedOut(RuntimeError):
    pass


def until(what: str, condition: Callable[[], Value], seconds: float, explain: Callable[[], str] = lambda: "",
          despite: tuple[type[Exception], ...] = ()) -> Value:
    """Calls `condition` until it returns something true, and returns that.

    `explain` is asked at the deadline for what a reader needs to see, such as the end of a log. Errors of the kinds
    in `despite` may pass: the last one is shown at the deadline.
    """
    deadline, began = time.monotonic() + seconds, time.monotonic()
    while not (value := _looked(condition, despite)) or isinstance(value, despite):
        if time.monotonic() > deadline:
            raise TimedOut(f"waited {seconds:g} s for {what}; last seen: {value!r}\n{explain()}".rstrip())
        time.sleep(max(POLL_SECONDS, time.monotonic() - began))
        began = time.monotonic()
    return value


def _looked(condition: Callable[[], Value], despite: tuple[type[Exception], ...]) -> Value | Exception:
    try:
        return condition()
    except despite as error:
        return error


def until_none(look: Callable[[], Value], seconds: float) -> Value:
    """Calls `look` until it finds nothing; returns what it found last, for an assertion."""
    deadline = time.monotonic() + seconds
    while (found := look()) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return found
