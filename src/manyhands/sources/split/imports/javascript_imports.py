"""Imports of JavaScript and TypeScript files: relative ones, and packages of the same repository by their name."""

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from manyhands.sources.split.imports.grammars import language_of, parse
from manyhands.sources.split.imports.import_reader import Files, Import, folder_of
from manyhands.sources.split.imports.syntax import text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_SUFFIXES = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue", ".svelte")
_CALLS = ("require", "import")


def javascript_imports(files: Files) -> Iterator[Import]:
    package_of = _packages(files)
    for path in sorted(files.paths):
        if language_of(path) not in ("JavaScript", "TypeScript"):
            continue
        content = files.read(path)
        root = parse(path, content) if content is not None else None
        if root is None:
            continue
        names = {text_of(node).strip("'\"`") for node in walk(root) if node.type == "string" and _is_source(node)}
        for name in sorted(names):
            target = _find(name, path, package_of, files.paths)
            if target and target != path:
                yield Import(path, target)


def _is_source(string: "Node") -> bool:
    above = string.parent
    if above is None:
        return False
    if above.type in ("import_statement", "export_statement", "import_require_clause"):
        return True
    call = above.parent
    if above.type != "arguments" or call is None or call.type != "call_expression":
        return False
    function = call.child_by_field_name("function")
    return function is not None and text_of(function) in _CALLS


def _packages(files: Files) -> dict[str, str]:
    package_of: dict[str, str] = {}
    for path in sorted(files.paths):
        if path.rpartition("/")[2] == "package.json":
            try:
                name = msgspec.json.decode(files.read(path) or b"", type=dict[str, object]).get("name")
            except (msgspec.DecodeError, ValueError):
                continue
            if isinstance(name, str):
                package_of.setdefault(name, folder_of(path))
    return package_of


def _find(name: str, importer: str, package_of: dict[str, str], paths: frozenset[str]) -> str | None:
    if name.startswith("."):
        return _file(posixpath.normpath(folder_of(importer) + name), paths)
    parts = name.split("/")
    length = 2 if name.startswith("@") else 1
    folder = package_of.get("/".join(parts[:length]))
    if folder is None:
        return None
    rest = "/".join(parts[length:])
    places = [folder + rest, f"{folder}src/{rest}"] if rest else [folder + "src", folder.rstrip("/")]
    return next((found for place in places if (found := _file(place.rstrip("/"), paths))), None)


def _file(place: str, paths: frozenset[str]) -> str | None:
    if place in paths:
        return place
    stem, dot, suffix = place.rpartition(".")
    # TypeScript imports name the file that exists after compilation.
    stems = [place, stem] if dot and f".{suffix}" in (".js", ".jsx", ".mjs", ".cjs") else [place]
    candidates = [stem + suffix for stem in stems for suffix in _SUFFIXES]
    candidates += [f"{place}/index{suffix}" for suffix in _SUFFIXES]
    return next((candidate for candidate in candidates if candidate in paths), None)
