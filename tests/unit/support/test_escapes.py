"""The escape suite tries everything: each check, each type of step and of document, each finding of the review."""

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from model_words import words

from escapes.all import ESCAPES

TOP = Path(__file__).resolve().parents[3]
LEAST, LEAST_OF_A_TYPE, MOST_VARIANTS = 120, 3, 5
FINDINGS = {f"A{number}" for number in range(1, 10)}

# A check is named where it refuses, and an allow-list where a name is looked up in it.
NAMED_CHECK = re.compile(r'\b(?:refusal|is_off)\(\s*"([a-z-]+)"')
NAMED_LIST = re.compile(r'\blisted(?:_or_any)?\([^;]*?"([a-z]+)"\s*\)')


def checks_in_the_source() -> set[str]:
    files = [file for file in (TOP / "daemon").rglob("*.[ch]pp")]
    texts = [file.read_text() for file in files]
    return {name for text in texts for pattern in (NAMED_CHECK, NAMED_LIST) for name in pattern.findall(text)}


def test_there_are_enough(figure):
    """Of one refusal five count, over all types; and only those whose success somebody can see on the host."""
    of_refusals = Counter(escape.stopped_by[0] for escape in ESCAPES if escape.reached)
    counted = sum(min(number, MOST_VARIANTS) for number in of_refusals.values())
    figure(f"escapes: {len(ESCAPES)}, {counted} of them count, stopped by "
           f"{len({check for each in ESCAPES for check in each.stopped_by})} checks")
    assert counted >= LEAST
    assert len({str(escape) for escape in ESCAPES}) == len(ESCAPES), "two have one name"


@pytest.mark.parametrize("kind", ["steps", "documents"])
def test_there_are_enough_of_every_type(kind):
    """Of which somebody can see the success on the host."""
    tried = Counter(type_ for escape in ESCAPES if escape.reached for type_ in escape.about)
    assert {type_: tried[type_] for type_ in words()[kind] if tried[type_] < LEAST_OF_A_TYPE} == {}


def test_every_finding_is_tried():
    assert {escape.finding for escape in ESCAPES} - {""} == FINDINGS


def test_no_refusal_has_many_variants():
    refusals = Counter((escape.stopped_by[0], escape.about[-1:]) for escape in ESCAPES)
    assert {refusal: number for refusal, number in refusals.items() if number > MOST_VARIANTS} == {}


def test_every_check_is_tried_and_no_other():
    assert {check for escape in ESCAPES for check in escape.stopped_by} == checks_in_the_source()


def compiled(*options: str) -> bytes:
    """A check, as a module of the product has it."""
    source = ('#include "daemon/base/refusal.hpp"\n'
              'kubexm::Result<> check() { return kubexm::refusal("name-of-a-check", kubexm::Code::denied, "why"); }\n')
    argv = [os.environ.get("CXX", "c++"), "-std=c++23", "-Os", f"-I{TOP}", *options, "-x", "c++", "-S", "-o", "-", "-"]
    return subprocess.run(argv, input=source.encode(), check=True, capture_output=True).stdout


def test_no_check_can_be_switched_off_in_a_package():
    assert b"name-of-a-check" in compiled("-DKUBEXM_CRASH_POINTS"), "as in a test build"
    assert b"name-of-a-check" not in compiled()
    assert b"is_off" not in compiled()
    presets = {preset["name"]: preset for preset in json.loads((TOP / "CMakePresets.json").read_text())["configurePresets"]}
    for name in ("release", presets["release"]["inherits"]):
        assert "KUBEXM_CRASH_POINTS" not in presets[name]["cacheVariables"]
