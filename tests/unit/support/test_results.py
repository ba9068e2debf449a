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
    '<testcase name="a" status="notrun"><skipped/></testcase>',  # ctest
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
