"""What all tests share: nodes to test on, and logs that are kept when a test fails."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS / "support"))

from selftests import Selftests  # noqa: E402  (needs the line above)
from testbed import evidence  # noqa: E402

LOGS = Path(os.environ.get("KUBEXM_LOGS", TESTS.parent / "build" / "test-logs"))
_figures = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_figures] = []
    config.pluginmanager.register(Selftests())
    if "KUBEXM_RUN" in os.environ and not config.option.basetemp:
        config.option.basetemp = Path(os.environ["KUBEXM_RUN"]) / "pytest"  # goes with the sandbox


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Saves logs while the nodes are still there: fixtures are torn down after this."""
    report = (yield).get_result()
    if report.failed:
        directory = LOGS / re.sub(r"[^\w.-]+", "-", item.nodeid.removeprefix("tests/")).strip("-")
        if evidence.save_all(directory):
            report.sections.append(("logs of this test", f"console and journal are in {directory}"))


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if config.stash[_figures]:
        terminalreporter.section("figures")
        terminalreporter.write_line("\n".join(config.stash[_figures]))


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """figure("text"): a measurement, printed at the end of the run. Never a condition of a test."""
    return request.config.stash[_figures].append


@pytest.fixture
def nodes(request: pytest.FixtureRequest) -> Callable[..., "Node"]:
    """nodes(suite=..., name=...) boots another node; all of them are gone after the test."""
    from testbed.node import Node

    def boot(**options) -> Node:
        node = Node(**options)
        request.addfinalizer(node.close)
        node.boot()
        return node

    return boot


@pytest.fixture
def node(request: pytest.FixtureRequest, nodes: Callable[..., "Node"]) -> "Node":
    """A booted node; parametrize it indirectly to choose the Debian release."""
    return nodes(suite=getattr(request, "param", "bookworm"))
