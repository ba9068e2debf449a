"""Tests of the testbed run until they passed, and again when they or the testbed changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).resolve().parents[2] / "support"
CONFTEST = "from selftests import Selftests\ndef pytest_configure(config): config.pluginmanager.register(Selftests())\n"
SELFTEST = "import pytest\npytestmark = pytest.mark.selftest\ndef test_of_the_testbed(): assert {}\n"


@pytest.fixture
def run(tmp_path):
    """run(body, option...) runs a self-test with that body beside a test of the product; returns the summary."""
    def pytest_says(body: str, *options: str, **variables: str) -> str:
        (tmp_path / "conftest.py").write_text(CONFTEST)
        (tmp_path / "test_testbed.py").write_text(SELFTEST.format(body))
        (tmp_path / "test_product.py").write_text("def test_of_the_product(): pass\n")
        clean = {name: value for name, value in os.environ.items() if name != "KUBEXM_TEST_DEEP"}
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, tmp_path],
                              env=clean | {"PYTHONPATH": str(SUPPORT), "XDG_CACHE_HOME": str(tmp_path)} | variables,
                              capture_output=True, text=True)
        return done.stdout.splitlines()[-1]
    return pytest_says


def test_what_passed_is_left_out_until_it_changes(run):
    assert run("True").startswith("2 passed")
    assert run("True").startswith("1 passed, 1 deselected")
    assert run("1").startswith("2 passed")


def test_what_failed_runs_again(run):
    assert run("False").startswith("1 failed, 1 passed")
    assert run("False").startswith("1 failed, 1 passed")


def test_who_names_it_or_goes_deep_gets_it(run):
    run("True")
    assert run("True", "-k", "testbed").startswith("1 passed, 1 deselected")
    assert run("True", KUBEXM_TEST_DEEP="1").startswith("2 passed")


def test_a_selection_proves_nothing_about_the_rest(run):
    run("True", "-k", "testbed")
    assert run("True").startswith("2 passed")
