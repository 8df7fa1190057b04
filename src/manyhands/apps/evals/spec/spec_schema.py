"""The JSON Schema of specs, for editors: drawn from the declarations that the reader reads by."""

from typing import Any

from msgspec import Struct

from manyhands.apps.evals.spec.eval_types import Arm, Case, Scorer
from manyhands.apps.evals.spec.spec_checks import FIELDS_OF
from manyhands.apps.evals.spec.spec_file import SpecSettings
from manyhands.readers.json_schema import DIALECT, definitions_of, reference

_ROWS: dict[str, type[Struct]] = {"arm": Arm, "case": Case, "scorer": Scorer}


def spec_schema() -> dict[str, Any]:
    definitions = definitions_of((SpecSettings, Arm, Case, Scorer))
    definitions["Scorer"]["allOf"] = [
        {"if": {"properties": {"type": {"const": kind}}}, "then": {"required": list(required)}}
        for kind, (required, _) in FIELDS_OF.items()
        if required
    ]
    rows = {name: {"type": "array", "minItems": 1, "items": reference(kind)} for name, kind in _ROWS.items()}
    return {
        "$schema": DIALECT,
        "title": "manyhands eval",
        "type": "object",
        "properties": {"eval": reference(SpecSettings), **rows},
        "required": list(_ROWS),
        "additionalProperties": False,
        "$defs": definitions,
    }
