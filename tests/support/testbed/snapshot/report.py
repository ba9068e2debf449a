"""The difference between two snapshots, as a person would tell it."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from testbed.snapshot.model import Facts, Snapshot

_SHOWN_BELOW = 10  # files named in a directory that appeared or disappeared as a whole
_SYSCTL_OF_LINK = re.compile(r"net\.ipv[46]\.(?:conf|neigh)\.(.+)\.\w+")


@dataclass(frozen=True)
class Change:
    kind: str
    name: str
    before: Facts | None
    after: Facts | None

    @property
    def verb(self) -> str:
        return "changed" if self.before is not None and self.after is not None else "appeared" if self.before is None else "disappeared"

    def __str__(self) -> str:
        noun = (self.after or self.before or {}).get("type", "file") if self.kind == "file" else self.kind
        details = _changed(self.before, self.after) if self.verb == "changed" else _described(self.after or self.before or {})
        return f"{noun} {self.name} {self.verb}" + (": " + ", ".join(details) if details else "")


class Report:
    """Falsy when nothing is different; str() is for a person."""

    def __init__(self, changes: list[Change]) -> None:
        self.changes = changes

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __str__(self) -> str:
        if not self.changes:
            return "nothing is different"
        return "\n".join([f"{len(self.changes)} differences:", *_lines(self.changes)])

    __repr__ = __str__


def diff(before: Snapshot, after: Snapshot) -> Report:
    changes = []
    for kind in sorted(before.things.keys() | after.things.keys()):
        old, new = before.of(kind), after.of(kind)
        changes += [Change(kind, name, old.get(name), new.get(name))
                    for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    return Report([change for change in changes if not _follows_from_a_link(change, before, after)])


def _follows_from_a_link(change: Change, before: Snapshot, after: Snapshot) -> bool:
    """A link brings a hundred sysctls of its own and takes them along; the link says it all."""
    found = _SYSCTL_OF_LINK.fullmatch(change.name) if change.kind == "sysctl" else None
    return bool(found) and (found[1] in before.of("link")) != (found[1] in after.of("link"))


def _lines(changes: list[Change]) -> list[str]:
    """One line for each, but one for a whole tree that appeared or disappeared."""
    trees = {(change.verb, change.name): [] for change in changes if _is_tree(change)}
    lines = []
    for change in changes:
        top = next((tree for tree in trees if _is_below(change, tree)), None)
        if top:
            trees[top].append(change.name)
    for change in changes:
        if not any(_is_below(change, tree) for tree in trees):
            lines.append(str(change) + _below(trees.get((change.verb, change.name), [])))
    return lines


def _is_tree(change: Change) -> bool:
    return change.kind == "file" and change.verb != "changed" and (change.after or change.before or {}).get("type") == "directory"


def _is_below(change: Change, tree: tuple[str, str]) -> bool:
    return change.kind == "file" and change.verb == tree[0] and change.name.startswith(tree[1] + "/")


def _below(names: list[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN_BELOW} more" if len(names) > _SHOWN_BELOW else ""
    return f"; with {len(names)} below it: " + ", ".join(names[:_SHOWN_BELOW]) + more


def _described(facts: Facts) -> list[str]:
    return [f"{key}{_value(value)}" for key, value in facts.items() if key != "type"]


def _changed(before: Facts, after: Facts) -> list[str]:
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return [f"{key}{_value_change(before.get(key), after.get(key))}" for key in keys]


def _value_change(old: str | None, new: str | None) -> str:
    if "\n" in f"{old}{new}":
        compared = difflib.ndiff(_lines_of(old or ""), _lines_of(new or ""))
        return _indented(line for line in compared if line[0] in "+-")
    return " " + " -> ".join(_short(value) if value is not None else "(none)" for value in (old, new))


def _value(value: str) -> str:
    return _indented(_lines_of(value)) if "\n" in value else f" {_short(value)}"


def _lines_of(value: str) -> list[str]:
    return value.expandtabs(4).splitlines()


def _indented(lines: Iterable[str]) -> str:
    return "".join(f"\n    {line}" for line in lines)


def _short(value: str) -> str:
    return re.sub(r"^(sha256 [0-9a-f]{12})[0-9a-f]{52}$", r"\1…", value)
