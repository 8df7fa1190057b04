"""The JSON Schema of declared types, with the same rules that `shape` uses."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args, get_origin

import msgspec

from manyhands.readers.constraints import Declared, declared, is_union, members
from manyhands.readers.shape import written_fields

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def definitions_of(kinds: Iterable[type[msgspec.Struct]]) -> dict[str, Schema]:
    """The content of `$defs`: these structs and all structs inside them, by name."""
    found: dict[str, Schema] = {}
    for kind in kinds:
        _define(kind, found)
    return found


def reference(kind: type[msgspec.Struct]) -> Schema:
    return {"$ref": f"#/$defs/{kind.__name__}"}


def table_of(names: Schema, items: Schema) -> Schema:
    """A table whose keys are free names."""
    return {"type": "object", "propertyNames": names, "additionalProperties": items}


def by_type(kinds: Mapping[str, type[msgspec.Struct]]) -> Schema:
    """Tables whose `type` field names their kind. An editor then reports only the problems of that kind."""
    branches = [
        {"if": {"properties": {"type": {"const": name}}, "required": ["type"]}, "then": reference(kind)}
        for name, kind in kinds.items()
    ]
    return {
        "type": "object",
        "properties": {"type": {"enum": list(kinds)}},
        "required": ["type"],
        "allOf": branches,
    }


def schema_of(kind: Any) -> Schema:
    """The schema of a type without structs, or whose structs are defined elsewhere."""
    return _schema(kind, {})


def _define(kind: type[msgspec.Struct], found: dict[str, Schema]) -> None:
    if kind.__name__ in found:
        return
    schema = found[kind.__name__] = {"title": kind.__name__, "type": "object"}
    if kind.__doc__:
        schema["description"] = kind.__doc__
    fields = written_fields(kind)
    properties = schema["properties"] = {}
    config = kind.__struct_config__
    if config.tag_field:
        properties[config.tag_field] = {"const": config.tag}
    for name, field in fields.items():
        properties[name] = _schema(field.type, found)
        if not field.required:
            properties[name]["default"] = msgspec.to_builtins(_default(field))
    required = [name for name, field in fields.items() if field.required]
    schema["required"] = [*([config.tag_field] if config.tag_field else []), *required]
    schema["additionalProperties"] = False


def _default(field: msgspec.structs.FieldInfo) -> Any:
    made = field.default_factory is not msgspec.NODEFAULT
    return field.default_factory() if made else field.default


def _schema(kind: Any, found: dict[str, Schema]) -> Schema:
    field = declared(kind)
    schema = {} if field.has_own_type else _typed(field.kind, found)
    short = field.extra("short")
    if short is not None:
        schema = {"anyOf": [_schema(short[0], found), schema]}
    for meta in field.rules():
        _add(schema, dict(meta.extra_json_schema or {}))
    if field.description:
        schema["description"] = field.description
    return schema


def _add(schema: Schema, keywords: Schema) -> None:
    """Add keywords. A schema can have a keyword only once, so a second one goes under `allOf`."""
    if schema.keys() & keywords.keys():
        schema.setdefault("allOf", []).append(keywords)
    else:
        schema.update(keywords)


def _typed(kind: Any, found: dict[str, Schema]) -> Schema:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if is_union(kind):
        either = [_schema(member, found) for member in members(kind)]
        return {"anyOf": [*either, *([{"type": "null"}] if type(None) in inner else [])]}
    if origin is tuple:
        return {"type": "array", "items": _schema(inner[0], found)}
    if origin is dict:
        names = {} if Declared(inner[0]) == declared(inner[0]) else {"propertyNames": _schema(inner[0], found)}
        return {"type": "object", **names, "additionalProperties": _schema(inner[1], found)}
    if origin is Literal:
        return {"enum": list(inner)}
    _define(kind, found)
    return reference(kind)
