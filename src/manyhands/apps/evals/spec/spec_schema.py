"""The JSON Schema of specs, for editors. It is made from the types that the reader uses."""

from typing import Any

import msgspec

from manyhands.apps.evals.spec.eval_types import Arm, Case, Scorer
from manyhands.apps.evals.spec.spec_checks import FIELDS_OF
from manyhands.apps.evals.spec.spec_file import SpecSettings
from manyhands.sources.plans.plan_schema import DIALECT, DURATION, NAME

NOTES: dict[str, dict[str, str]] = {
    "SpecSettings": {
        "name": "The name of the eval and of its runs. The default is the name of the file.",
        "replications": "how often every arm runs on every case",
        "sessions": "how many sessions a trial has, one after the other in the same directory",
        "seed": "decides the order of the arms and MANYHANDS_SEED",
        "interleave": "arms take turns; if false, one arm runs after the other",
        "order": "which arm is first: drawn from the seed and balanced, or strictly in turn",
        "concurrency": "how many sessions may run at once, or auto",
        "timeout": "how long a session may take",
        "baseline": "the arm that the others are compared with; the default is the first",
        "stop_when_decided": "run case by case, and begin no case once every comparison is decided",
        "null_arm": "repeat the baseline as an arm of its own, as a check: it should not differ",
    },
    "Arm": {
        "name": "the name of the arm",
        "run": "the command and its arguments; {prompt} and other fields are filled in",
        "call": "package.module:function, instead of a command",
        "prompt": "the prompt; {prompt} is the prompt of the case, {name} one of its values",
        "args": "arguments of `call`, or extra request fields of a model call",
        "env": "environment variables",
        "kind": "what sort of work it is; it decides which hosts may run it",
        "host": "run on this host only",
        "prices": "the prices of a million tokens",
        "same_as": "makes a null arm, which repeats the arm of this name",
    },
    "Case": {
        "name": "the name of the case",
        "prompt": "what the agent is asked to do",
        "prompts": "what the agent is asked to do in each session",
        "files": "a directory or file that every trial starts with a copy of, relative to the spec",
        "values": "replace {name} in prompts",
        "expect": "what scorers compare with",
        "cluster": "cases of one cluster are not independent of each other",
    },
    "Scorer": {
        "name": "the name of the score",
        "type": "what is scored",
        "file": "a file in the workspace; if left out, the output of the last session",
        "text": "the text to look for; if left out, the `expect` of the case",
        "pattern": "a regular expression; a group named `score` is the score",
        "path": "a path in a JSON document, like a.b[0].c",
        "equals": "the expected value; if left out, the `expect` of the case",
        "run": "the command and its arguments",
        "call": "package.module:function; gets workspace, output, case and expect",
        "host": "an openai host of the config, which judges",
        "question": "what makes an answer better",
        "timeout": "how long the command or call may take",
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
