"""Whatever a plan, a config or an eval spec says: its reader takes it exactly when its JSON Schema does.

Documents are generated from lists of good and bad values for each field, so that every rule is met and broken. What the
two cannot agree on is named in `BEYOND_A_SCHEMA`, and nothing else is left out.
"""

import contextlib
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from manyhands.apps.evals.spec.spec_file import SpecRefused, read_spec
from manyhands.apps.evals.spec.spec_schema import spec_schema
from manyhands.core.values.host import Width
from manyhands.core.values.task import Task
from manyhands.readers.problems import Problem, Problems, sheet_of_row
from manyhands.sources.config.config_reading import ConfigRefused, load_config
from manyhands.sources.config.config_schema import config_schema
from manyhands.sources.plans.plan_schema import plan_schema
from manyhands.sources.plans.quick_rows import quick_task
from manyhands.sources.plans.task_rows import task_from
from sources.field_values import (
    ARM,
    BAD_NAMES,
    BASES,
    CASE,
    CONFIG,
    EVAL,
    GOOD_NAMES,
    PLAN,
    SCORER,
    TASK,
    WRONG,
    config_with,
)

#: Words of a refusal → why no JSON Schema can say it. These documents are refused by the reader alone.
BEYOND_A_SCHEMA = {
    "must have min ≤ start ≤ max": "compares three fields of a width",
    "reads this machine, but the server": "compares the probe of a host with its address",
    "must be at most `max`": "compares two fields of a scaling",
    "a budget needs `cost_per_hour`": "compares two fields of a scaling",
    "must pay for at least": "multiplies two fields of a scaling",
    "must say what a worker reserves": "looks for one amount above 0 among all",
    "this host has none": "`scaling` needs `models` that are not empty",
    "must be a host of the config": "compares a family with the hosts",
    "must be a model of [models.…]": "compares a host with the models",
    "there is no model for this host": "compares a host with the models",
    "a model has either": "one of two fields of a model, and not both",
    "a backlog has": "one of several fields of a backlog, and no more",
    "is not for a `plan`": "depends on another field of the backlog",
    "must have five fields": "parses a schedule",
    "has a bad ": "parses a schedule",
    "never comes": "parses a schedule",
    "has a time zone that": "looks at the machine",
    "is for a `plan` alone": "depends on another field of the backlog",
    "is for a `schedule`": "depends on another field of the backlog",
    "is for issues alone": "depends on another field of the backlog",
    "only a command or an agent can have a worktree": "depends on another field of the backlog",
    "must be given, or `url_env` instead": "one of two fields of a sink, and not both",
    "a route has sinks, or": "one of two fields of a route, or both",
    "two sinks have the same name": "compares the sinks of a route",
    "leaves the workspace": "follows a path, name by name",
    "must be relative to the workspace": "follows a path, name by name",
    "must be the path of one file": "follows a path, name by name",
    "must not be inside `.git`": "follows a path, name by name",
    "must be a path or a glob": "tells files from named resources",
    "must not have braces": "reads a glob",
    "must be the name of an arm": "compares the settings of an eval with its arms",
    "has only one arm": "counts arms, the null arm among them",
    "has both `": "one of two fields, and not both",
    "must have one prompt for each of the": "compares a case with the settings of the eval",
    "is already the name of": "compares rows of the eval",
    "a scorer of type": "depends on the type of the scorer",
    "needs `": "a scorer's field that is there and empty",
    "has no `text`, and case": "compares a scorer with the cases",
    "has no `run` and no `call`, so case": "compares an arm with the cases",
    "an eval that runs arm by arm": "compares two settings",
    "an arm with `same_as` cannot have other": "depends on another field of the arm",
    "is not a regular expression": "parses a regular expression",
    "must be a regular expression": "parses a regular expression",
    "only an agent that speaks ACP": "compares the sessions of a host with its agent",
    "an agent over ACP has the home": "compares the home of a host with its agent",
    "a shared process cannot be confined": "compares the confinement of a host with its sessions",
    "is not a path in a JSON document": "parses a path",
    "must be a program that exists": "looks at the machine",
    "must be a directory or a file that exists": "looks at the machine",
    "has a NUL byte": "holds for every text of every file",
}


