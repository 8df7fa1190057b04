"""Reads a parsed value as its declared type, and reports every mismatch in plain words.

The declarations are those of `field_rules`. msgspec stops at the first mistake and names it in its own terms, so it
only converts values that this module has accepted.
"""

import datetime
import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Literal, get_args, get_origin

import msgspec

from manyhands.field_rules import Hint
from manyhands.readers.constraints import Declared, constraints_of, declared, is_union, members
from manyhands.readers.other_words import our_word
from manyhands.readers.problems import FieldPath, Sheet, did_you_mean, dotted

#: Deeper than anyone nests by hand, but far below the depth at which recursion would run out of stack.
DEPTH_MAX = 64

#: Stands for a value that was refused. The sheet has the reason.
REFUSED: Any = object()

#: The plain form of a value, or REFUSED.
FieldReader = Callable[[Any, FieldPath, Sheet], Any]

_WORDS: dict[object, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def read_as(kind: type[msgspec.Struct], value: object, path: FieldPath, sheet: Sheet) -> Any:
    """The table in the plain form that msgspec converts, or REFUSED. The sheet then has all problems."""
    return _struct_reader(kind)(value, path, sheet)


def fits(value: object, kind: type[msgspec.Struct], path: FieldPath, sheet: Sheet) -> bool:
    """Whether the value can be read as this kind. If not, the sheet has all problems."""
    return read_as(kind, value, path, sheet) is not REFUSED


def reader_of(kind: Any, hint: Hint = "") -> FieldReader:
    """The reader of a type, made once for each field. The hint is for rules that have none."""
    field = declared(kind)
    hint = field.extra("hint") or hint
    short = field.extra("short")
    read = _typed_reader(field, hint)
    if short is not None:
        read = _short_reader(reader_of(short[0], hint), short[1], read)
    constraints, plain = constraints_of(field, hint), field.extra("plain")
    is_float = field.kind is float
    if not constraints and plain is None and not is_float:
        return read

    def checked(value: Any, path: FieldPath, sheet: Sheet) -> Any:
        found = read(value, path, sheet)
        if found is REFUSED:
            return REFUSED
        for constraint in constraints:
            if not constraint.holds(found):
                constraint.refuse(value, path, sheet)
                return REFUSED
        if is_float and isinstance(found, float) and not math.isfinite(found):
            sheet.wrong(path, value, "must be a finite number", hint if isinstance(hint, str) else "")
            return REFUSED
        return found if plain is None else plain(found)

    return checked


def _typed_reader(field: Declared, hint: Hint) -> FieldReader:
    kind, origin = field.kind, get_origin(field.kind)
    if field.has_own_type:
        return lambda value, path, sheet: value  # a rule of the field checks its type
    if is_union(kind):
        return _union_reader(kind, hint)
    if origin is tuple:
        return _list_reader(get_args(kind)[0], hint)
    if origin is dict:
        key, item = get_args(kind)
        return _dict_reader(key, item, hint)
    if origin is Literal:
        return _choice_reader(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return lambda value, path, sheet: _struct_reader(kind)(value, path, sheet)
    if kind is Any:
        return _read_plain
    return _scalar_reader(kind, hint if isinstance(hint, str) else "")


def _short_reader(short: FieldReader, plain: Callable[[Any], Any], table: FieldReader) -> FieldReader:
    def read(value: Any, path: FieldPath, sheet: Sheet) -> Any:
        if isinstance(value, dict):
            return table(value, path, sheet)
        found = short(value, path, sheet)
        return REFUSED if found is REFUSED else plain(found)

    return read


def _union_reader(kind: Any, hint: Hint) -> FieldReader:
    kinds, takes_none = members(kind), type(None) in get_args(kind)
    if len(kinds) == 1:
        only = reader_of(kinds[0], hint)
        return lambda value, path, sheet: None if takes_none and value is None else only(value, path, sheet)
    rule = "must be " + " or ".join(words(each) for each in kinds)

    def read(value: Any, path: FieldPath, sheet: Sheet) -> Any:
        if (takes_none and value is None) or any(_is_scalar(value, each) for each in kinds):
            return value
        sheet.wrong(path, value, rule)
        return REFUSED

    return read


def _list_reader(kind: Any, hint: Hint) -> FieldReader:
    item, rule = reader_of(kind, hint), f"must be {words(tuple[kind, ...])}"

    def read(value: Any, path: FieldPath, sheet: Sheet) -> Any:
        if not isinstance(value, list | tuple):
            sheet.wrong(path, value, rule)
            return REFUSED
        found = [item(each, (*path, place), sheet) for place, each in enumerate(value)]
        return REFUSED if any(each is REFUSED for each in found) else found

    return read


def _dict_reader(key_kind: Any, kind: Any, hint: Hint) -> FieldReader:
    key_reader, item, rule = reader_of(key_kind, hint), reader_of(kind, hint), f"must be {words(dict[str, kind])}"

    def read(value: Any, path: FieldPath, sheet: Sheet) -> Any:
        if not isinstance(value, dict):
            sheet.wrong(path, value, rule)
            return REFUSED
        found: dict[Any, Any] = {}
        for key, each in value.items():
            if not isinstance(key, str):
                sheet.wrong(path, key, "must have strings as keys", "put it in quotes")
                found[key] = REFUSED
            elif key_reader(key, (*path, key), sheet) is REFUSED:
                found[key] = REFUSED
            else:
                found[key] = item(each, (*path, key), sheet)
        return REFUSED if any(each is REFUSED for each in found.values()) else found

    return read


def _choice_reader(choices: tuple[Any, ...]) -> FieldReader:
    rule = "must be " + " or ".join(f'"{choice}"' for choice in choices)

    def read(value: Any, path: FieldPath, sheet: Sheet) -> Any:
        if isinstance(value, str) and value in choices:
            return value
        sheet.wrong(path, value, rule, did_you_mean(value, choices) if isinstance(value, str) else "")
        return REFUSED

    return read


class _Field(msgspec.Struct):
    read: FieldReader
    required: bool
    hint: str


@lru_cache
def written_fields(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    """The fields that a file may have, by their names in the file."""
    return {
        field.encode_name: field for field in msgspec.structs.fields(kind) if not declared(field.type).extra("is_key")
    }


@lru_cache
def _struct_reader(kind: type[msgspec.Struct]) -> FieldReader:
    fields = {
        name: _Field(reader_of(field.type), field.required, str(declared(field.type).extra("hint") or ""))
        for name, field in written_fields(kind).items()
    }
    tag = kind.__struct_config__.tag_field
    names = [*([tag] if tag else []), *fields]

    def read(value: Any, path: FieldPath, sheet: Sheet) -> Any:
        if not isinstance(value, dict):
            sheet.wrong(path, value, f"must be a table of {', '.join(names)}")
            return REFUSED
        good = _every([known(key, names, path, sheet) for key in value])
        found = {tag: value[tag]} if tag in value else {}
        for name, field in fields.items():
            if name in value:
                found[name] = field.read(value[name], (*path, name), sheet)
                good = good and found[name] is not REFUSED
            elif field.required:
                sheet.tell(path, f"`{name}` is missing", field.hint)
                good = False
        return found if good else REFUSED

    return read


def _every(results: list[bool]) -> bool:
    """Like `all`, but for a list: every item has been checked, also after the first bad one."""
    return all(results)


def known(key: object, names: list[str], path: FieldPath, sheet: Sheet) -> bool:
    if isinstance(key, str) and key in names:
        return True
    here = (*path, key if isinstance(key, str) else str(key))
    ours = our_word(str(key), names)
    near = f"did you mean `{ours}`?" if ours else did_you_mean(str(key), names)
    sheet.tell(here, f"unknown field `{dotted(here)}`", near or f"the fields are {', '.join(names)}")
    return False


def _scalar_reader(kind: Any, hint: str) -> FieldReader:
    rule = f"must be {words(kind)}"

    def read(value: Any, path: FieldPath, sheet: Sheet) -> Any:
        if _is_scalar(value, kind):
            return value
        quoted = kind is str and not isinstance(value, dict | list) and value is not None
        step = "put it in quotes" if quoted else "leave the field out" if value is None else hint
        sheet.wrong(path, value, rule, step)
        return REFUSED

    return read


def _is_scalar(value: object, kind: Any) -> bool:
    if kind is float:
        return type(value) in (int, float)
    return type(value) is kind


def _read_plain(value: Any, path: FieldPath, sheet: Sheet) -> Any:
    """Free values go to the journal and over the network, so JSON must be able to represent them."""
    return value if _is_plain(value, path, sheet) else REFUSED


def _is_plain(value: object, path: FieldPath, sheet: Sheet) -> bool:
    if value is None or isinstance(value, str | bool | int):
        return True
    if isinstance(value, float):
        if math.isfinite(value):
            return True
        sheet.wrong(path, value, "must be a finite number")
        return False
    if isinstance(value, list | tuple):
        return _every([_is_plain(item, (*path, place), sheet) for place, item in enumerate(value)])
    if isinstance(value, dict):
        return _read_free_table(value, path, sheet) is not REFUSED
    if isinstance(value, datetime.date | datetime.time):
        sheet.wrong(path, str(value), "must not be a date", "put it in quotes")
    else:
        sheet.wrong(path, value, "must be a string, number, list or table")
    return False


def words(kind: Any) -> str:
    """A type in plain words: `tuple[str, ...]` is a list of strings."""
    kind = declared(kind).kind
    if kind in _WORDS:
        return _WORDS[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        return f"a list of {_plural(inner[0])}"
    if origin is dict:
        return "a table" if inner[1] is Any else f"a table of {_plural(inner[1])}"
    return "a table"


def _plural(kind: Any) -> str:
    return {str: "strings", int: "whole numbers", float: "numbers"}.get(declared(kind).kind, "tables")


_read_free_table = _dict_reader(str, Any, "")


def is_too_deep(value: object) -> bool:
    """Whether recursion into the value could run out of stack. This is checked first."""
    level: list[object] = [value]
    for _ in range(DEPTH_MAX):
        level = [item for table in level for item in _items(table)]
        if not level:
            return False
    return True


def _items(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()


def is_clean(value: object, path: FieldPath, sheet: Sheet) -> bool:
    """Whether a file, stream or journal can carry every string (keys included) and every number in it."""
    if isinstance(value, str):
        return _is_clean_text(value, path, sheet)
    if isinstance(value, dict):
        return _every(
            [
                is_clean(part, (*path, key), sheet)
                for key, item in value.items()
                if isinstance(key, str)
                for part in (key, item)
            ]
        )
    if isinstance(value, list | tuple):
        return _every([is_clean(item, (*path, place), sheet) for place, item in enumerate(value)])
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        sheet.tell(path, f"`{dotted(path)}` is a number of more than 64 bits", "write it as a string", value)
        return False
    return True


def _is_clean_text(text: str, path: FieldPath, sheet: Sheet) -> bool:
    if "\0" in text:
        sheet.tell(path, f"`{dotted(path)}` has a NUL byte", "take the \\0 out", text)
        return False
    if not is_text(text):
        sheet.tell(path, f"`{dotted(path)}` has half of a surrogate pair", "save the file as UTF-8", text)
        return False
    return True


def is_text(text: str) -> bool:
    """Whether it can be written as UTF-8: half of a surrogate pair cannot."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)
