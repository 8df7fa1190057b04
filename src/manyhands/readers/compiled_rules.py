"""The declared rules of a struct as one function, for large files.

Calling a test for each rule costs more than decoding the row. So the tests are written out as Python source, as
`dataclasses` does, and compiled once. They assume that msgspec has decoded the value: every field has the right type.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, get_args, get_origin

import msgspec

from manyhands.readers.constraints import declared, is_union, members, searcher

_TEXT = {"minLength": "len({it}) >= {limit}", "maxLength": "len({it}) <= {limit}"}
_NUMBER = {"minimum": "{it} >= {limit}", "exclusiveMinimum": "{it} > {limit}", "maximum": "{it} <= {limit}"}
_LIST = {"minItems": "len({it}) >= {limit}"}
#: A pattern that is one class of characters: whether a text matches depends on each of its characters alone.
_ONE_CLASS = re.compile(r"\[[^\[\]]+\]")
#: Covers the number of different texts that a field of a large file usually has, such as kinds.
_CACHED_MAX = 1024


def compiled_rules(kind: type[msgspec.Struct]) -> Callable[[Any], bool]:
    """Tells whether all fields of a decoded value keep their rules. It gives no reason; the full reader does that."""
    source, tests = _Source(), []
    for field in msgspec.structs.fields(kind):
        it = f"whole.{field.name}"
        test = source.test(field.type, it, is_cached=not field.required)  # ids differ, so a cache is useless
        unless = "" if field.required else f"({_is_default(it, field.default)} or "
        if test:
            tests.append(test if test.startswith(unless) else f"{unless}{test})")
    keeps_rules: Callable[[Any], bool] = eval(f"lambda whole: {' and '.join(tests)}", source.names)
    return keeps_rules


def _is_default(it: str, default: Any) -> str:
    if default in ("", ()):
        return f"not {it}"
    return f"{it} is {default}" if default is None or default is False else f"{it} == {default!r}"


def _is_plainly_free_of(keywords: Mapping[str, Any], it: str) -> str:
    """A test, faster than a search, that most good texts pass. "" if the keywords are not one class of characters."""
    pattern = keywords.get("pattern", "")
    if len(keywords) > 1 or not _ONE_CLASS.fullmatch(pattern):
        return ""
    search = searcher(pattern)
    refused = [f"{character!r} not in {it}" for character in map(chr, range(0x20, 0x7F)) if search(character)]
    return " and ".join([f"{it}.isascii()", f"{it}.isprintable()", *refused])


class _Source:
    """Writes tests of the expression `it` as expressions, which use these names."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"inf": float("inf")}

    def test(self, kind: Any, it: str, *, is_cached: bool = True) -> str:
        """The test; "" if there is nothing to test."""
        field = declared(kind)
        inner, parts = field.kind, get_args(field.kind)
        keywords = [meta.extra_json_schema or {} for meta in field.rules()]
        if inner is str and is_cached and any("pattern" in str(rule) for rule in keywords):
            return self._cached(keywords, it)
        tests = [f"-inf < {it} < inf"] if inner is float else []
        for rule in keywords:
            tests += self._keywords(rule, inner, it)
        if get_origin(inner) is tuple and (each := self.test(parts[0], "each")):
            tests.append(f"all({each} for each in {it})")
        if get_origin(inner) is dict:
            found = [(name, self.test(part, "each")) for name, part in zip(("keys", "values"), parts, strict=True)]
            tests += [f"all({each} for each in {it}.{name}())" for name, each in found if each]
        if is_union(inner) and len(members(inner)) == 1 and (member := self.test(members(inner)[0], it)):
            tests.append(f"({it} is None or {member})")
        return tests[0] if len(tests) == 1 else f"({' and '.join(tests)})" if tests else ""

    def _cached(self, rules: Sequence[Mapping[str, Any]], it: str) -> str:
        """All rules of a text, tested once for each different text."""
        tests = [test for rule in rules for test in self._keywords(rule, str, "text")]
        name = f"keeps_{len(self.names)}"
        self.names[name] = lru_cache(_CACHED_MAX)(eval(f"lambda text: {' and '.join(tests)}", self.names))
        return f"{name}({it})"

    def _keywords(self, keywords: Mapping[str, Any], kind: Any, it: str) -> list[str]:
        found = [self._keyword(keyword, limit, kind, it) for keyword, limit in keywords.items()]
        return [test for test in found if test]

    def _keyword(self, keyword: str, limit: Any, kind: Any, it: str) -> str:
        """The test of one keyword. As in JSON Schema, a keyword ignores values of other types."""
        if keyword == "pattern" and kind in (str, bool | str):
            search = f"search_{len(self.names)}"
            self.names[search] = searcher(limit)
            return f"{search}({it}) is not None" if kind is str else f"({it} is True or {search}({it}) is not None)"
        if keyword == "not":
            test = f"not ({' and '.join(self._keywords(limit, kind, it))})"
            plain = _is_plainly_free_of(limit, it) if kind is str else ""
            return f"({plain} or {test})" if plain else test
        if keyword == "prefixItems":
            return f"(not {it} or {self._cached(limit, f'{it}[0]')})"
        if keyword == "enum":
            return f"{it} in {tuple(limit)!r}"
        if keyword == "type":
            return f"type({it}) is bool" if limit == "boolean" else ""
        templates = _TEXT if kind is str else _NUMBER if kind in (int, float) else _LIST
        return templates[keyword].format(it=it, limit=limit) if keyword in templates else ""