def tables(fields: dict[str, list[Any]], **base: Any) -> st.SearchStrategy[dict[str, Any]]:
    """A good table of which up to three fields are set to any of their values, or left out."""

    @st.composite
    def table(draw: st.DrawFn) -> dict[str, Any]:
        made = dict(base)
        for name in draw(st.lists(st.sampled_from(sorted(fields)), max_size=3, unique=True)):
            made[name] = draw(
                st.sampled_from([*fields[name], *WRONG])
                if draw(st.integers(0, 9)) == 0
                else st.sampled_from(fields[name])
            )
        for name in (
            draw(st.lists(st.sampled_from(sorted(base)), max_size=1)) if base and draw(st.integers(0, 9)) == 0 else ()
        ):
            made.pop(name, None)
        return made

    return table()


def pattern_as_in_ecmascript(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """JSON Schema says so: `$` is the end of the text. Python's `$` also stands before a last newline."""
    if validator.is_type(instance, "string") and not re.search(pattern.replace("$", r"\Z"), instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


Validator = extend(Draft202012Validator, {"pattern": pattern_as_in_ecmascript})
PLAN_SCHEMA = plan_schema()
ROW = Validator({"$ref": "#/$defs/Row", "$defs": PLAN_SCHEMA["$defs"]})
CONFIG_SCHEMA = Validator(config_schema())
SPEC = Validator(spec_schema())
LOOK = settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def disagreement(refusals: list[Problem], schema: Any, document: Any) -> str:
    """What the reader and the schema say of the document if only one of them refuses it; "" if they agree."""
    by_schema = [error.message for error in schema.iter_errors(document)]
    told = [problem.message for problem in refusals]
    if not by_schema and told and all(any(words in message for words in BEYOND_A_SCHEMA) for message in told):
        return ""
    if bool(told) == bool(by_schema):
        return ""
    return f"{document}\nthe reader: {told}\nthe schema: {by_schema}"


@LOOK
@given(row=tables(TASK, id="a", run=["x"]) | tables(TASK, id="a", prompt="x"))
def test_rows_of_plans(row: dict[str, Any]) -> None:
    problems = Problems()
    task = task_from(row, sheet_of_row("p", 1, problems))
    assert disagreement(problems.kept, ROW, row) == ""
    quick = quick_task(json.dumps(row).encode())
    assert quick is None or quick == task, "the short way takes nothing that the long way refuses or reads otherwise"


@LOOK
@given(table=tables(PLAN))
def test_settings_of_plans(table: dict[str, Any]) -> None:
    from manyhands.sources.plans.plan_settings import settings_from

    problems = Problems()
    settings_from(table, sheet_of_row("p", 1, problems))
    assert disagreement(problems.kept, ROW, {"plan": table}) == ""


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Any]:
    struct = draw(st.sampled_from(sorted(CONFIG)))
    table = draw(tables(CONFIG[struct], **draw(st.sampled_from(BASES.get(struct, [{}])))))
    return config_with(struct, table)


@LOOK
@given(document=configs())
def test_configs(document: dict[str, Any]) -> None:
    assume(not has_null(document))
    assert disagreement(refusals_of_config(document), CONFIG_SCHEMA, document) == ""


@pytest.mark.parametrize("struct", sorted(CONFIG))
def test_each_value_of_a_field_of_a_config(struct: str) -> None:
    """Not a sample: one field at a time, every value of it, on every good table."""
    tried = [
        config_with(struct, base | {field: value})
        for number, base in enumerate(BASES.get(struct, [{}]))
        for field, values in CONFIG[struct].items()
        for value in (values if number else [*values, *WRONG])
        if not has_null(value)
    ]
    found = [disagreement(refusals_of_config(document), CONFIG_SCHEMA, document) for document in tried]
    assert [each for each in found if each] == []


@pytest.mark.parametrize("name", [name for name in GOOD_NAMES + BAD_NAMES if isinstance(name, str)])
def test_names_of_tables_of_a_config(name: str) -> None:
    steps = BASES["FamilyConfig"][0]
    shell = {"type": "shell"}
    for document in (
        {"hosts": {name: shell}},
        {"models": {name: {"path": "m"}}},
        {"routes": {name: {"sinks": [{"type": "file", "path": "r"}]}}},
        {"budgets": {name: {"per": "day", "cost": 3}}},
        {"hosts": {"h": shell}, "families": {name: steps}},
    ):
        assert disagreement(refusals_of_config(document), CONFIG_SCHEMA, document) == ""


def has_null(value: Any) -> bool:
    """TOML has no null: a document with one is not tried."""
    if isinstance(value, dict):
        return any(map(has_null, value.values()))
    return value is None or (isinstance(value, list) and any(map(has_null, value)))


def refusals_of_config(document: dict[str, Any]) -> list[Problem]:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "manyhands.toml"
        file.write_text("".join(f"{name} = {in_toml(value)}\n" for name, value in document.items()))
        try:
            load_config(Path(directory), environ={})
        except ConfigRefused as refused:
            return refused.problems
        return []


def in_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {in_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(in_toml(item) for item in value) + "]"
    return json.dumps(value)


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "eval": draw(tables(EVAL)),
        "arm": [{"name": "one", "prompt": "{prompt}"}, draw(tables(ARM, name="two", call="a:b"))],
        "case": [draw(tables(CASE, name="case", prompt="x"))],
        "scorer": [draw(tables(SCORER, name="score", type="done"))],
    }
    good: dict[str, Any] = {
        "eval": {},
        "arm": [{"name": "one"}, {"name": "two"}],
        "case": [{"name": "case", "prompt": "x"}],
        "scorer": [{"name": "score", "type": "done"}],
    }
    wanted = draw(st.sampled_from(sorted(parts)))
    return good | {wanted: parts[wanted]}


@LOOK
@given(document=specs())
def test_eval_specs(document: dict[str, Any]) -> None:
    refusals: list[Problem] = []
    with tempfile.TemporaryDirectory() as directory, contextlib.suppress(OSError):
        file = Path(directory) / "spec.yaml"
        file.write_text(json.dumps(document))  # JSON is YAML
        try:
            read_spec(file)
        except SpecRefused as refused:
            refusals = refused.problems
    assert disagreement(refusals, SPEC, document) == ""


@pytest.mark.parametrize(("section", "fields"), [("Task", TASK), ("PlanSettings", PLAN)])
def test_every_field_of_a_plan_is_tried(section: str, fields: dict[str, Any]) -> None:
    assert set(PLAN_SCHEMA["$defs"][section]["properties"]) - set(fields) == set()


def test_every_field_of_a_config_is_tried() -> None:
    definitions = config_schema()["$defs"]
    left = {name: set(each["properties"]) - {"type"} - set(CONFIG.get(name, {})) for name, each in definitions.items()}
    assert {name: fields for name, fields in left.items() if fields} == {}


def test_decoding_a_journal_does_not_look_at_the_rules() -> None:
    """A journal holds what was valid when it was written, and what the engine made itself."""
    odd = {
        "id": "a b",
        "kind": "co*",
        "priority": 9,
        "attempts": 0,
        "timeout": -1.0,
        "title": "x" * 20_000,
        "run": [""],
    }
    odd |= {"workspace": "other", "env": {"A=B": "x"}, "resources": {"gpu": -1.0}, "deferred": "yes", "barrier": "f"}
    assert msgspec.json.decode(json.dumps(odd), type=Task).attempts == 0
    assert msgspec.json.decode('{"min": 0, "max": -1}', type=Width).max == -1
