"""The JSON Schema of plans: what editors check and complete by, drawn from the types the reader goes by."""

from typing import Any

import msgspec

from manyhands.core.values.task import WORKTREE, Task
from manyhands.readers.durations import DURATION_PATTERN
from manyhands.readers.name_rules import NAME_MAX
from manyhands.sources.plans.plan_settings import PlanSettings
from manyhands.sources.plans.task_fields import CALL_PATTERN, TITLE_MAX

DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: Blanks, control characters and slashes are what the reader refuses; of those, the ones a pattern can name.
NAME = {"type": "string", "minLength": 1, "maxLength": NAME_MAX, "pattern": r"^[^\s/\u0000-\u001f\u007f-\u009f]+$"}
DURATION = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": DURATION_PATTERN}]}

_NOTES = {
    "id": "the task's own name, unique over all files of the plan",
    "kind": "what sort of work it is: routing, difficulty and colour go by it; default: shell, python or text",
    "title": "one line for people",
    "priority": "0 critical … 4 backlog, default 2",
    "needs": "ids of tasks that must be done before this one starts",
    "claims": "paths (globs) or named resources it uses; {} touches nothing; left out, it has the workspace alone",
    "run": "the command and its arguments, for a shell host; {prompt} and other fields are filled in",
    "call": "package.module:function, for a python host",
    "prompt": "what a model or an agent is asked",
    "args": "arguments of `call`, or extra request fields of a model call",
    "check": "a command that must pass for an attempt to count as done",
    "env": "environment variables of the command",
    "cwd": "working directory, relative to the workspace",
    "workspace": "a git worktree of its own, from which its work lands; left out, the shared one",
    "timeout": 'how long an attempt may take: "20m", "1h30m", or seconds',
    "attempts": "how often it is tried, default 3",
    "parent": "the larger piece of work it belongs to",
    "host": "run on this host only",
    "preemptible": "may be stopped for a task of priority 0",
    "barrier": "wants its host alone",
    "family": "a family of the config: done together around one disruptive step, `check` made after it",
    "once": "an attempt that was interrupted is not made again",
    "deferred": "waits until a person resumes it: true, or why",
    "resources": "what it takes of what hosts have",
    "labels": "words to find it by",
    "app": "the app its result belongs to",
    "reply_to": "where its result is delivered",
}
_RULES: dict[str, dict[str, Any]] = {
    "id": NAME,
    "title": {"maxLength": TITLE_MAX},
    "priority": {"minimum": 0, "maximum": 4},
    "attempts": {"minimum": 1},
    "barrier": {"type": "boolean"},
    "deferred": {"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": "\\S .*\\S"}]},
    "timeout": {"anyOf": [*DURATION["anyOf"], {"type": "null"}]},
    "call": {"pattern": f"^({CALL_PATTERN})?$"},
    "workspace": {"enum": ["", WORKTREE]},
    "env": {"propertyNames": {"pattern": "^[^=]+$"}},
    "resources": {"additionalProperties": {"type": "number", "minimum": 0}},
}
_HAS_WORK = [
    {"required": ["run"], "properties": {"run": {"minItems": 1}}},
    {"required": ["call"], "properties": {"call": {"minLength": 1}}},
    {"required": ["prompt"], "properties": {"prompt": {"minLength": 1}}},
]


def plan_schema() -> dict[str, Any]:
    """Of a TOML, YAML or JSON file. A row of a JSONL file is held to `#/$defs/Row`."""
    _, definitions = msgspec.json.schema_components((Task, PlanSettings), ref_template="#/$defs/{name}")
    task = definitions["Task"]
    for name, field in task["properties"].items():
        if name == "barrier":
            field.clear()  # names are for families
            field["default"] = False
        field.update(_RULES.get(name, {}), description=_NOTES[name])
    task["anyOf"] = _HAS_WORK
    task["not"] = {"allOf": _HAS_WORK[:2]}
    settings = definitions["PlanSettings"]["properties"]
    settings["concurrency"] = {"type": "integer", "minimum": 1, "description": "the most attempts at once"}
    settings["parents"]["additionalProperties"] = {"type": "integer", "minimum": 1}
    settings["parents"]["description"] = "parent → the most of its children at once"
    document = {
        "type": "object",
        "properties": {
            "plan": {"$ref": "#/$defs/PlanSettings"},
            "task": {"type": "array", "items": {"$ref": "#/$defs/Task"}},
        },
        "additionalProperties": False,
    }
    settings_row = {"type": "object", "properties": {"plan": {"$ref": "#/$defs/PlanSettings"}}}
    definitions["Row"] = {
        "anyOf": [
            {"$ref": "#/$defs/Task"},
            settings_row | {"required": ["plan"], "additionalProperties": False},
        ]
    }
    return {
        "$schema": DIALECT,
        "title": "manyhands plan",
        "anyOf": [document, {"type": "array", "items": {"$ref": "#/$defs/Task"}}],
        "$defs": definitions,
    }
