"""daemon/PLAN.md tells every type of step and document, and every parameter of a step."""

import re
from pathlib import Path

import pytest

DAEMON = Path(__file__).resolve().parents[3] / "daemon"
PLAN = (DAEMON / "PLAN.md").read_text()


def structs(file: str) -> dict[str, str]:
    """By kType, the text of the struct."""
    text = (DAEMON / "model" / file).read_text()
    parts = re.findall(r"^struct \w+ \{\n(.*?)^\};", text, re.DOTALL | re.MULTILINE)
    return {found.group(1): part for part in parts if (found := re.search(r'kType = "([^"]+)"', part))}


@pytest.mark.parametrize("type_, struct", structs("step.hpp").items())
def test_a_step_is_told_with_its_parameters(type_, struct):
    line = next((line for line in PLAN.splitlines() if line.startswith(f"| `{type_}` |")), "")
    assert line, f"{type_} is missing"
    for parameter in re.findall(r'visit\("(\w+)"', struct):
        assert f"`{parameter}`" in line, f"{parameter} of {type_} is missing"


@pytest.mark.parametrize("type_", structs("document.hpp"))
def test_a_document_is_told(type_):
    assert f"`{type_}`" in PLAN
