"""The JSON Schema of specs: what editors check and complete by, drawn from the types the reader goes by."""

from typing import Any

import msgspec

from manyhands.apps.evals.spec.eval_types import Arm, Case, Scorer
from manyhands.apps.evals.spec.spec_checks import FIELDS_OF
from manyhands.apps.evals.spec.spec_file import SpecSettings
from manyhands.sources.plans.plan_schema import DIALECT, DURATION, NAME

NOTES: dict[str, dict[str, str]] = {
    "SpecSettings": {
        "name": "of the eval and its runs; default: the name of the file",
        "replications": "how often every arm runs on every case",
        "sessions": "of each trial, one after the other in the same directory",
        "seed": "of the order of the arms, and of MANYHANDS_SEED",
        "interleave": "arms take turns; otherwise one arm after the other",
        "order": "which arm goes first: drawn from the seed and balanced, or strictly in turn",
        "concurrency": "the most sessions at once, or auto",
        "timeout": "of a session",
        "baseline": "the arm that others are compared with; default: the first",
        "stop_when_decided": "runs case by case, and no more cases once every comparison is decided",
        "null_arm": "adds the baseline over again, as a check: it should not differ",
    },
    "Arm": {
        "name": "of the arm",
        "run": "the command and its arguments; {prompt} and other fields are filled in",
        "call": "package.module:function, instead of a command",
        "prompt": "the words around the case's {prompt}; {name} of its values too",
        "args": "arguments of `call`, or extra request fields of a model call",
        "env": "environment variables",
        "kind": "what sort of work it is: hosts are chosen by it",
        "host": "on this host only",
        "prices": "for a million tokens",
        "same_as": "a null arm: another arm over again",
    },
    "Case": {
        "name": "of the case",
        "prompt": "what is asked",
        "prompts": "what is asked in each session",
        "files": "a directory or file that every trial starts with a copy of, relative to the spec",
        "values": "for {name} in prompts",
        "expect": "what scorers compare with",
        "cluster": "cases of one cluster are not independent of each other",
    },
    "Scorer": {
        "name": "of the score",
        "type": "what it looks at",
        "file": "in the workspace; left out: what the last session put out",
        "text": "to be contained; left out: the case's `expect`",
        "pattern": "a regular expression; a group named `score` is the score",
        "path": "in a JSON document, like a.b[0].c",
        "equals": "what should be there",
        "run": "the command and its arguments",
        "call": "package.module:function; gets workspace, output, case and expect",
        "host": "an openai host of the config",
        "question": "what makes an answer the better one",
        "timeout": "of the command or call",
    },
}


def spec_schema() -> dict[str, Any]:
    _, definitions = msgspec.json.schema_components((SpecSettings, Arm, Case, Scorer), ref_template="#/$defs/{name}")
    for kind, notes in NOTES.items():
        for name, field in definitions[kind]["properties"].items():
            field["description"] = notes[name]
    for kind in ("SpecSettings", "Scorer"):
        definitions[kind]["properties"]["timeout"] |= DURATION
        definitions[kind]["properties"]["timeout"].pop("type", None)
    settings = definitions["SpecSettings"]["properties"]
    for name in ("replications", "sessions"):
        settings[name]["minimum"] = 1
    settings["concurrency"]["anyOf"] = [{"type": "integer", "minimum": 1}, {"const": "auto"}]
    for kind in ("Arm", "Case", "Scorer"):
        definitions[kind]["properties"]["name"] |= NAME
    definitions["Scorer"]["allOf"] = [
        {"if": {"properties": {"type": {"const": kind}}}, "then": {"required": list(required)}}
        for kind, (required, _) in FIELDS_OF.items()
        if required
    ]
    rows = {name: {"type": "array", "minItems": 1, "items": {"$ref": f"#/$defs/{kind}"}} for name, kind in _ROWS}
    return {
        "$schema": DIALECT,
        "title": "manyhands eval",
        "type": "object",
        "properties": {"eval": {"$ref": "#/$defs/SpecSettings"}, **rows},
        "required": [name for name, _ in _ROWS],
        "additionalProperties": False,
        "$defs": definitions,
    }


_ROWS = (("arm", "Arm"), ("case", "Case"), ("scorer", "Scorer"))
