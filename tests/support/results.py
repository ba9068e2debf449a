#!/usr/bin/python3
"""Counts what a run of ./dev test passed and failed.

    results.py case NAME COMMAND...   runs a command as one test and records the outcome
    results.py sum                    prints "N passed, N failed" over all records

Records are JUnit XML files in the directory KUBEXM_RESULTS, as pytest and ctest write them too.
"""

import os
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def record(name: str, code: int) -> None:
    suite = xml.Element("testsuite", name=name)
    case = xml.SubElement(suite, "testcase", name=name)
    if code != 0:
        xml.SubElement(case, "failure", message=f"exit code {code}")
    xml.ElementTree(suite).write(Path(os.environ["KUBEXM_RESULTS"]) / f"{name}.xml")


def run_case(name: str, command: list[str]) -> int:
    code = subprocess.run(command).returncode
    if "KUBEXM_RESULTS" in os.environ:
        record(name, code)
    return code


def outcome(case: xml.Element) -> str:
    """passed, failed or skipped; pytest marks by child elements, ctest by an attribute as well."""
    children = {child.tag for child in case}
    if children & {"failure", "error"} or case.get("status") == "fail":
        return "failed"
    return "skipped" if "skipped" in children or case.get("status") in ("notrun", "disabled") else "passed"


def total(directory: Path) -> int:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for path in sorted(directory.glob("*.xml")):
        for case in xml.parse(path).iter("testcase"):
            kind = outcome(case)
            counts[kind] += 1
            if kind != "passed":
                print(f"{kind}: {path.stem}: {case.get('classname') or ''} {case.get('name')}")
    # Root can run everything: a test that did not run is a test that is missing.
    if os.geteuid() == 0:
        counts["failed"] += counts.pop("skipped")
    skipped = f", {counts['skipped']} skipped" if "skipped" in counts else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    if sys.argv[1] == "case":
        sys.exit(run_case(sys.argv[2], sys.argv[3:]))
    sys.exit(total(Path(os.environ["KUBEXM_RESULTS"])))
