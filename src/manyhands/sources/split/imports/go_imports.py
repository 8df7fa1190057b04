"""Imports of Go files: an import names a directory, so the files in it share the import."""

import re
from collections.abc import Iterator

from manyhands.sources.split.imports.grammars import parse
from manyhands.sources.split.imports.import_reader import Files, Import, folder_of, shared
from manyhands.sources.split.imports.syntax import text_of, walk

_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)


def go_imports(files: Files) -> Iterator[Import]:
    sources = [path for path in sorted(files.paths) if path.endswith(".go")]
    inside: dict[str, list[str]] = {}
    for path in sources:
        if not path.endswith("_test.go"):
            inside.setdefault(folder_of(path).rstrip("/"), []).append(path)
    modules = _modules(files)
    for path in sources:
        content = files.read(path)
        root = parse(path, content) if content is not None else None
        if root is None:
            continue
        for declaration in root.named_children:
            if declaration.type != "import_declaration":
                continue
            for spec in (node for node in walk(declaration) if node.type == "import_spec"):
                name = spec.child_by_field_name("path")
                folder = _folder(text_of(name).strip('"`'), modules) if name is not None else None
                if folder is not None:
                    yield from shared(path, inside.get(folder, ()))


def _modules(files: Files) -> list[tuple[str, str]]:
    """(module path, its folder), the longest first: modules may be nested."""
    found = []
    for path in files.paths:
        if path.rpartition("/")[2] == "go.mod":
            match = _MODULE.search((files.read(path) or b"").decode(errors="replace"))
            if match:
                found.append((match[1], folder_of(path).rstrip("/")))
    return sorted(found, key=lambda module: (-len(module[0]), module))


def _folder(name: str, modules: list[tuple[str, str]]) -> str | None:
    for module, folder in modules:
        if name == module or name.startswith(module + "/"):
            return f"{folder}{name[len(module) :]}".lstrip("/") if folder else name[len(module) + 1 :]
    return None
