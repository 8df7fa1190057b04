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
    "is not a path in a JSON document": "parses a path",
    "must be a program that exists": "looks at the machine",
    "must be a directory or a file that exists": "looks at the machine",
    "has a NUL byte": "holds for every text of every file",
}

GOOD_NAMES = ["a", "lint-7", "größe", "x" * 200, "a.b", "..."]
BAD_NAMES = ["", "a b", "a/b", "x" * 201, "a\tb", "a\u202eb", ".", "..", "a\n", 5, None, True]
WRONG = [None, True, -1, 0, 1.5, "", "x", [], {}, [1], {"a": 1}, "two words"]
DURATIONS = ["30s", "20m", "1h30m", " 500 ms", "0s", "0h0m", "soon", "90", "5s\n", "-5s", "1" * 13 + "s", 1, 0.5, 0, -5]
DURATIONS += [True, "1h" * 50, "1h" * 51]
COUNTS = [1, 7, 0, -1, "1", 1.5, True]
AMOUNTS = [0, 0.5, 3, -1, -0.1, "1", True]
COMMANDS = [["x"], ["x", ""], [" "], ["", "x"], [], "x", ["x", 3], [3]]
FUNCTIONS = ["a:b", "a.b:c.d", "größe:x", "", "a", "a:", ":b", "1:b", "a b:c", "a:b\n", 3]
ENVS = [{}, {"A": "x"}, {"A=B": "x"}, {"": "x"}, {"A": 1}, []]
TABLES_OF_AMOUNTS = [{}, {"gpu": 1}, {"gpu": -1}, {"gpu": "1"}, {"gpu": 1, "cpu": 0.5}]
VARIABLES = ["", "KEY", "_a1", "sk-123", "1A", "A B", "KEY\n", 3]
ADDRESSES = ["http://127.0.0.1:11434/v1", "https://x", "HTTP://x/y?z#a", "http://[::1]:80/", "ftp://x", "http://", "x"]
ADDRESSES += ["http://me:sk@x/v1", "http://me@x", "http://x:65536/", "http://x:65535/", "http://x y/", "http://x/a@b"]
ADDRESSES += ["http://[::1/v1", "", 3]
CLAIMS = [None, {}, {"write": ["a"]}, {"wirte": ["a"]}, {"write": "a"}, {"read": [3]}, ["a"], {"read": ["../x"]}]
TEXTS = ["", "x", "two words", 3, None, ["x"]]
FLAGS = [True, False, 0, "yes", None]
LISTS = [[], ["x"], ["x", "y"], "x", [1], None]

