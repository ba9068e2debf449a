"""The count at the end of ./dev test tells the truth."""

import os
import subprocess
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "support/results.py"


@pytest.fixture
def records(tmp_path):
    def results(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([RESULTS, *arguments], capture_output=True, text=True,
                              env={**os.environ, "KUBEXM_RESULTS": str(tmp_path)})

    results.directory = tmp_path
    return results


def last_line(done: subprocess.CompletedProcess) -> str:
    return done.stdout.splitlines()[-1]


def test_counts_what_ran(records):
    assert records("case", "good", "true").returncode == 0
    assert records("case", "bad", "false").returncode == 1
    total = records("sum")
    assert last_line(total).startswith("1 passed, 1 failed")
    assert total.returncode == 1
    assert "failed: bad:" in total.stdout


def test_a_run_without_a_test_is_no_success(records):
    assert records("sum").returncode == 1


@pytest.mark.parametrize("case", [
    '<testcase name="a"><skipped/></testcase>',  # pytest
    '<testcase name="a" status="notrun"><skipped/></testcase>',  # GoogleTest
    '<testcase name="a" status="disabled"/>',
])
def test_a_skipped_test_is_never_a_passed_one(records, case):
    (records.directory / "x.xml").write_text(f'<testsuite><testcase name="ran"/>{case}</testsuite>')
    total = records("sum")
    expected = "1 passed, 1 failed" if os.geteuid() == 0 else "1 passed, 0 failed, 1 skipped"
    assert last_line(total) == expected


def test_an_error_in_a_fixture_is_a_failure(records):
    (records.directory / "x.xml").write_text('<testsuite><testcase name="a"><error/></testcase></testsuite>')
    assert last_line(records("sum")).startswith("0 passed, 1 failed")


PROGRAM = '<testsuite><testcase name="daemon/base" status="{}"/></testsuite>'
TESTS = '<testsuites><testsuite><testcase name="A" status="run">{}</testcase></testsuite></testsuites>'


@pytest.mark.parametrize("ctest, gtest, expected", [
    ("run", TESTS.format(""), "1 passed, 0 failed"),
    ("fail", TESTS.format("<failure/>"), "0 passed, 1 failed"),
    ("fail", TESTS.format(""), "1 passed, 1 failed"),  # a sanitizer complained at the end
    ("fail", None, "0 passed, 1 failed"),  # it crashed
])
def test_a_program_of_unit_tests_is_counted_by_its_tests(records, tmp_path_factory, ctest, gtest, expected):
    build = tmp_path_factory.mktemp("build")
    (build / "ctest.xml").write_text(PROGRAM.format(ctest))
    (build / "unit-results").mkdir()
    if gtest:
        (build / "unit-results/daemon_base.xml").write_text(gtest)
    assert records("unit", "unit-dev", str(build)).returncode == 0
    assert last_line(records("sum")).startswith(expected)


def test_the_times_are_told(records):
    (records.directory / "stages").write_text("12\tlint\n700\tunit tests\n")
    (records.directory / "x.xml").write_text("<testsuite>" + "".join(
        f'<testcase name="test-{number}" time="{number}"/>' for number in range(12)) + "</testsuite>")
    lines = records("sum").stdout.splitlines()
    assert ["700", "unit", "tests"] in [line.split() for line in lines]
    slowest = [line.split()[-1] for line in lines if "x: test-" in line]
    assert slowest == [f"test-{number}" for number in range(11, 1, -1)]
