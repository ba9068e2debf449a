"""What the API answers is what api/openapi.yaml promises. The answers are the golden files that the C++ tests of
api/view and api/routes compare theirs with."""

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator, RefResolver
from model_words import words

TOP = Path(__file__).resolve().parents[3]
CONTRACT = yaml.safe_load((TOP / "api/openapi.yaml").read_text())
GOLDEN = TOP / "tests/unit/api/golden"
ANSWERS = [json.loads(line) for line in (GOLDEN / "answers.jsonl").read_text().splitlines()]
NOTES = {"$ref", "description", "x-enum-descriptions"}  # keywords that say nothing about a value, or say where it is


def closed(node):
    """The same schemas, in which no object has a member that is not told."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {name: closed(value) for name, value in node.items()}
    return node | {"additionalProperties": False} if isinstance(node.get("properties"), dict) else node


RESOLVER = RefResolver("", closed(CONTRACT))


def resolved(node: dict) -> dict:
    return RESOLVER.resolve(node["$ref"])[1] if "$ref" in node else node


def problems(value, schema: dict) -> list[str]:
    """What is wrong with a value, as PATH: MESSAGE."""
    found = Draft202012Validator(closed(schema), resolver=RESOLVER).iter_errors(value)
    return [f"{error.json_path}: {error.message}" for error in found]


def schema_of(name: str) -> dict:
    return CONTRACT["components"]["schemas"][name]


@pytest.mark.parametrize("file, schema", [("status-fresh.json", "Status"), ("status-joining.json", "Status"),
                                          ("plan.json", "Plan"), ("problem.json", "Problem"),
                                          ("operation.json", "AcceptedOperation")])
def test_a_document_keeps_the_contract(file, schema):
    assert problems(json.loads((GOLDEN / file).read_text()), schema_of(schema)) == []


@pytest.mark.parametrize("change, found", [
    ({"phase": "lost"}, "$.phase: 'lost' is not one of "),
    ({"plan": {}}, "$.plan: {} is not valid under any of the given schemas"),
    ({"units": [{"name": 1, "active": "", "enablement": ""}]}, "$.units[0].name: 1 is not of type 'string'"),
    ({"extra": 1}, "$: Additional properties are not allowed ('extra' was unexpected)"),
])
def test_what_breaks_the_contract_is_found(change, found):
    status = json.loads((GOLDEN / "status-joining.json").read_text())
    [problem] = problems({**status, **change}, schema_of("Status"))
    assert problem.startswith(found)


def schemas(node):
    """Every schema below a node, by the keyword that all of ours have."""
    if isinstance(node, dict):
        yield from [node] if {"type", "oneOf", "$ref"} & node.keys() else []
        for name, value in node.items():
            # the members of an object have names of their own, which are no keywords
            yield from (found for item in value.values() for found in schemas(item)) if name == "properties" \
                else schemas(value)
    elif isinstance(node, list):
        yield from (found for item in node for found in schemas(item))


def test_every_keyword_of_the_contract_is_checked():
    """A keyword that is misspelt would say nothing."""
    for schema in schemas(CONTRACT["components"]["schemas"]):
        assert schema.keys() <= Draft202012Validator.VALIDATORS.keys() | NOTES, schema


def documented(path: str, status: int) -> dict:
    """The response of the contract; a path that is not in it is a 404, unless the Host header was refused before."""
    if path not in CONTRACT["paths"]:
        assert status in (404, 421), f"{path} answers {status}"
        return resolved(CONTRACT["components"]["responses"]["Problem"])
    [operation] = CONTRACT["paths"][path].values()
    return resolved(operation["responses"][str(status)])


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer['method']}-{answer['path']}-{answer['status']}")
def test_an_answer_is_documented(answer):
    response = documented(answer["path"], answer["status"])
    content = response.get("content", {})
    assert answer["status"] == 304 or answer["contentType"] in content
    assert answer["headers"].keys() == response["headers"].keys()
    for name, value in answer["headers"].items():
        assert problems(value, resolved(response["headers"][name])["schema"]) == [], name
    if answer["contentType"] == "application/problem+json":
        assert problems(answer["problem"], content[answer["contentType"]]["schema"]) == []
        assert answer["problem"]["status"] == answer["status"]


def test_everything_documented_was_answered():
    promised = {(path, int(status)) for path, item in CONTRACT["paths"].items()
                for operation in item.values() for status in operation["responses"]}
    assert promised <= {(answer["path"], answer["status"]) for answer in ANSWERS}


def test_the_page_and_the_contract_tell_the_phases_in_the_same_words():
    phases = schema_of("Phase")
    assert list(phases["x-enum-descriptions"]) == phases["enum"]
    page = (TOP / "api/www/page.js").read_text()
    english, chinese = page.split("zh: {")
    for name, sentence in phases["x-enum-descriptions"].items():
        assert f'{name}: "{sentence}"' in english
        assert re.search(rf'^      {name}: "', chinese, re.MULTILINE), name


def test_the_phases_and_verbs_are_those_of_the_model():
    assert words()["phases"] == schema_of("Phase")["enum"]
    verb = schema_of("Operation")["properties"]["verb"]
    assert words()["verbs"] == verb["enum"] == list(verb["x-enum-descriptions"])
