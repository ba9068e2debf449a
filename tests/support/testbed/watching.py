"""Every change of the objects of a kind, in the order in which the API server made them visible."""

import contextlib
import copy
import http.client
import threading
import time

from testbed import waiting
from testbed.standin.client import Client
from testbed.standin.objects import difference

WAIT_SECONDS = 120
NOISE = ("resourceVersion", "managedFields", "generation")


class Watch:
    """with Watch(text of a kubeconfig, "byohosts") as watch: ...; watch.changes("h1")

    It sees everything from its beginning on, for at most a few minutes.
    """

    def __init__(self, kubeconfig: str, resource: str):
        self._client, self._resource = Client(kubeconfig), resource
        self._seen: list[tuple[float, dict]] = []  # when it came, on the monotonic clock, and what
        self._closed = False

    def __enter__(self) -> "Watch":
        found, version = self._client.list_all(self._resource)
        self._seen = [(time.monotonic(), value) for value in found]
        self._thread = threading.Thread(target=self._follow, args=(version,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._closed = True

    def _follow(self, version: str) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):  # the API server ended
            for value in self._client.follow(self._resource, version):
                if self._closed:
                    return
                self._seen.append((time.monotonic(), value))

    def versions(self, name: str) -> list[dict]:
        """An object as it was after each change, oldest first."""
        return [_quiet(value) for _, value in list(self._seen) if value["metadata"]["name"] == name]

    def changes(self, name: str) -> list[dict]:
        """The merge patches that lead from each version of an object to the next."""
        versions = self.versions(name)
        return [patch for before, after in zip(versions, versions[1:]) if (patch := difference(before, after))]

    def wait_for(self, what: str, name: str, condition, seconds: float = WAIT_SECONDS) -> dict:
        """Waits until a version of the object, past or present, meets a condition, and returns it."""
        def found() -> dict | None:
            alive = self._thread.is_alive()  # asked first: what came before the end has been seen
            version = next((value for value in self.versions(name) if condition(value)), None)
            if version is None and not alive:
                raise RuntimeError(f"the watch of {self._resource} ended while waiting for {what}")
            return version
        return waiting.until(what, found, seconds, lambda: f"changes of {name}: {self.changes(name)}")

    def moment(self, what: str, name: str, condition, after: float = 0, seconds: float = WAIT_SECONDS) -> float:
        """Waits until a version that came after a moment meets a condition; returns when that came."""
        def found() -> float | None:
            return next((when for when, value in list(self._seen)
                         if when > after and value["metadata"]["name"] == name and condition(value)), None)
        return waiting.until(what, found, seconds, lambda: f"changes of {name}: {self.changes(name)}")


def _quiet(value: dict) -> dict:
    value = copy.deepcopy(value)
    for name in NOISE:
        value["metadata"].pop(name, None)
    return value
