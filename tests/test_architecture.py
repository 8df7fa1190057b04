"""The rules of the house as tests: who may import whom, and how large and how named things may be."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "manyhands"

#: folder → the folders it may import besides itself. `errors`, `concurrency` and the version are free for all.
#: Nothing imports `cli`; what is not listed here has no place yet and fails until it gets one.
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "inputs": {"core"},
    "backlogs": {"core", "inputs"},
    "beads": {"core", "inputs", "backlogs"},
    "config": {"core", "inputs"},
    "probes": {"core", "config"},
    "executors": {"core", "config"},
    "landing": {"core", "config", "executors"},
    "store": {"core"},
    "sim": {"core", "probes", "backlogs", "inputs", "config"},
    "routes": {"core", "config"},
    "models": {"core", "config", "probes"},
    "runtime": {"core", "config", "store", "executors", "landing", "probes", "backlogs", "beads", "routes", "models"},
    "page": set(),
    "api": {"page", "core", "config", "store", "runtime", "backlogs", "beads", "inputs"},
    "client": {"core", "config"},
    "evals": {"core", "config", "client", "runtime", "backlogs", "inputs", "executors"},
    "tune": {"core", "config", "runtime"},
    "serve": {"core", "config", "store", "executors", "runtime", "backlogs", "beads", "inputs", "api"},
    "split": {"core", "config", "backlogs", "inputs"},
    "review": {"core", "runtime", "page"},
    "verbs": {"core", "config", "store", "runtime", "backlogs", "beads", "inputs", "landing", "review"},
    "mcp": {"core", "config", "runtime", "backlogs", "inputs", "executors", "review", "verbs"},
}
MAY_IMPORT["cli"] = set(MAY_IMPORT) | {"cli"}

#: What the core may use of the standard library: values and arithmetic. No clock, no I/O, no randomness, no logging.
CORE_STDLIB = {"bisect", "collections", "dataclasses", "enum", "fnmatch", "functools", "heapq", "itertools", "math"}
CORE_STDLIB |= {"operator", "re", "statistics", "typing", "zlib", "__future__"}
CORE_LIBRARIES = {"msgspec"}
#: A generator made anew from the limit's own fields for each number: a function of what it was told all the same.
CORE_EXCEPTIONS = {"core/clutch/vegas.py": {"random"}}

#: Says nothing about what is inside.
BANNED_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "base", "misc", "data"}
MODULE_LINES_MAX = 450
FUNCTION_LINES_MAX = 60

MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(module: Path) -> str:
    return str(module.relative_to(PACKAGE))


def imports_of(module: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every import, also those inside functions."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(module)}:{node.lineno}: imports are absolute"
            assert node.module is not None
            if node.module == "manyhands":
                for alias in node.names:
                    yield node.lineno, f"manyhands.{alias.name}"
            else:
                yield node.lineno, node.module


def folder_of(module: Path) -> str:
    parts = module.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_a_module_imports_only_what_its_folder_may(module: Path) -> None:
    folder = folder_of(module)
    wrong: list[str] = []
    for line, name in imports_of(module):
        parts = name.split(".")
        if parts[0] != "manyhands":
            continue
        imported = parts[1] if len(parts) > 1 else ""
        if imported in ("", "errors", "concurrency", "__version__", folder):
            continue
        if module.name == "__main__.py" and imported == "cli":
            continue
        if not folder:
            wrong.append(f"line {line}: {name}: modules of the package itself stand below everything else")
        elif imported not in MAY_IMPORT.get(folder, set()):
            wrong.append(f"line {line}: {folder} may not import {name}")
    assert wrong == []


@pytest.mark.parametrize("module", [m for m in MODULES if folder_of(m) == "core"], ids=name_of)
def test_the_core_is_a_function_of_its_events(module: Path) -> None:
    allowed = CORE_STDLIB | CORE_LIBRARIES | {"manyhands"} | CORE_EXCEPTIONS.get(name_of(module), set())
    wrong = [f"line {line}: {name}" for line, name in imports_of(module) if name.split(".")[0] not in allowed]
    assert wrong == []


def test_every_folder_has_its_place_in_the_table() -> None:
    folders = {folder_of(module) for module in MODULES} - {""}
    assert folders <= set(MAY_IMPORT)


def test_the_table_has_no_circles() -> None:
    done: set[str] = set()
    while left := [folder for folder in MAY_IMPORT if folder not in done and folder != "cli"]:
        free = [folder for folder in left if MAY_IMPORT[folder] <= done]
        assert free, f"these import each other: {left}"
        done.update(free)


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_a_module_is_small_named_for_what_it_does_and_says_what_it_is(module: Path) -> None:
    text = module.read_text()
    tree = ast.parse(text)
    wrong: list[str] = []
    if (lines := text.count("\n")) > MODULE_LINES_MAX:
        wrong.append(f"{lines} lines, at most {MODULE_LINES_MAX}")
    if module.stem in BANNED_NAMES or folder_of(module) in BANNED_NAMES:
        wrong.append(f"the name {module.stem} says nothing")
    if text.strip() and not ast.get_docstring(tree):
        wrong.append("no docstring")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES_MAX:
                wrong.append(f"{node.name} has {length} lines, at most {FUNCTION_LINES_MAX}")
    assert wrong == []
