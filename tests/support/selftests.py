"""Tests of the testbed itself: a plugin of pytest that leaves them out while the testbed is the one that passed them.

A file of such tests says `pytestmark = pytest.mark.selftest`. They run with ./dev test --deep, when options of pytest
select tests, and when a file of the testbed or of these tests differs from those of the last time they passed.
"""

import os
from pathlib import Path

import pytest

from testbed import cache

TOP = Path(__file__).resolve().parents[2]
SUBJECT = (*(f"tests/support/{part}" for part in ("testbed", "kubernetes", "management", "node-image", "guest-image")),
           "packaging/manifests")  # which the testbed applies to every management cluster


class Selftests:
    def __init__(self) -> None:
        self._marks: dict[str, Path] = {}  # of a file: what to make when all of its tests passed
        self._left: set[str] = set()  # those that did not pass yet

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "selftest: tests the testbed, not the product")

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        own = [item for item in items if item.get_closest_marker("selftest")]
        if not own or config.option.keyword or config.option.markexpr:
            return
        for file in sorted({item.path for item in own}):
            of_file, mark = [item for item in own if item.path == file], _mark(file)
            if mark.exists() and "KUBEXM_TEST_DEEP" not in os.environ:
                items[:] = [item for item in items if item not in of_file]
                config.hook.pytest_deselected(items=of_file)
            else:
                self._marks[of_file[0].nodeid.partition("::")[0]] = mark
                self._left |= {item.nodeid for item in of_file}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._marks.pop(report.nodeid.partition("::")[0], None)
        elif report.when == "call" and report.passed:
            self._left.discard(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        unfinished = {test.partition("::")[0] for test in self._left}
        for file, mark in self._marks.items():
            if file not in unfinished:
                mark.parent.mkdir(parents=True, exist_ok=True)
                mark.touch()


def _mark(tests: Path) -> Path:
    """The file whose presence says that these tests passed with this testbed."""
    subject = {path for part in SUBJECT for path in (TOP / part).rglob("*") if path.is_file()}
    files = sorted(path for path in subject | {tests} if path.suffix != ".pyc")
    names = [os.path.relpath(path, TOP) for path in files]
    return cache.root() / "selftests" / cache.digest(names, *files)
