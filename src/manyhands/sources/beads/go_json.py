"""Changes single fields in a line of JSON as Go writes it. All other fields keep their bytes."""

import json
import re
from collections.abc import Mapping
from typing import Any

from manyhands.sources.beads.issue import FIELD_ORDER

#: Characters that Go escapes and Python does not.
_GO_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = re.compile(r"[ \t\r\n]*")
_RANK = {name: place for place, name in enumerate(FIELD_ORDER)}
_value_at = json.JSONDecoder().raw_decode


def whole_text(text: str) -> str:
    """The text with halves of surrogate pairs replaced, as Go does: UTF-8 cannot encode them."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def whole_texts(value: Any) -> Any:
    """The parsed value with the same done to all text in it, at any depth."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, list):
        return [whole_texts(each) for each in value]
    if isinstance(value, dict):
        return {whole_text(name): whole_texts(each) for name, each in value.items()}
    return value


def encode(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return whole_text(text).translate(_GO_ESCAPES)


def split_fields(text: str) -> dict[str, tuple[str, str]]:
    """The fields of an object: name → name and value as written. Raises ValueError if it is not one object."""
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        raise ValueError("not an object")
    fields: dict[str, tuple[str, str]] = {}
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        if fields:
            at = _skip(text, _past(text, at, ","))
        if text[at : at + 1] != '"':
            raise ValueError(f"no field at column {at + 1}")
        name, after = _value_at(text, at)
        written = text[at:after]
        at = _skip(text, _past(text, _skip(text, after), ":"))
        _, end = _value_at(text, at)
        fields[name] = written, text[at:end]
        at = _skip(text, end)
    if _skip(text, at + 1) != len(text):
        raise ValueError("more than one value")
    return fields


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _past(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        raise ValueError(f"no `{sign}` at column {at + 1}")
    return at + 1


def patched(line: bytes, changes: Mapping[str, Any]) -> bytes:
    """The line with these fields set, or removed if the value is None.

    A new field goes where Beads would write it. The line may begin with a byte-order mark and end in `\\r`.
    """
    # Bytes that are not UTF-8 can only be in values that we do not change. They pass through unchanged.
    text = line.decode("utf-8", "surrogateescape")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    end = text[len(text.rstrip()) :]
    fields = split_fields(text.removeprefix(mark))
    for name, value in changes.items():
        if value is None:
            fields.pop(name, None)
        elif name in fields:
            fields[name] = fields[name][0], encode(value)
        else:
            fields = _inserted(fields, name, encode(value))
    body = ",".join(f"{name}:{value}" for name, value in fields.values())
    return f"{mark}{{{body}}}{end}".encode("utf-8", "surrogateescape")


def _inserted(fields: dict[str, tuple[str, str]], name: str, value: str) -> dict[str, tuple[str, str]]:
    rank = _RANK.get(name, len(_RANK))
    items = list(fields.items())
    # After the last field that belongs before it. Unknown fields have no defined place and stay where they are.
    place = max((i + 1 for i, (other, _) in enumerate(items) if _RANK.get(other, len(_RANK)) < rank), default=0)
    items.insert(place, (name, (encode(name), value)))
    return dict(items)
