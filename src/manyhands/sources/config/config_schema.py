"""The JSON Schema of `manyhands.toml`, drawn from the types the reader goes by."""

from typing import Any

import msgspec

from manyhands.core.values.host import Rule
from manyhands.readers.durations import DURATION_PATTERN
from manyhands.sources.config.agent_config import AGENT_NAMES, READS
from manyhands.sources.config.config_types import HOST_TYPES, BacklogConfig, LandingConfig, StoreConfig
from manyhands.sources.config.family_config import FamilyConfig
from manyhands.sources.config.route_config import RouteConfig
from manyhands.sources.config.scaling_config import DURATIONS
from manyhands.worker.values.model_config import ModelConfig

_COUNT = {"type": "integer", "minimum": 1}
_AMOUNT = {"type": "number", "exclusiveMinimum": 0}
_RULES: dict[str, Any] = {
    "kinds": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
    "width": {"anyOf": [_COUNT, {"$ref": "#/$defs/Width"}], "description": "left out: the clutch decides"},
    "lanes": {"type": "object", "additionalProperties": _COUNT},
    "resources": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
    "env": {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "propertyNames": {"pattern": "^[^=]+$"},
    },
    "agent": {
        "anyOf": [{"enum": list(AGENT_NAMES)}, {"$ref": "#/$defs/DescribedAgent"}],
        "description": "a known agent, or the command line of another",
    },
    "idle": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": DURATION_PATTERN}]},
    "grace": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": DURATION_PATTERN}]},
    "place_within": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": DURATION_PATTERN}]},
    "nodes": {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": {"pattern": "\\S"}},
    "workspace": {"type": "string", "pattern": "^(/.*)?$", "description": "on the nodes; left out: as here"},
    "address": {"type": "string", "pattern": r"^(local|auto|[^\s/@]+:\d{1,5})$"},
    "url": {"type": "string", "pattern": "^https?://[^/@]+(/[^@]*)?$"},
    "model": {"type": "string", "minLength": 1},
    "threads": {"type": "integer", "minimum": 0},
    "api_key_env": {
        "type": "string",
        "pattern": "^([A-Za-z_][A-Za-z0-9_]*)?$",
        "description": "the variable that has the key; never the key itself",
    },
}


def _narrow_hosts(definitions: dict[str, Any]) -> None:
    for bound in definitions["Width"]["properties"]:
        definitions["Width"]["properties"][bound] = _COUNT
    for budget in definitions["Rate"]["properties"]:
        definitions["Rate"]["properties"][budget] = _AMOUNT
    for price in definitions["Prices"]["properties"].values():
        price |= {"minimum": 0}
    definitions["AgentHost"]["required"].remove("type")  # `agent` says it
    definitions["DescribedAgent"]["properties"]["reads"] = {"enum": list(READS)}
    definitions["DescribedAgent"]["properties"]["run"] |= {"minItems": 1}
    for limit in definitions["AgentLimits"]["properties"].values():
        limit["anyOf"] = [one | {"exclusiveMinimum": 0} if one != {"type": "null"} else one for one in limit["anyOf"]]


def config_schema() -> dict[str, Any]:
    types = (
        *HOST_TYPES.values(),
        Rule,
        StoreConfig,
        BacklogConfig,
        LandingConfig,
        FamilyConfig,
        ModelConfig,
        RouteConfig,
    )
    _, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for kind in HOST_TYPES.values():
        host = definitions[kind.__name__]
        del host["properties"]["name"]  # the name is the table's key
        host["required"].remove("name")
        for name, rule in _RULES.items():
            if name in host["properties"]:
                host["properties"][name] = rule
    _narrow_hosts(definitions)
    definitions["Rule"]["properties"]["left"]["minimum"] = 0
    backlog = definitions["BacklogConfig"]["properties"]
    backlog["weight"] |= {"exclusiveMinimum": 0}
    backlog["attempts"] |= {"minimum": 1}
    backlog["timeout"] = {"anyOf": [_AMOUNT, {"type": "string", "pattern": DURATION_PATTERN}]}
    family = definitions["FamilyConfig"]["properties"]
    family["healthy_within"] = {"anyOf": [_AMOUNT, {"type": "string", "pattern": DURATION_PATTERN}]}
    for step in ("snapshot", "disrupt", "healthy", "revert"):
        family[step] |= {"minItems": 1}
    scaling = definitions["ScalingConfig"]["properties"]
    for name in DURATIONS:
        scaling[name] = {"anyOf": [_AMOUNT, {"type": "string", "pattern": DURATION_PATTERN}]}
    scaling["min"] |= {"minimum": 0}
    scaling["max"] |= {"minimum": 1}
    scaling["cost_per_hour"] |= {"minimum": 0}
    scaling["worker"] = _RULES["resources"]
    del definitions["ModelConfig"]["properties"]["name"]  # the name is the table's key
    hosts = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in HOST_TYPES.values()]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "manyhands.toml",
        "type": "object",
        "properties": {
            "hosts": {"type": "object", "additionalProperties": {"anyOf": hosts}},
            "families": {"type": "object", "additionalProperties": {"$ref": "#/$defs/FamilyConfig"}},
            "routes": {"type": "object", "additionalProperties": {"$ref": "#/$defs/RouteConfig"}},
            "rules": {"type": "array", "items": {"$ref": "#/$defs/Rule"}},
            "store": {"$ref": "#/$defs/StoreConfig"},
            "landing": {"$ref": "#/$defs/LandingConfig"},
            "backlogs": {"type": "array", "items": {"$ref": "#/$defs/BacklogConfig"}},
            "models": {"type": "object", "additionalProperties": {"$ref": "#/$defs/ModelConfig"}},
        },
        "additionalProperties": False,
        "$defs": definitions,
    }
