#!/usr/bin/python3
"""Counts what a run of ./dev test passed and failed.

    results.py case NAME COMMAND...   runs a command as one test and records the outcome
    results.py unit NAME BUILD        records what the unit tests of a build directory did
    results.py sum                    prints "N passed, N failed" over all records, after what failed, the time of each
                                      stage and the slowest tests

Records are JUnit XML files in the directory KUBEXM_RESULTS, as pytest and GoogleTest write them too; `stages` beside
them has a line for each stage: its seconds, a tab and its title.
"""

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from pathlib import Path

SLOWEST = 10


def records() -> Path:
    return Path(os.environ["KUBEXM_RESULTS"])


def record(name: str, failure: str | None) -> None:
    suite = xml.Element("testsuite", name=name)
    case = xml.SubElement(suite, "testcase", name=name)
    if failure is not None:
        xml.SubElement(case, "failure", message=failure)
    xml.ElementTree(suite).write(records() / f"{name}.xml")


def run_case(name: str, command: list[str]) -> int:
    code = subprocess.run(command).returncode
    if "KUBEXM_RESULTS" in os.environ:
        record(name, f"exit code {code}" if code != 0 else None)
    return code


def collect_unit(name: str, build: Path) -> int:
    """CTest knows which programs ended well, GoogleTest which tests; a program that crashed has written nothing."""
    for program in xml.parse(build / "ctest.xml").iter("testcase"):
        short = re.sub(r"\W", "_", program.get("name"))
        written = build / "unit-results" / f"{short}.xml"
        good = written.exists()
        if good:
            shutil.copy(written, records() / f"{name}-{short}.xml")
            good = outcome(program) == "passed" or "failed" in map(outcome, xml.parse(written).iter("testcase"))
        if not good:
            record(f"{name}-{short}-ended-badly", "the program failed, and no test of it did")
    return 0


def outcome(case: xml.Element) -> str:
    """passed, failed or skipped; pytest marks by child elements, the others by an attribute as well."""
    children = {child.tag for child in case}
    if children & {"failure", "error"} or case.get("status") == "fail":
        return "failed"
    return "skipped" if "skipped" in children or case.get("status") in ("notrun", "disabled") else "passed"


def cases() -> Iterator[tuple[str, xml.Element]]:
    """Each test with the name of the record it stands in."""
    for path in sorted(records().glob("*.xml")):
        yield from ((path.stem, case) for case in xml.parse(path).iter("testcase"))


def print_times() -> None:
    stages = records() / "stages"
    if stages.exists():
        print("seconds of each stage:")
        for line in stages.read_text().splitlines():
            seconds, title = line.split("\t")
            print(f"  {seconds:>5}  {title}")
    timed = [(float(case.get("time") or 0), record, case.get("name")) for record, case in cases()]
    if timed:
        print(f"seconds of the {min(SLOWEST, len(timed))} slowest tests:")
    for seconds, record, name in sorted(timed, reverse=True)[:SLOWEST]:
        print(f"  {seconds:>5.0f}  {record}: {name}")


def total() -> int:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    print_times()
    for where, case in cases():
        kind = outcome(case)
        counts[kind] += 1
        if kind != "passed":
            print(f"{kind}: {where}: {case.get('classname') or ''} {case.get('name')}")
    # Root can run everything: a test that did not run is a test that is missing.
    if os.geteuid() == 0:
        counts["failed"] += counts.pop("skipped")
    skipped = f", {counts['skipped']} skipped" if "skipped" in counts else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["case", name, *command]:
            sys.exit(run_case(name, command))
        case ["unit", name, build]:
            sys.exit(collect_unit(name, Path(build)))
        case ["sum"]:
            sys.exit(total())
        case _:
            sys.exit(__doc__)
