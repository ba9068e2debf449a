"""Waiting for something to become true, with a deadline and a reason when it does not."""

import time
from collections.abc import Callable
from typing import TypeVar

POLL_SECONDS, MOST_POLL_SECONDS = 0.02, 0.5
# A condition is checked more and more seldom: what it costs, tests beside it wait for. They see it a tenth too late.
OF_WAITED = 0.1

Value = TypeVar("Value")


class TimedOut(RuntimeError):
    pass


def until(what: str, condition: Callable[[], Value], seconds: float, explain: Callable[[], str] = lambda: "",
          despite: tuple[type[Exception], ...] = ()) -> Value:
    """Calls `condition` until it returns something true, and returns that.

    `explain` is asked at the deadline for what a reader needs to see, such as the end of a log. Errors of the kinds
    in `despite` may pass: the last one is shown at the deadline.
    """
    began = time.monotonic()
    while not (value := _looked(condition, despite)) or isinstance(value, despite):
        waited = time.monotonic() - began
        if waited > seconds:
            raise TimedOut(f"waited {seconds:g} s for {what}; last seen: {value!r}\n{explain()}".rstrip())
        _sleep(waited)
    return value


def _looked(condition: Callable[[], Value], despite: tuple[type[Exception], ...]) -> Value | Exception:
    try:
        return condition()
    except despite as error:
        return error


def until_none(look: Callable[[], Value], seconds: float) -> Value:
    """Calls `look` until it finds nothing; returns what it found last, for an assertion."""
    began = time.monotonic()
    while (found := look()) and (waited := time.monotonic() - began) < seconds:
        _sleep(waited)
    return found


def _sleep(waited: float) -> None:
    time.sleep(min(max(POLL_SECONDS, waited * OF_WAITED), MOST_POLL_SECONDS))
