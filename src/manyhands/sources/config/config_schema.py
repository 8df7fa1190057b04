"""The JSON Schema of `manyhands.toml`, for editors: drawn from the declarations that the reader reads by."""

from typing import Any

from manyhands.core.values.host import Rule
from manyhands.core.values.spending_limit import SpendingLimit
from manyhands.field_rules import Name
from manyhands.readers.json_schema import DIALECT, by_type, definitions_of, reference, schema_of, table_of
from manyhands.sources.config.config_types import HOST_TYPES, BacklogConfig, LandingConfig, StoreConfig
from manyhands.sources.config.family_config import FamilyConfig
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
