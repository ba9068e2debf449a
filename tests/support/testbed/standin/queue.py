"""Work to do, each item once, now or later."""

import threading
import time
from collections.abc import Hashable


class Queue:
    def __init__(self):
        self._due: dict[Hashable, float] = {}
        self._changed = threading.Condition()

    def add(self, item: Hashable, delay: float = 0) -> None:
        """An item that waits already keeps the earlier of the two times."""
        due = time.monotonic() + delay
        with self._changed:
            self._due[item] = min(due, self._due.get(item, due))
            self._changed.notify()

    def take(self) -> Hashable:
        """Waits until an item is due and removes it."""
        with self._changed:
            while True:
                item = min(self._due, key=self._due.get, default=None)
                now = time.monotonic()
                if item is not None and self._due[item] <= now:
                    del self._due[item]
                    return item
                self._changed.wait(None if item is None else self._due[item] - now)