TASK: dict[str, list[Any]] = {
    "id": GOOD_NAMES + BAD_NAMES,
    "kind": [*GOOD_NAMES, *BAD_NAMES, "co*", "a?", "[a"],
    "title": [*TEXTS, "x" * 10_000, "x" * 10_001],
    "priority": [0, 1, 4, 5, -1, 1.5, "1", "P1", "high", True, None],
    "needs": LISTS,
    "claims": CLAIMS,
    "run": COMMANDS,
    "call": FUNCTIONS,
    "prompt": TEXTS,
    "args": [None, {}, {"a": [1, {"b": None}]}, [1], "x"],
    "check": COMMANDS,
    "env": [*ENVS, None],
    "cwd": ["", "src", "a/b", "../x", "/tmp", 3],
    "workspace": ["", "worktree", "other", True],
    "save": ["", "docs/{id}.md", "../x", "a*", ".git/x", 3],
    "stage": ["", "draft", "planned", "idea", True],
    "keep": [[], ["build/*.html"], ["../x"], ["db:main"], "x", [3]],
    "approve": [True, False, "yes", 1],
    "timeout": [*DURATIONS, None],
    "attempts": COUNTS,
    "parent": TEXTS,
    "host": TEXTS,
    "preemptible": FLAGS,
    "barrier": [*FLAGS, "x"],
    "family": GOOD_NAMES + BAD_NAMES,
    "once": FLAGS,
    "deferred": [*FLAGS, "after the release", "x ", " x", "a\nb", "a \n b", ""],
    "resources": [*TABLES_OF_AMOUNTS, None],
    "limits": [{"turns": 3, "cost": 0.5, "tokens": 100}, {"turns": 0}, {"cost": -1}, {"tokens": 1.5}, {"x": 1}, {}, 1],
    "labels": LISTS,
    "app": TEXTS,
    "reply_to": TEXTS,
    "timout": [3],
}
PLAN = {
    "name": TEXTS,
    "parents": [{}, {"a": 1}, {"a": 0}, {"a": "1"}, []],
    "concurrency": [*COUNTS, None],
    "fail_fast": FLAGS,
    "title": TEXTS,
    "goal": TEXTS,
    "description": TEXTS,
    "epics": [
        {},
        {"a": {}},
        {"a": {"title": "t", "goal": "g"}},
        {"a": {"titel": "t"}},
        {"a": "t"},
        {"a": {"goal": 1}},
        [],
    ],
    "lessons": FLAGS,
    "colour": [1],
}
HOST: dict[str, list[Any]] = {
    "kinds": [["*"], ["a", "b"], [], [""], "a", [1]],
    "width": [
        1,
        4,
        0,
        -1,
        "4",
        True,
        1.5,
        None,
        {},
        {"min": 2},
        {"start": 0},
        {"max": -1},
        {"mx": 1},
        {"min": 4, "max": 2},
    ],
    "lanes": [{}, {"a": 1}, {"a": 0}, {"a": "1"}, []],
    "rate": [None, {}, {"requests_per_minute": 1}, {"requests_per_minute": 0}, {"tokens_per_minute": -1}, {"rpm": 1}],
    "fallback": FLAGS,
    "resources": TABLES_OF_AMOUNTS,
    "prices": [None, {}, {"tokens_in": 1}, {"tokens_out": -1}, {"input": 1}],
}
GRACES = {"grace": DURATIONS}
HOSTS: dict[str, dict[str, list[Any]]] = {
    "shell": HOST | GRACES | {"env": ENVS, "cwd": ["", "src", "../x"], "probe": ["local", "none", "ollama", 3]},
    "python": HOST | GRACES | {"probe": ["local", "nvml", "vllm"], "url": ["http://x"]},
    "openai": HOST
    | {"url": ADDRESSES, "model": ["m", "", " ", 3], "api_key_env": VARIABLES, "api": ["chat", "completions"]}
    | {
        "system": TEXTS,
        "stream": FLAGS,
        "probe": ["ollama", "olama", {"run": ["x"]}, {"run": []}, {"url": "http://b:1"}, {"x": 1}],
        "api_key": ["sk"],
    },
    "worker": HOST
    | {"url": ADDRESSES, "models": [[], ["m"], ["n"], "m", [1]], "model": ["", "m", "n", 3], "api_key_env": VARIABLES}
    | {"threads": [0, 3, -1, 1.5], "device": ["auto", "cuda", "tpu"], "system": TEXTS},
    "ray": HOST
    | GRACES
    | {"place_within": DURATIONS, "models": [[], ["m"], ["n"], [1]], "model": ["", "m"], "env": ENVS}
    | {"address": ["local", "auto", "h:1", "[::1]:80", "ray://h:1", "h", "h:123456", "", "h:1\n", 3]}
    | {"nodes": [{}, {"a": "b"}, {"": "x"}, {" ": "x"}, {"a": 1}], "workspace": ["", "/a", "a", 3]},
}
SCALING = {
    "min": [0, 3, -1, 9, "1"],
    "max": [1, 4, 0, -1, True],
    "drain": DURATIONS,
    "idle": DURATIONS,
    "settle": DURATIONS,
    "cost_per_hour": AMOUNTS,
    "budget_per_hour": [*AMOUNTS, None],
    "worker": TABLES_OF_AMOUNTS,
    "maximum": [3],
}
SECTIONS: dict[str, dict[str, list[Any]]] = {
    "store": {
        "dir": [".m", "", " ", 3],
        "url": ["", "postgresql://u@h/d", "mysql://h", 3],
        "durability": ["power", "x", 3],
    },
    "landing": {
        "strategy": ["three-way", "last-wins", "ours"],
        "target": TEXTS,
        "dirty": ["refuse", "stash", "keep"],
        "check": FLAGS,
        "pull_request": FLAGS,
    },
}
MODEL = {
    "path": ["m", "", 3],
    "package": ["", "p", 3],
    "task": ["", "embed", "dance"],
    "backend": ["", "onnx", "jax"],
    "pinned": FLAGS,
    "priority": [0, 4, 5, -1, "1"],
    "weight": AMOUNTS,
    "truncate": FLAGS,
    "length_max": [*COUNTS, None],
    "slots": COUNTS,
    "context": [64, 63, 2048, "64"],
    "name": ["n"],
}
BACKLOG = {
    "plan": ["", "p.toml", 3],
    "beads": ["", ".", 3],
    "redis": [None, {"stream": "s"}, {"stream": " "}, {"stream": "s", "take": 0}, "s"],
    "postgres": [None, {"url_env": "A", "table": "t"}, {"url_env": "A"}, {"url_env": "A", "table": "a b"}],
    "github": [None, {"repository": "a/b"}, {"repository": "a"}, {"repository": "a/b", "label": " "}, "a/b"],
    "markdown": ["", "tasks", 3],
    "save": ["", "docs/{id}.md", 3],
    "weight": AMOUNTS,
    "run": COMMANDS,
    "call": FUNCTIONS,
    "args": [None, {}, []],
    "check": COMMANDS,
    "workspace": ["", "worktree", "x"],
    "claims": CLAIMS,
    "timeout": [*DURATIONS, None],
    "attempts": COUNTS,
    "kinds": [{}, {"a": ["b"]}, {"a": "b"}],
    "otherwise": TEXTS,
    "conditional": ["on-failure", "on-close", "never"],
}
FAMILY = {
    "host": ["h", "g", 3],
    "snapshot": COMMANDS,
    "disrupt": COMMANDS,
    "healthy": COMMANDS,
    "revert": COMMANDS,
    "healthy_within": DURATIONS,
    "on_failure": ["revert", "bisect", "x"],
    "order": [None, 3, -1, "1"],
}
SINKS: dict[str, dict[str, list[Any]]] = {
    "file": {"path": ["r.jsonl", "", " ", "a/", 3], "name": TEXTS},
    "webhook": {"url": ADDRESSES, "url_env": VARIABLES, "secret_env": VARIABLES, "timeout": DURATIONS},
    "redis": {
        "url": ["redis://h:1/0", "rediss://h", "redis://:p@h", "redis://u:p@h", "unix:///s", "http://h", 3],
        "password_env": VARIABLES,
        "stream": ["s", "", " ", 3],
    },
    "postgres": {"url_env": VARIABLES, "table": ["t", "a.b", "a.b.c", "1", "", "t\n", 3]},
}
ROUTE = {
    "reply_to": [[], ["https://x/"], ["https://x"], ["x/"], ["https://me:p@x/"], "https://x/", [3]],
    "reply_secret_env": VARIABLES,
    "endings": [["done"], ["done", "failed"], ["lost"], "done"],
    "order": ["app", "task", "x"],
    "tries": COUNTS,
    "try": [1],
}
RULE = {"kind": ["a", 3], "after": ["b", 3], "left": [0, 3, -1, 1.5], "right": [1]}
EVAL = {
    "name": [*GOOD_NAMES, *BAD_NAMES],
    "replications": COUNTS,
    "sessions": COUNTS,
    "seed": [0, -3, "1", 1.5],
    "interleave": FLAGS,
    "order": ["drawn", "swap", "x"],
    "concurrency": [1, 8, "auto", 0, -1, "many", "auto\n", True, 1.5, None],
    "timeout": DURATIONS,
    "baseline": ["", "one", "x", 3],
    "null_arm": FLAGS,
    "stop_when_decided": FLAGS,
}
ARM = {
    "name": GOOD_NAMES + BAD_NAMES,
    "run": COMMANDS,
    "call": FUNCTIONS,
    "prompt": TEXTS,
    "args": [None, {}, []],
    "env": [*ENVS, None],
    "kind": TEXTS,
    "host": TEXTS,
    "prices": HOST["prices"],
    "same_as": ["", "one", "x"],
}
CASE = {
    "name": GOOD_NAMES + BAD_NAMES,
    "prompt": TEXTS,
    "prompts": LISTS,
    "files": ["", "nosuch", 3],
    "values": [{}, {"a": "b"}, {"a": 1}],
    "expect": [None, 3, "x", {}],
    "cluster": TEXTS,
}
SCORER = {
    "name": GOOD_NAMES + BAD_NAMES,
    "type": ["done", "file", "contains", "regex", "json", "command", "tests", "python", "pairwise", "x", 3],
    "file": ["", "x", "../x", 3],
    "text": TEXTS,
    "pattern": ["", "a+", "(", 3],
    "path": ["", "a.b[0]", "a..b", 3],
    "equals": [None, 3],
    "run": COMMANDS,
    "call": FUNCTIONS,
    "host": TEXTS,
    "question": TEXTS,
    "timeout": DURATIONS,
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
CONFIG = Validator(config_schema())
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
    model = draw(tables(MODEL, path="m"))
    kind = draw(st.sampled_from(sorted(HOSTS)))
    base = {"url": "http://x/v1", "model": "m"} if kind == "openai" else {}
    host = draw(tables(HOSTS[kind], type=kind, **base))
    if kind == "ray" and draw(st.booleans()):
        host |= {"models": ["m"], "scaling": draw(tables(SCALING))}
    steps = {step: ["x"] for step in ("snapshot", "disrupt", "healthy", "revert")}
    sink_type = draw(st.sampled_from(sorted(SINKS)))
    sink_base = {
        "file": {"path": "r"},
        "webhook": {"url": "http://x"},
        "redis": {"stream": "s"},
        "postgres": {"url_env": "U", "table": "t"},
    }
    parts: dict[str, Any] = {
        "hosts": {"h": host},
        "models": {"m": model},
        "backlogs": [draw(tables(BACKLOG, plan="p.toml") | tables(BACKLOG, beads="."))],
        "families": {
            draw(st.sampled_from(["f", *GOOD_NAMES, "a b", "..", ""])): draw(tables(FAMILY, host="h", **steps))
        },
        "routes": {
            "r": draw(tables(ROUTE))
            | {"sinks": [draw(tables(SINKS[sink_type], type=sink_type, **sink_base[sink_type]))]}
        },
        "rules": [draw(tables(RULE, kind="a", after="b"))],
        "store": draw(tables(SECTIONS["store"])),
        "landing": draw(tables(SECTIONS["landing"])),
    }
    wanted = draw(st.sampled_from(sorted(parts)))
    chosen = {wanted: parts[wanted]}
    if wanted == "families":
        chosen["hosts"] = {"h": {"type": "shell"}}
    if wanted == "hosts":
        chosen["models"] = {"m": {"path": "m"}}
    return chosen


@LOOK
@given(document=configs())
def test_configs(document: dict[str, Any]) -> None:
    assert disagreement(refusals_of_config(document), CONFIG, document) == ""


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
    """TOML has no null: a document with one is not tried."""
    assume(value is not None)
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
