"""Finds tests of the split files that are elsewhere in the workspace, as `tests/` is beside `src/`."""

from collections.abc import Sequence
from pathlib import Path

from manyhands.sources.split.imports.import_ties import FilesOnDisk, read_imports
from manyhands.sources.split.neighbours import is_test
from manyhands.sources.split.walking import find_files


def tests_outside(workspace: Path, inside: str, paths: Sequence[str]) -> dict[str, list[str]]:
    """File of the split directory `inside` → tests elsewhere that import it, with their paths from the workspace."""
    if not inside:
        return {}
    importers = imported_by_tests(workspace, [inside + path for path in paths])
    return {file.removeprefix(inside): tests for file, tests in importers.items()}


def imported_by_tests(workspace: Path, paths: Sequence[str]) -> dict[str, list[str]]:
    """Each of these files of the workspace → the tests that import it and are not among them."""
    known = set(paths)
    tests = [path for path in find_files(workspace).size_of if is_test(path) and path not in known]
    imports, _ = read_imports(FilesOnDisk(workspace, [*tests, *paths]))
    outside = set(tests)
    importers: dict[str, list[str]] = {}
    for importer, imported, _share in sorted(imports):
        if importer in outside and imported in known:
            importers.setdefault(imported, []).append(importer)
    return importers
