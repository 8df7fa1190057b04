"""The rules that a field declares (see `field_rules`), as tests of a value and as messages that refuse it."""

import re
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import msgspec

from manyhands.field_rules import Hint
from manyhands.readers.problems import FieldPath, Sheet, dotted

Predicate = Callable[[Any], bool]

_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}


class Declared(NamedTuple):
    """A declared type: the type inside `Annotated`, and its annotations."""

    kind: Any
    metas: tuple[msgspec.Meta, ...] = ()

    def extra(self, name: str) -> Any:
        """The value of the outermost annotation under this name, or None."""
        found = [meta.extra[name] for meta in self.metas if meta.extra and meta.extra.get(name)]
        return found[-1] if found else None

    @property
    def description(self) -> str:
        found = [meta.description for meta in self.metas if meta.description]
        return found[-1] if found else ""

    def rules(self) -> Iterator[msgspec.Meta]:
        return (meta for meta in self.metas if meta.extra_json_schema)

    @property
    def has_own_type(self) -> bool:
        """Whether files write this field with other types than the struct has."""
        return any("type" in (meta.extra_json_schema or {}) for meta in self.metas)


def declared(kind: Any) -> Declared:
    if get_origin(kind) is not Annotated:
        return Declared(kind)
    inner, *metas = get_args(kind)
    return Declared(inner, tuple(meta for meta in metas if isinstance(meta, msgspec.Meta)))


class Constraint(NamedTuple):
    holds: Predicate
    words: Callable[[Any], str]
    hint: Hint
    secret: bool
    of_first: bool  # it tests the first item of the list

    def refuse(self, value: Any, path: FieldPath, sheet: Sheet) -> None:
        if self.of_first:
            value, path = value[0], (*path, 0)
        words, hint = self.words(value), self.hint if isinstance(self.hint, str) else self.hint(value)
        if self.secret:
            sheet.tell(path, f"`{dotted(path)}` {words}", hint)
        else:
            sheet.wrong(path, value, words, hint)


def constraints_of(field: Declared, hint: Hint = "") -> list[Constraint]:
    """The constraints in the order of declaration. The hint is for rules that have none."""
    return [_constraint(meta, hint) for meta in field.rules()]


def _constraint(meta: msgspec.Meta, hint: Hint) -> Constraint:
    keywords, extra = meta.extra_json_schema or {}, meta.extra or {}
    words = extra.get("words")
    return Constraint(
        holds=_test_of(keywords),
        words=(lambda _: words) if words else _words_of(keywords),
        hint=extra.get("rule_hint") or hint,
        secret=bool(extra.get("secret")),
        of_first="prefixItems" in keywords,
    )


def _test_of(keywords: Mapping[str, Any]) -> Predicate:
    tests = [_TESTS[keyword](limit) for keyword, limit in keywords.items()]
    if len(tests) == 1:
        return tests[0]
    return lambda value: all(test(value) for test in tests)


def _words_of(keywords: Mapping[str, Any]) -> Callable[[Any], str]:
    [(keyword, limit)] = keywords.items()
    if keyword == "maxLength":
        return lambda text: f"must be at most {limit:,} characters long, has {len(text):,}"
    if keyword == "enum":
        choices = ", ".join(f"`{choice}`" for choice in limit)
        return lambda _: f"must be one of {choices}"
    words = {
        "minimum": f"must be at least {limit}" if limit else "must be 0 or more",
        "exclusiveMinimum": f"must be above {limit}",
        "minLength": "must not be empty",
        "minItems": "must not be empty",
    }[keyword]
    return lambda _: words


def searcher(pattern: str) -> Callable[[str], object]:
    """Searches as JSON Schema does: `$` is the end of the text, not the place before a last newline."""
    compiled = re.compile(pattern.replace("$", r"\Z"))
    return compiled.match if pattern.startswith("^") else compiled.search  # the same result, but faster


def _of_text(test: Callable[[str], bool]) -> Predicate:
    return lambda value: not isinstance(value, str) or test(value)


def _of_number(test: Callable[[float], bool]) -> Predicate:
    return lambda value: not isinstance(value, int | float) or test(value)


def _of_list(test: Callable[[Any], bool]) -> Predicate:
    return lambda value: not isinstance(value, list | tuple) or test(value)


def _pattern_test(pattern: str) -> Predicate:
    search = searcher(pattern)
    return _of_text(lambda text: search(text) is not None)


def _not_test(keywords: Mapping[str, Any]) -> Predicate:
    test = _test_of(keywords)
    return lambda value: not test(value)


def _type_test(names: str | list[str]) -> Predicate:
    allowed = {kind for name in ([names] if isinstance(names, str) else names) for kind in _JSON_TYPES[name]}
    return lambda value: type(value) in allowed


def _prefix_test(schemas: list[dict[str, Any]]) -> Predicate:
    tests = [_test_of(schema) for schema in schemas]
    return _of_list(lambda items: all(test(item) for test, item in zip(tests, items, strict=False)))


#: Keyword of JSON Schema → the test for its limit. As there, a keyword ignores values of other types.
_TESTS: dict[str, Callable[[Any], Predicate]] = {
    "type": _type_test,
    "not": _not_test,
    "enum": lambda choices: lambda value: value in choices,
    "minimum": lambda least: _of_number(lambda value: not value < least),
    "exclusiveMinimum": lambda bound: _of_number(lambda value: not value <= bound),
    "maximum": lambda most: _of_number(lambda value: not value > most),
    "minLength": lambda least: _of_text(lambda text: len(text) >= least),
    "maxLength": lambda most: _of_text(lambda text: len(text) <= most),
    "pattern": _pattern_test,
    "minItems": lambda least: _of_list(lambda items: len(items) >= least),
    "prefixItems": _prefix_test,
}


def is_union(kind: Any) -> bool:
    return get_origin(kind) in (types.UnionType, Union)


def members(kind: Any) -> tuple[Any, ...]:
    """The members of a union, without None."""
    return tuple(member for member in get_args(kind) if member is not type(None))
