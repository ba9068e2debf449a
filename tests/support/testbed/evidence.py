"""Logs that are kept when a test fails: each owner of logs registers how to save them."""

from collections.abc import Callable
from pathlib import Path

Save = Callable[[Path], None]
_providers: dict[object, Save] = {}


def provide(owner: object, save: Save) -> None:
    """From now on a failure calls `save(directory)`, until `withdraw(owner)`."""
    _providers[owner] = save


def withdraw(owner: object) -> None:
    _providers.pop(owner, None)


def save_all(directory: Path) -> bool:
    """Saves everything there is; False if nothing was there to save. One bad source hides no other."""
    directory.mkdir(parents=True, exist_ok=True)
    for save in list(_providers.values()):
        try:
            save(directory)
        except Exception as error:  # whatever it is, the test's own failure must stay the one that is seen
            with open(directory / "not-saved.txt", "a") as note:
                note.write(f"{save}: {error}\n")
    return bool(_providers)
