"""What a snapshot is made of: facts about named things, sorted by kind of thing."""

from collections.abc import Iterator
from dataclasses import dataclass, field

Facts = dict[str, str]  # attribute -> value, both as a person would read them


@dataclass
class Snapshot:
    """kind ("file", "unit", "sysctl", ...) -> name -> facts."""

    node: str
    things: dict[str, dict[str, Facts]] = field(default_factory=dict)

    def add(self, kind: str, found: dict[str, Facts]) -> None:
        self.things.setdefault(kind, {}).update(found)

    def of(self, kind: str) -> dict[str, Facts]:
        return self.things.get(kind, {})

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((kind, name) for kind, named in self.things.items() for name in named)
