"""Waits end when they should, and what is compared on a host is compared when it came to rest."""

import pytest

from testbed import snapshot, waiting
from testbed.snapshot import rest


class Host:
    """Looks like each of these in turn, and like the last one for ever: names of files."""

    name = "host"

    def __init__(self, *looks: str) -> None:
        self._looks = list(looks)

    def snapshot(self) -> snapshot.Snapshot:
        look = self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]
        return snapshot.Snapshot(self.name, {"file": {name: {} for name in look.split()}})


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(rest, "SETTLE_SECONDS", 0.1)


def away() -> bool:
    raise OSError("nobody listens")


def test_an_error_ends_a_wait_unless_it_may_pass():
    with pytest.raises(OSError, match="nobody listens"):
        waiting.until("an answer", away, 0.1)
    with pytest.raises(waiting.TimedOut, match="waited 0.1 s for an answer; last seen: OSError.*nobody listens"):
        waiting.until("an answer", away, 0.1, despite=(OSError,))


def test_an_error_that_passes_is_forgotten():
    answers = iter([away, lambda: "", lambda: "here"])
    assert waiting.until("an answer", lambda: next(answers)(), 60, despite=(OSError,)) == "here"


class Clock:
    """It goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_what_takes_long_is_looked_at_ever_less_often(monkeypatch):
    clock, looks = Clock(), []
    monkeypatch.setattr(waiting, "time", clock)
    waiting.until("the end", lambda: looks.append(clock.now) or clock.now >= 20, 60)
    pauses = [round(after - before, 6) for before, after in zip(looks, looks[1:])]
    assert pauses == sorted(pauses) and (pauses[0], pauses[-1]) == (0.02, 0.5)
    assert all(pause < 0.03 + before / 9 for before, pause in zip(looks, pauses)), "no later than a tenth"


def test_a_difference_that_goes_by_itself_is_none():
    before = Host("kept").snapshot()
    assert not snapshot.lasting_diff(before, Host("kept passing", "kept"))
    assert "file new appeared" in str(snapshot.lasting_diff(before, Host("kept new")))
    assert not snapshot.lasting_diff(before, Host("kept /var/new"), apart_from=("/var",))


def test_a_host_is_settled_when_nothing_changes():
    assert snapshot.settled(Host("one", "one two", "two", "two", "three")).of("file").keys() == {"two"}


def test_a_host_that_never_rests_is_told_from_one_that_does():
    looks = [f"look-{number}" for number in range(1000)]
    with pytest.raises(AssertionError, match="does not come to rest"):
        snapshot.settled(Host(*looks))
