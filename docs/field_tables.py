"""Writes the tables of fields in the docs anew, from the declarations in the code. With --check it only compares.

A table stands between `<!-- fields Struct: name name … -->` and `<!-- end of fields -->`.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from manyhands.core.values.host import Rule
from manyhands.core.values.spending_limit import SpendingLimit
from manyhands.core.values.task import Task
from manyhands.readers.constraints import Declared, declared, is_union, members
from manyhands.readers.shape import words, written_fields
from manyhands.sources.config.config_types import HOST_TYPES, LandingConfig, StoreConfig
from manyhands.sources.config.tell_config import TellConfig
from manyhands.sources.plans.plan_settings import PlanSettings

_TABLE = re.compile(r"(<!-- fields (\w+): ([\w ]+) -->\n).*?(<!-- end of fields -->\n)", re.DOTALL)
_STRUCTS: dict[str, type[msgspec.Struct]] = {
    kind.__name__: kind
    for kind in (Task, PlanSettings, Rule, SpendingLimit, TellConfig, StoreConfig, LandingConfig, *HOST_TYPES.values())
}


def with_tables(text: str) -> str:
    def table(found: re.Match[str]) -> str:
        return f"{found[1]}\n{field_table(_STRUCTS[found[2]], found[3].split())}\n{found[4]}"

    return _TABLE.sub(table, text)


def field_table(kind: type[msgspec.Struct], names: Sequence[str]) -> str:
    """A row for each of these fields: its name, what it takes, its default, and what it means."""
    fields = written_fields(kind)
    rows = ["| field | takes | default | means |", "|---|---|---|---|"]
    for name in names:
        field = fields[name]
        default = "" if field.required else _default(field)
        cells = (f"`{name}`", _takes(field.type), default, declared(field.type).description)
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(rows) + "\n"


def _takes(kind: Any) -> str:
    """`Annotated[int, rule(minimum=1)]` in words: a whole number, at least 1."""
    field = declared(kind)
    short = field.extra("short")
    if short is not None:
        return f"{_takes(short[0])}; or a table"
    if is_union(field.kind) and not field.has_own_type and len(members(field.kind)) == 1:
        field = declared(members(field.kind)[0])
    return ", ".join([_type_words(field), *_limits(field)])


def _type_words(field: Declared) -> str:
    if field.extra("plain") is not None:
        return 'a length of time (`"20m"`, `"1h30m"`, or seconds)'
    if get_origin(field.kind) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(field.kind) if choice)
    if is_union(field.kind) and not field.has_own_type:
        return " or ".join(words(member) for member in members(field.kind))
    return "true or false" if _keywords(field).get("type") == "boolean" else words(field.kind)


def _limits(field: Declared) -> list[str]:
    """What the numbers of its rules say; patterns are told by the description."""
    limits = {"minimum": "at least {}", "exclusiveMinimum": "above {}", "maximum": "at most {}"}
    limits |= {"maxLength": "at most {:,} characters"} if field.extra("plain") is None else {}
    return [limits[keyword].format(limit) for keyword, limit in _keywords(field).items() if keyword in limits]


def _keywords(field: Declared) -> dict[str, Any]:
    return {keyword: limit for meta in field.rules() for keyword, limit in (meta.extra_json_schema or {}).items()}


def _default(field: msgspec.structs.FieldInfo) -> str:
    made = field.default_factory is not msgspec.NODEFAULT
    default = msgspec.to_builtins(field.default_factory() if made else field.default)
    if default in (None, "", (), [], {}):
        return ""
    return f"`{msgspec.json.encode(default).decode()}`"


def main() -> int:
    old = [doc for doc in sorted(Path(__file__).parent.glob("*.md")) if with_tables(doc.read_text()) != doc.read_text()]
    for doc in old:
        if "--check" in sys.argv:
            print(f"{doc.name} has an old table of fields; run `python docs/field_tables.py`", file=sys.stderr)
        else:
            doc.write_text(with_tables(doc.read_text()))
    return 1 if old and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
