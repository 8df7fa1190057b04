"""Imports of Python files, from their syntax trees."""

import ast
import warnings
from collections.abc import Iterator

from manyhands.sources.split.imports.import_reader import Files, Import, folder_of


def python_imports(files: Files) -> Iterator[Import]:
    modules = _Modules(files.paths, files.package)
    for path in sorted(files.paths):
        if not path.endswith((".py", ".pyi")):
            continue
        content = files.read(path)
        if content is None:
            continue
        found = {modules.find(path, *name) for name in _imported_names(content)}
        yield from (Import(path, target) for target in sorted(found - {None, path}, key=str) if target)


def _imported_names(content: bytes) -> Iterator[tuple[int, str, str]]:
    """(levels up, module, name) of each import; the name is empty for `import module`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about the code we read
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.level, node.module or "", alias.name) for alias in node.names)


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The statements of a tree. Expressions, nine tenths of it, cannot contain imports."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting.extend(getattr(node, block, ()))


class _Modules:
    """Where modules are. Imports start from directories without __init__.py above a package."""

    def __init__(self, paths: frozenset[str], package: str) -> None:
        self._package = package  # what the root itself is
        self._file_of: dict[str, str] = {}  # path without suffix or `/__init__` → file
        for path in sorted(paths):
            if path.endswith((".py", ".pyi")):
                plain = path.rpartition(".")[0]
                name = plain.removesuffix("/__init__") if plain.endswith("/__init__") else plain
                self._file_of.setdefault(name, path)
        packages = {folder_of(path) for path in paths if path.endswith("/__init__.py")}
        starts = {self._start_of(path, packages) for path in self._file_of.values()} | {""}
        self._starting_with: dict[str, set[str]] = {}  # first name of a module → the directories that have it
        for name in self._file_of:
            start = folder_of(name)
            while True:
                if start in starts:
                    self._starting_with.setdefault(name[len(start) :].partition("/")[0], set()).add(start)
                if not start:
                    break
                start = folder_of(start[:-1])

    @staticmethod
    def _start_of(path: str, packages: set[str]) -> str:
        start = folder_of(path)
        while start in packages:
            start = folder_of(start[:-1])
        return start

    def find(self, importer: str, level: int, module: str, name: str) -> str | None:
        way = module.replace(".", "/")
        if level:
            start = folder_of(importer)
            for _ in range(level - 1):
                start = folder_of(start[:-1])
            return self._below(start, way, name)
        if self._package and f"{way}/".startswith(f"{self._package}/"):
            return self._below("", way[len(self._package) :].lstrip("/"), name)
        places = self._starting_with.get(way.partition("/")[0], ())
        # First a module beside the importer, then the nearest directory above it, then any.
        own = folder_of(importer)
        for start in sorted(places, key=lambda place: (not own.startswith(place), -len(place), place)):
            found = self._below(start, way, name)
            if found:
                return found
        return None

    def _below(self, start: str, way: str, name: str) -> str | None:
        plain = (start + way).rstrip("/")
        if name and (submodule := self._file_of.get(f"{plain}/{name}" if plain else name)):
            return submodule
        found = self._file_of.get(plain)
        if found or name:
            return found
        # `import a.b.c` where `c` is not a file of ours may still name a package of ours.
        return self._file_of.get(plain.rpartition("/")[0]) if "/" in way else None
