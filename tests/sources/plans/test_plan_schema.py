"""The schema accepts what the reader accepts, and refuses the same field names and types."""

import json
import tomllib
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from manyhands.core.values.task import Task
from manyhands.readers.problems import Problems, sheet_of_row
from manyhands.sources.plans.plan_schema import plan_schema
from manyhands.sources.plans.task_rows import task_from
from sources.plans.test_bad_plans import GOOD
from sources.plans.test_good_plans import ROWS, TOML, YAML

SCHEMA = plan_schema()
DOCUMENT = Draft202012Validator(SCHEMA)
ROW = Draft202012Validator({"$ref": "#/$defs/Row", "$defs": SCHEMA["$defs"]})


def test_it_is_a_schema_and_can_be_printed() -> None:
    Draft202012Validator.check_schema(json.loads(json.dumps(SCHEMA)))


@pytest.mark.parametrize("document", [tomllib.loads(TOML), tomllib.loads(GOOD), yaml.safe_load(YAML), ROWS[1:]])
def test_good_plans_are_valid(document: Any) -> None:
    assert [error.message for error in DOCUMENT.iter_errors(document)] == []


@pytest.mark.parametrize("row", ROWS)
def test_good_rows_are_valid(row: dict[str, Any]) -> None:
    assert [error.message for error in ROW.iter_errors(row)] == []


@pytest.mark.parametrize(
    "fields",
    [
        {"timout": 3},
        {"run": "x"},
        {"run": ["x", 3]},
        {"run": []},
        {"call": "a:b"},
        {"id": "a b"},
        {"id": "a/b"},
        {"id": ""},
        {"id": "x" * 201},
        {"id": 5},
        {"title": "x" * 10_001},
        {"title": None},
        {"priority": 5},
        {"priority": "P1"},
        {"priority": 1.5},
        {"timeout": -5},
        {"timeout": 0},
        {"timeout": "soon"},
        {"timeout": True},
        {"attempts": 0},
        {"needs": "a"},
        {"claims": ["src"]},
        {"claims": {"wirte": ["a"]}},
        {"claims": {"write": "a"}},
        {"env": {"A=B": "x"}},
        {"env": {"A": 1}},
        {"resources": {"gpu": -1}},
        {"deferred": "yes"},
        {"labels": [1]},
        {"args": [1]},
    ],
    ids=str,
)
def test_what_the_reader_refuses_the_schema_refuses(fields: dict[str, Any]) -> None:
    row = {"id": "a", "run": ["x"]} | fields
    problems = Problems()
    assert task_from(row, sheet_of_row("p", 1, problems)) is None
    assert not ROW.is_valid(row)


@pytest.mark.parametrize("document", [{"tasks": []}, {"plan": {"nam": "x"}, "task": []}, {"task": {}}, "x"])
def test_so_it_does_with_the_document_around_them(document: Any) -> None:
    assert not DOCUMENT.is_valid(document)


def test_every_field_is_described() -> None:
    task = SCHEMA["$defs"]["Task"]["properties"]
    assert list(task) == list(Task.__struct_fields__)
    assert all(field["description"] for field in task.values())
