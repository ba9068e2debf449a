"""daemon/PLAN.md tells every type of step and document, and every parameter of a step."""

from pathlib import Path

import pytest
from model_words import words

PLAN = (Path(__file__).resolve().parents[3] / "daemon/PLAN.md").read_text()


@pytest.mark.parametrize("type_, parameters", words()["steps"].items())
def test_a_step_is_told_with_its_parameters(type_, parameters):
    line = next((line for line in PLAN.splitlines() if line.startswith(f"| `{type_}` |")), "")
    assert line, f"{type_} is missing"
    for parameter in parameters:
        assert f"`{parameter}`" in line, f"{parameter} of {type_} is missing"


@pytest.mark.parametrize("type_", words()["documents"])
def test_a_document_is_told(type_):
    assert f"`{type_}`" in PLAN
