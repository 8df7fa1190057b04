"""Imports of Rust files: `mod` declarations and `use` paths inside the crate."""

from collections.abc import Iterator

from manyhands.sources.split.imports.grammars import parse
from manyhands.sources.split.imports.import_reader import Files, Import, folder_of
from manyhands.sources.split.imports.syntax import text_of, walk


def rust_imports(files: Files) -> Iterator[Import]:
    for path in sorted(files.paths):
        if not path.endswith(".rs"):
            continue
        content = files.read(path)
        root = parse(path, content) if content is not None else None
        if root is None:
            continue
        found: set[str | None] = set()
        for node in walk(root):
            if node.type == "mod_item" and node.child_by_field_name("body") is None:
                name = node.child_by_field_name("name")
                found.add(_module(_children_folder(path) + text_of(name), files.paths) if name is not None else None)
            elif node.type == "use_declaration":
                argument = node.child_by_field_name("argument")
                if argument is not None:
                    found.update(_used(way, path, files.paths) for way in _ways(text_of(argument)))
        yield from (Import(path, target) for target in sorted(found - {None, path}, key=str) if target)


def _ways(text: str) -> Iterator[list[str]]:
    """`a::{b::c, d as e}` is `a::b::c` and `a::d`."""
    head, brace, rest = text.partition("{")
    prefix = [name.strip() for name in head.split("::") if name.strip()]
    if not brace:
        yield [name.split(" as ")[0].strip() for name in prefix]
        return
    depth, piece = 0, ""
    for letter in rest[: rest.rfind("}")] + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            for way in _ways(piece.strip()) if piece.strip() else ():
                yield prefix + way
            piece = ""
        else:
            piece += letter


def _used(way: list[str], path: str, paths: frozenset[str]) -> str | None:
    if not way:
        return None
    if way[0] == "crate":
        folder, way = _crate_folder(path, paths), way[1:]
    elif way[0] == "super":
        folder = _own_folder(path)
        while way and way[0] == "super":
            way = way[1:]
            if way and way[0] == "super":
                folder = folder_of(folder[:-1])
    elif way[0] == "self":
        folder, way = _children_folder(path), way[1:]
    else:
        return None
    for length in range(len(way), 0, -1):
        found = _module(folder + "/".join(way[:length]), paths)
        if found:
            return found
    return None


def _own_folder(path: str) -> str:
    """The folder with the siblings of this file's module."""
    folder = folder_of(path)
    return folder_of(folder[:-1]) if path.endswith("/mod.rs") else folder


def _children_folder(path: str) -> str:
    name = path.rpartition("/")[2]
    return folder_of(path) if name in ("mod.rs", "lib.rs", "main.rs") else path[:-3] + "/"


def _crate_folder(path: str, paths: frozenset[str]) -> str:
    folder = folder_of(path)
    while folder and not {folder + "lib.rs", folder + "main.rs"} & paths:
        folder = folder_of(folder[:-1])
    return folder


def _module(place: str, paths: frozenset[str]) -> str | None:
    return next((file for file in (f"{place}.rs", f"{place}/mod.rs") if file in paths), None)
