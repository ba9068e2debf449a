"""Waiting for something to become true, with a deadline and a reason when it does not."""

import time
from collections.abc import Callable
from typing import TypeVar

POLL_SECONDS = 0.02

Value = TypeVar("Value")


class TimedOut(RuntimeError):
    pass


def until(what: str, condition: Callable[[], Value], seconds: float,
          explain: Callable[[], str] = lambda: "") -> Value:
    """Calls `condition` until it returns something true, and returns that.

    `explain` is asked at the deadline for what a reader needs to see, such as the end of a log.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimedOut(f"waited {seconds:g} s for {what}; last seen: {value!r}\n{explain()}".rstrip())
        time.sleep(POLL_SECONDS)
    return value
