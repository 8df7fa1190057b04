"""Does a parsed value have the shape of its type? Tells every place where it does not, in people's words.

msgspec stops at the first mistake and names it in its own terms, so it only has the last word on what this let through.
"""

import datetime
import math
import types
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from manyhands.readers.problems import FieldPath, Sheet, did_you_mean, dotted

#: Deeper than anyone nests by hand, far from where walking a value runs out of stack.
DEPTH_MAX = 64

_WORDS: dict[object, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def fits(value: object, kind: Any, path: FieldPath, sheet: Sheet) -> bool:
    """Whether the value has the shape; if not, the sheet has been told all that is wrong."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    origin = get_origin(kind)
    if origin is types.UnionType or origin is Union:
        return _fits_union(value, get_args(kind), path, sheet)
    if origin is tuple:
        return _fits_list(value, get_args(kind)[0], path, sheet)
    if origin is dict:
        return _fits_dict(value, get_args(kind)[1], path, sheet)
    if origin is Literal:
        return _fits_choice(value, get_args(kind), path, sheet)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _fits_struct(value, kind, path, sheet)
    if kind is Any:
        return _is_plain(value, path, sheet)
    return _fits_scalar(value, kind, path, sheet)


def _every(results: list[bool]) -> bool:
    """A list, where `all` would take a generator: everything is looked at, also after the first bad one."""
    return all(results)


def _fits_union(value: object, kinds: tuple[Any, ...], path: FieldPath, sheet: Sheet) -> bool:
    if value is None and type(None) in kinds:
        return True
    kinds = tuple(kind for kind in kinds if kind is not type(None))
    tables = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]
    if isinstance(value, dict) and tables:
        return fits(value, tables[0], path, sheet)
    if len(kinds) == 1:
        return fits(value, kinds[0], path, sheet)
    if any(_is_scalar(value, kind) for kind in kinds):
        return True
    sheet.wrong(path, value, "must be " + " or ".join(words(kind) for kind in kinds))
    return False


def _fits_list(value: object, kind: Any, path: FieldPath, sheet: Sheet) -> bool:
    if not isinstance(value, list | tuple):
        sheet.wrong(path, value, f"must be {words(tuple[kind, ...])}")
        return False
    return _every([fits(item, kind, (*path, place), sheet) for place, item in enumerate(value)])


def _fits_dict(value: object, kind: Any, path: FieldPath, sheet: Sheet) -> bool:
    if not isinstance(value, dict):
        sheet.wrong(path, value, f"must be {words(dict[str, kind])}")
        return False
    good = True
    for key, item in value.items():
        if not isinstance(key, str):
            sheet.wrong(path, key, "must have strings as keys", "put it in quotes")
            good = False
        elif not fits(item, kind, (*path, key), sheet):
            good = False
    return good


def _fits_choice(value: object, choices: tuple[Any, ...], path: FieldPath, sheet: Sheet) -> bool:
    if isinstance(value, str) and value in choices:
        return True
    rule = "must be " + " or ".join(f'"{choice}"' for choice in choices)
    sheet.wrong(path, value, rule, did_you_mean(value, choices) if isinstance(value, str) else "")
    return False


@lru_cache
def _fields_of(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def _fits_struct(value: object, kind: type[msgspec.Struct], path: FieldPath, sheet: Sheet) -> bool:
    fields = _fields_of(kind)
    if not isinstance(value, dict):
        sheet.wrong(path, value, f"must be a table of {', '.join(fields)}")
        return False
    good = _every([known(key, list(fields), path, sheet) for key in value])
    for name, field in fields.items():
        if name in value:
            good = fits(value[name], field.type, (*path, name), sheet) and good
        elif field.required:
            sheet.tell(path, f"`{name}` is missing")
            good = False
    return good


def known(key: object, names: list[str], path: FieldPath, sheet: Sheet) -> bool:
    if isinstance(key, str) and key in names:
        return True
    here = (*path, key if isinstance(key, str) else str(key))
    near = did_you_mean(str(key), names)
    sheet.tell(here, f"unknown field `{dotted(here)}`", near or f"the fields are {', '.join(names)}")
    return False


def _fits_scalar(value: object, kind: Any, path: FieldPath, sheet: Sheet) -> bool:
    if _is_scalar(value, kind):
        return True
    quoted = kind is str and not isinstance(value, dict | list) and value is not None
    hint = "put it in quotes" if quoted else "leave the field out" if value is None else ""
    sheet.wrong(path, value, f"must be {words(kind)}", hint)
    return False


def _is_scalar(value: object, kind: Any) -> bool:
    if kind is float:
        return type(value) in (int, float)
    return type(value) is kind


def _is_plain(value: object, path: FieldPath, sheet: Sheet) -> bool:
    """Free values go to the journal and over the wire, so they must be what JSON can say."""
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
        return _fits_dict(value, Any, path, sheet)
    if isinstance(value, datetime.date | datetime.time):
        sheet.wrong(path, str(value), "must not be a date", "put it in quotes")
    else:
        sheet.wrong(path, value, "must be a string, number, list or table")
    return False


def words(kind: Any) -> str:
    """`tuple[str, ...]` as people say it: a list of strings."""
    if kind in _WORDS:
        return _WORDS[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        return f"a list of {_plural(inner[0])}"
    if origin is dict:
        return "a table" if inner[1] is Any else f"a table of {_plural(inner[1])}"
    return "a table"


def _plural(kind: Any) -> str:
    return {str: "strings", int: "whole numbers", float: "numbers"}.get(kind, "tables")


def is_too_deep(value: object) -> bool:
    """Whether walking it could run out of stack; looked at before anything else."""
    level: list[object] = [value]
    for _ in range(DEPTH_MAX):
        level = [item for table in level for item in _items(table)]
        if not level:
            return False
    return True


def _items(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()


def is_clean(value: object, path: FieldPath, sheet: Sheet) -> bool:
    """No string anywhere, keys included, and no number is of a sort that no file, stream or journal can carry."""
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
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        sheet.tell(path, f"`{dotted(path)}` has half of a surrogate pair", "save the file as UTF-8", text)
        return False
    return True
