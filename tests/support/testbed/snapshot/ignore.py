"""What a snapshot leaves out, from the one file that may say so: snapshot-ignore.yaml.

An entry names a kind, a pattern (`*` within one path component, `**` across), a reason, and
optionally the only attributes it is about. What a host owner would miss is never ignored: an
entry that tries is refused here.
"""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from testbed.snapshot.model import Facts, Snapshot

LIST = Path(__file__).resolve().parent.parent / "snapshot-ignore.yaml"
KINDS = {"file", "sysctl", "cgroup", "process"}
PROTECTED = ("/etc", "/usr", "/opt", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/home", "/root",
             "/run/systemd/system", "/run/systemd/system.control", "/run/systemd/transient")


class Refused(ValueError):
    """An entry of the list that hides what must be seen, or does not say why."""


@dataclass
class Entry:
    kind: str
    pattern: str
    only: frozenset[str]  # attributes; empty: everything

    @functools.cached_property
    def _regex(self) -> re.Pattern[str]:
        parts = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
        return re.compile("".join(parts.get(part, re.escape(part)) for part in re.split(r"(\*\*|\*|\?)", self.pattern)))

    def matches(self, kind: str, name: str) -> bool:
        return kind == self.kind and self._regex.fullmatch(name) is not None


class Ignored:
    def __init__(self, entries: list[Entry]) -> None:
        self._whole = [entry for entry in entries if not entry.only]
        self._partly = [entry for entry in entries if entry.only]
        self._trees = [entry for entry in self._whole if entry.pattern.endswith("/**")]

    def is_tree(self, path: str) -> bool:
        """Whether neither this file nor any below it is of interest."""
        return any(entry.matches("file", path) for entry in self._trees)

    def apply(self, taken: Snapshot) -> None:
        for kind in KINDS:
            named = taken.of(kind)
            for name in [name for name in named if any(entry.matches(kind, name) for entry in self._whole)]:
                del named[name]
            for name, facts in named.items():
                self._drop_attributes(kind, name, facts)

    def _drop_attributes(self, kind: str, name: str, facts: Facts) -> None:
        for entry in self._partly:
            if entry.matches(kind, name):
                for attribute in entry.only & facts.keys():
                    del facts[attribute]


@functools.cache
def load(path: Path = LIST) -> Ignored:
    return Ignored([_entry(values) for values in yaml.safe_load(path.read_text())])


def _entry(values: dict) -> Entry:
    kinds = values.keys() - {"only", "reason"}
    if len(kinds) != 1 or not kinds <= KINDS:
        raise Refused(f"{values}: expected exactly one of {sorted(KINDS)}; other kinds are never ignored")
    kind = kinds.pop()
    if not str(values.get("reason", "")).strip():
        raise Refused(f"{values}: expected a reason; say why a host owner would not miss it")
    if kind == "file":
        _check_path(values["file"])
    return Entry(kind, values[kind], frozenset(values.get("only", ())))


def _check_path(pattern: str) -> None:
    """Refuses a pattern that could match a protected place: its fixed beginning decides."""
    fixed = re.split(r"[*?]", pattern)[0]
    if not pattern.startswith("/") or ".." in pattern:
        raise Refused(f"{pattern}: expected an absolute path without '..'")
    for place in PROTECTED:
        inside = fixed == place or fixed.startswith(place + "/")
        wildcard_reaches_it = fixed != pattern and place.startswith(fixed)
        if inside or wildcard_reaches_it:
            raise Refused(f"{pattern}: this can hide something in {place}, which is never ignored")

