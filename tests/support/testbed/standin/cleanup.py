"""Forced release: what the manager does with a host whose agent does not clean up in time."""

import copy
import re
from datetime import datetime, timedelta

from testbed.standin import conditions, names, quantity
from testbed.standin.objects import annotations, at

LEAST, MOST, USUAL = timedelta(minutes=2), timedelta(minutes=15), timedelta(minutes=5)
_UNITS = {"h": "hours", "m": "minutes", "s": "seconds"}


def timeout(host: dict, configured: str) -> timedelta:
    """`configured` is the value of BYOH_HOST_CLEANUP_TIMEOUT, a Go duration, which counts only when it
    is between 2 and 15 minutes; otherwise larger hosts have longer."""
    wanted = _duration(configured)
    if wanted and LEAST <= wanted <= MOST:
        return wanted
    capacity = at(host, "spec", "capacity", default={})
    processors = int(quantity.parse(capacity.get("cpu", 0)))
    gibibytes = int(quantity.parse(capacity.get("memory", 0)) / 1024 ** 3)
    longer = timedelta(seconds=30) * max(0, processors - 8) + timedelta(minutes=1) * max(0, (gibibytes - 16) // 8)
    return min(USUAL + longer, MOST)


def _duration(text: str) -> timedelta | None:
    if not re.fullmatch(r"([0-9]+[hms])+", text):
        return None
    return timedelta(**{_UNITS[unit]: int(number) for number, unit in re.findall(r"([0-9]+)([hms])", text)})


def is_asked(host: dict) -> bool:
    return names.ANNOTATION_UNREGISTERING in annotations(host)


def started_at(host: dict) -> datetime | None:
    text = annotations(host).get(names.ANNOTATION_CLEANUP_STARTED)
    return datetime.fromisoformat(text) if text else None


def forced(host: dict, now: datetime) -> dict:
    """The host when its time is up. Its labels stay, so the ByoMachine asks for a release again, and
    it is called bootstrapped, which is how a returning agent recognises what happened. On purpose."""
    host = copy.deepcopy(host)
    gone = (names.ANNOTATION_UNREGISTERING, names.ANNOTATION_CLEANUP_STARTED)
    host["metadata"]["annotations"] = {name: value for name, value in annotations(host).items() if name not in gone}
    at(host, "status", default={}).pop("machineRef", None)
    conditions.mark_true(host, names.CONDITION_BOOTSTRAPPED, now)
    return host
