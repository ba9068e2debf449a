"""What the API answers is what api/openapi.yaml promises. The answers are the golden files that the C++ tests of
api/view and api/routes compare theirs with."""

import json
import re
from pathlib import Path

import pytest
import yaml

TOP = Path(__file__).resolve().parents[3]
CONTRACT = yaml.safe_load((TOP / "api/openapi.yaml").read_text())
GOLDEN = TOP / "tests/unit/api/golden"
ANSWERS = [json.loads(line) for line in (GOLDEN / "answers.jsonl").read_text().splitlines()]
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}
KEYWORDS = {"type", "required", "properties", "items", "enum", "const", "pattern", "minimum", "maximum", "oneOf"}
NOTES = {"description", "x-enum-descriptions"}


def resolved(node: dict) -> dict:
    while "$ref" in node:
        target = CONTRACT
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def problems(value, schema: dict, where: str = "$") -> list[str]:
    """What is wrong with a value; a keyword this validator does not know, or a member that is not told, is wrong."""
    schema = resolved(schema)
    found = [f"{where}: keyword {name} is not checked" for name in schema.keys() - KEYWORDS - NOTES]
    if "oneOf" in schema:
        fitting = sum(not problems(value, choice, where) for choice in schema["oneOf"])
        return found + ([] if fitting == 1 else [f"{where}: fits {fitting} of oneOf"])
    if not isinstance(value, TYPES[schema["type"]]) or isinstance(value, bool):
        return [*found, f"{where}: is no {schema['type']}"]
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        found.append(f"{where}: {value!r} is not allowed")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append(f"{where}: {value!r} does not match")
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append(f"{where}: {value} is out of range")
    if isinstance(value, list):
        found += [one for i, item in enumerate(value) for one in problems(item, schema["items"], f"{where}[{i}]")]
    if isinstance(value, dict):
        found += [f"{where}.{name}: is missing" for name in schema["required"] if name not in value]
        found += [f"{where}.{name}: is not told" for name in value if name not in schema["properties"]]
        found += [one for name in value.keys() & schema["properties"].keys()
                  for one in problems(value[name], schema["properties"][name], f"{where}.{name}")]
    return found


def schema_of(name: str) -> dict:
    return CONTRACT["components"]["schemas"][name]


@pytest.mark.parametrize("file, schema", [("status-fresh.json", "Status"), ("status-joining.json", "Status"),
                                          ("plan.json", "Plan"), ("problem.json", "Problem")])
def test_a_document_keeps_the_contract(file, schema):
    assert problems(json.loads((GOLDEN / file).read_text()), schema_of(schema)) == []


@pytest.mark.parametrize("change, found", [
    ({"phase": "lost"}, "$.phase: 'lost' is not allowed"),
    ({"plan": {}}, "$.plan: fits 0 of oneOf"),
    ({"units": [{"name": 1, "active": "", "enablement": ""}]}, "$.units[0].name: is no string"),
    ({"extra": 1}, "$.extra: is not told"),
])
def test_what_breaks_the_contract_is_found(change, found):
    status = json.loads((GOLDEN / "status-joining.json").read_text())
    assert problems({**status, **change}, schema_of("Status")) == [found]


def documented(path: str, status: int) -> dict:
    """The response of the contract; a path that is not in it is a 404, unless the Host header was refused before."""
    if path not in CONTRACT["paths"]:
        assert status in (404, 421), f"{path} answers {status}"
        return resolved(CONTRACT["components"]["responses"]["Problem"])
    return resolved(CONTRACT["paths"][path]["get"]["responses"][str(status)])


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer['method']}-{answer['path']}-{answer['status']}")
def test_an_answer_is_documented(answer):
    response = documented(answer["path"], answer["status"])
    content = response.get("content", {})
    assert answer["status"] == 304 or answer["contentType"] in content
    assert answer["headers"].keys() == response["headers"].keys()
    for name, value in answer["headers"].items():
        assert problems(value, resolved(response["headers"][name])["schema"], name) == []
    if answer["contentType"] == "application/problem+json":
        assert problems(answer["problem"], content[answer["contentType"]]["schema"]) == []
        assert answer["problem"]["status"] == answer["status"]


def test_everything_documented_was_answered():
    promised = {(path, int(status)) for path, item in CONTRACT["paths"].items() for status in item["get"]["responses"]}
    assert promised <= {(answer["path"], answer["status"]) for answer in ANSWERS}


def test_the_page_and_the_contract_tell_the_phases_in_the_same_words():
    phases = schema_of("Phase")
    assert list(phases["x-enum-descriptions"]) == phases["enum"]
    page = (TOP / "api/www/page.js").read_text()
    english, chinese = page.split("zh: {")
    for name, sentence in phases["x-enum-descriptions"].items():
        assert f'{name}: "{sentence}"' in english
        assert re.search(rf'^      {name}: "', chinese, re.MULTILINE), name


def test_the_phases_are_those_of_the_model():
    model = (TOP / "daemon/model/snapshot.hpp").read_text()
    assert re.findall(r'\{model::Phase::\w+, "(\w+)"\}', model) == schema_of("Phase")["enum"]
