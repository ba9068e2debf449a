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

    @property
    def regex(self) -> str:
        parts = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
        return "".join(parts.get(part, re.escape(part)) for part in re.split(r"(\*\*|\*|\?)", self.pattern))


def _any_of(entries: list[Entry]) -> re.Pattern[str]:
    """One expression for all: there are thousands of names to match."""
    return re.compile("|".join(f"(?:{entry.regex})" for entry in entries) or r"(?!)")


class Ignored:
    def __init__(self, entries: list[Entry]) -> None:
        whole = [entry for entry in entries if not entry.only]
        self._partly = [entry for entry in entries if entry.only]
        self._whole = {kind: _any_of([entry for entry in whole if entry.kind == kind]) for kind in KINDS}
        self._trees = _any_of([entry for entry in whole if entry.kind == "file" and entry.pattern.endswith("/**")])

    def is_tree(self, path: str) -> bool:
        """Whether neither this file nor any below it is of interest."""
        return self._trees.fullmatch(path) is not None

    def apply(self, taken: Snapshot) -> None:
        for kind in KINDS:
            named = taken.of(kind)
            for name in [name for name in named if self._whole[kind].fullmatch(name)]:
                del named[name]
        for entry in self._partly:
            regex = re.compile(entry.regex)
            for name, facts in taken.of(entry.kind).items():
                if regex.fullmatch(name):
                    _drop_attributes(facts, entry.only)


def _drop_attributes(facts: Facts, names: frozenset[str]) -> None:
    for name in names & facts.keys():
        del facts[name]


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

