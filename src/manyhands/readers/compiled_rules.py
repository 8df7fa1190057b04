"""The declared rules of a struct as one function, for large files.

Calling a test for each rule costs more than decoding the row. So the tests are written out as Python source, as
`dataclasses` does, and compiled once. They assume that msgspec has decoded the value: every field has the right type.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, get_args, get_origin

import msgspec

from manyhands.readers.constraints import declared, is_union, members, searcher

_TEXT = {"minLength": "len({it}) >= {limit}", "maxLength": "len({it}) <= {limit}"}
_NUMBER = {"minimum": "{it} >= {limit}", "exclusiveMinimum": "{it} > {limit}", "maximum": "{it} <= {limit}"}
_LIST = {"minItems": "len({it}) >= {limit}"}
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


class _Source:
    """Writes tests of the expression `it` as expressions, which use these names."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"inf": float("inf")}

    def test(self, kind: Any, it: str, *, is_cached: bool = True) -> str:
        """The test; "" if there is nothing to test."""
        field = declared(kind)
        inner, parts = field.kind, get_args(field.kind)
        tests = [f"-inf < {it} < inf"] if inner is float else []
        for meta in field.rules():
            tests += self._keywords(meta.extra_json_schema or {}, inner, it, is_cached)
        if get_origin(inner) is tuple and (each := self.test(parts[0], "each")):
            tests.append(f"all({each} for each in {it})")
        if get_origin(inner) is dict:
            found = [(name, self.test(part, "each")) for name, part in zip(("keys", "values"), parts, strict=True)]
            tests += [f"all({each} for each in {it}.{name}())" for name, each in found if each]
        if is_union(inner) and len(members(inner)) == 1 and (member := self.test(members(inner)[0], it)):
            tests.append(f"({it} is None or {member})")
        return tests[0] if len(tests) == 1 else f"({' and '.join(tests)})" if tests else ""

    def _keywords(self, keywords: Mapping[str, Any], kind: Any, it: str, is_cached: bool = True) -> list[str]:
        found = [self._keyword(keyword, limit, kind, it, is_cached) for keyword, limit in keywords.items()]
        return [test for test in found if test]

    def _keyword(self, keyword: str, limit: Any, kind: Any, it: str, is_cached: bool) -> str:
        """The test of one keyword. As in JSON Schema, a keyword ignores values of other types."""
        if keyword == "pattern" and kind in (str, bool | str):
            search = f"search_{len(self.names)}"
            self.names[search] = lru_cache(_CACHED_MAX)(searcher(limit)) if is_cached else searcher(limit)
            return f"{search}({it}) is not None" if kind is str else f"({it} is True or {search}({it}) is not None)"
        if keyword == "not":
            return f"not ({' and '.join(self._keywords(limit, kind, it, is_cached))})"
        if keyword == "prefixItems":
            return f"(not {it} or {' and '.join(self._keywords(limit[0], str, f'{it}[0]'))})"
        if keyword == "enum":
            return f"{it} in {tuple(limit)!r}"
        if keyword == "type":
            return f"type({it}) is bool" if limit == "boolean" else ""
        templates = _TEXT if kind is str else _NUMBER if kind in (int, float) else _LIST
        return templates[keyword].format(it=it, limit=limit) if keyword in templates else ""
