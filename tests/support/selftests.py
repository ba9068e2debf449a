"""Tests of the testbed itself: a plugin of pytest that leaves them out while the testbed is the one that passed them.

A file of such tests says `pytestmark = pytest.mark.selftest`. They run with ./dev test --deep, when options of pytest
select tests, and when a file of the testbed or of these tests differs from those of the last time they passed.
"""

import os
from pathlib import Path

import pytest

from testbed import cache

TESTS = Path(__file__).resolve().parents[1]
SUBJECT = ("testbed", "kubernetes", "management", "node-image", "guest-image")


class Selftests:
    def __init__(self) -> None:
        self._mark: Path | None = None  # to make when all of them passed
        self._left: set[str] = set()  # those that did not pass yet

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "selftest: tests the testbed, not the product")

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        own = [item for item in items if item.get_closest_marker("selftest")]
        if not own or config.option.keyword or config.option.markexpr:
            return
        mark = _mark({item.path for item in own})
        if mark.exists() and "KUBEXM_TEST_DEEP" not in os.environ:
            items[:] = [item for item in items if item not in own]
            config.hook.pytest_deselected(items=own)
        else:
            self._mark, self._left = mark, {item.nodeid for item in own}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.nodeid in self._left:
            self._mark = None
        elif report.when == "call" and report.passed:
            self._left.discard(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        if self._mark and not self._left:
            self._mark.parent.mkdir(parents=True, exist_ok=True)
            self._mark.touch()


def _mark(tests: set[Path]) -> Path:
    """The file whose presence says that these tests passed with this testbed."""
    support = {path for part in SUBJECT for path in (TESTS / "support" / part).rglob("*") if path.is_file()}
    files = sorted(path for path in support | tests if path.suffix != ".pyc")
    names = [os.path.relpath(path, TESTS) for path in files]
    return cache.root() / "selftests" / cache.digest(names, *files)
