"""The JSON Schema of `manyhands.toml`, for editors: drawn from the declarations that the reader reads by."""

from typing import Any, get_args

from manyhands.core.values.host import Rule
from manyhands.core.values.spending_limit import SpendingLimit
from manyhands.field_rules import Name
from manyhands.readers.json_schema import DIALECT, Schema, by_type, definitions_of, reference, schema_of, table_of
from manyhands.sources.config.agent_config import AgentName
from manyhands.sources.config.config_types import HOST_TYPES, BacklogConfig, StoreConfig
from manyhands.sources.config.family_config import FamilyConfig
from manyhands.sources.config.landing_config import LandingConfig
from manyhands.sources.config.route_config import SINK_TYPES, RouteConfig
from manyhands.sources.config.tell_config import TellConfig
from manyhands.worker.values.model_config import ModelConfig


def config_schema() -> dict[str, Any]:
    sections = (
        Rule,
        StoreConfig,
        BacklogConfig,
        LandingConfig,
        FamilyConfig,
        ModelConfig,
        RouteConfig,
        SpendingLimit,
        TellConfig,
    )
    definitions = definitions_of((*HOST_TYPES.values(), *SINK_TYPES.values(), *sections))
    sinks = definitions["RouteConfig"]["properties"]["sinks"]
    sinks["items"] = by_type(SINK_TYPES)
    _add_rules_between_fields(definitions)
    names = schema_of(Name)
    return {
        "$schema": DIALECT,
        "title": "manyhands.toml",
        "type": "object",
        "properties": {
            "hosts": table_of(names, by_type(HOST_TYPES)),
            "families": table_of(names, reference(FamilyConfig)),
            "routes": table_of(names, reference(RouteConfig)),
            "budgets": table_of(names, reference(SpendingLimit)),
            "tell": {"type": "array", "items": reference(TellConfig)},
            "rules": {"type": "array", "items": reference(Rule)},
            "store": reference(StoreConfig),
            "landing": reference(LandingConfig),
            "backlogs": {"type": "array", "items": reference(BacklogConfig)},
            "models": table_of(names, reference(ModelConfig)),
        },
        "additionalProperties": False,
        "$defs": definitions,
    }


def _given(field: str, rule: Schema) -> Schema:
    """The field is there, and its value says something: an empty one counts as left out."""
    return {"required": [field], "properties": {field: rule}}


def _add_rules_between_fields(definitions: dict[str, Schema]) -> None:
    """What the reader checks after the fields themselves, as far as a schema can say it."""
    definitions["SpendingLimit"]["anyOf"] = [_given("cost", {"type": "number"}), _given("tokens", {"type": "integer"})]
    definitions["TellConfig"]["oneOf"] = [
        _given("desktop", {"const": True}),
        _given("command", {"minItems": 1}),
        _given("webhook", {"minLength": 1}),
        _given("webhook_env", {"minLength": 1}),
    ]
    known = [name for name in get_args(AgentName) if name not in ("", "acp")]  # `acp` is a protocol, not a program
    with_run = _given("run", {"minItems": 1})
    definitions["AgentProgram"]["anyOf"] = [_given("name", {"enum": known}), with_run]
    definitions["AgentHost"]["properties"]["agent"]["anyOf"][0] = {"enum": known}
