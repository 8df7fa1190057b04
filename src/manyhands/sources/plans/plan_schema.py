"""The JSON Schema of plans, for editors: drawn from the declarations that the reader reads by."""

from typing import Any

from manyhands.core.values.task import Task
from manyhands.readers.json_schema import DIALECT, definitions_of, reference
from manyhands.sources.plans.plan_settings import PlanSettings

_HAS_WORK = [
    {"required": ["run"], "properties": {"run": {"minItems": 1}}},
    {"required": ["call"], "properties": {"call": {"minLength": 1}}},
    {"required": ["prompt"], "properties": {"prompt": {"minLength": 1}}},
]
_HAS_WORKTREE = {"required": ["workspace"], "properties": {"workspace": {"minLength": 1}}}
_WAITS_FOR_APPROVAL = {"required": ["approve"], "properties": {"approve": {"const": True}}}


def plan_schema() -> dict[str, Any]:
    """Of a TOML, YAML or JSON file. JSON may be a list of tasks alone; a row of JSONL is held to `#/$defs/Row`."""
    definitions = definitions_of((Task, PlanSettings))
    definitions["Task"] |= {
        "anyOf": _HAS_WORK,
        "not": {"allOf": _HAS_WORK[:2]},
        "allOf": [
            {"if": _HAS_WORKTREE, "then": {"not": _HAS_WORK[1]}},
            {"if": _WAITS_FOR_APPROVAL, "then": _HAS_WORKTREE},
        ],
    }
    settings_row = {"type": "object", "properties": {"plan": reference(PlanSettings)}}
    definitions["Row"] = {
        "anyOf": [reference(Task), settings_row | {"required": ["plan"], "additionalProperties": False}]
    }
    return {
        "$schema": DIALECT,
        "title": "manyhands plan",
        "type": ["object", "array"],
        "properties": {
            "plan": reference(PlanSettings),
            "task": {"type": "array", "items": reference(Task)},
        },
        "additionalProperties": False,
        "items": reference(Task),
        "$defs": definitions,
    }
