"""The rules of the house as tests: who may import whom, and how large and how named things may be."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "manyhands"

#: room → the rooms it may import besides itself. Exact: an edge that nobody uses is wrong too.
ROOMS: dict[str, set[str]] = {
    "core": set(),
    "sources": {"core", "readers", "worker"},
    "hosts": {"core", "readers", "sources"},
    "engine": {"core", "hosts", "readers", "sources"},
    "apps": {"core", "sources", "hosts", "engine", "readers", "assembly"},
    "surfaces": {"core", "sources", "hosts", "engine", "apps", "readers", "worker", "assembly"},
}
#: Beside the rooms: the readers stand below all of them, the model worker stands alone on the readers,
#: and one module puts a session together.
BESIDE: dict[str, set[str]] = {
    "readers": set(),
    "worker": {"readers"},
    "assembly": {"core", "sources", "hosts", "engine"},
    "__main__": {"surfaces"},
}
#: Modules of the package itself → the rooms that use them. Exact as well. The package has its version and its API.
GROUND: dict[str, set[str]] = {
    "": {"apps", "hosts", "surfaces"},
    "concurrency": {"apps", "hosts", "surfaces"},
    "durations": {"apps", "core", "sources", "surfaces"},
    "errors": {"apps", "assembly", "core", "engine", "hosts", "sources", "surfaces", "worker"},
    "field_rules": {"apps", "core", "engine", "readers", "sources", "worker"},
    "http_serving": {"surfaces", "worker"},
    "install_hints": {"apps", "assembly", "engine", "hosts", "sources", "surfaces", "worker"},
    "quantiles": {"apps", "surfaces"},
    "quantities": {"apps", "core", "engine", "hosts", "sources", "surfaces"},
    "store_directory": {"engine", "hosts", "surfaces"},
}

#: package → the packages of the same room it may import. Exact as well.
INSIDE: dict[str, set[str]] = {
    "core": {"core.clutch", "core.values"},
    "core.clutch": {"core.values"},
    "sources.beads": {"sources"},
    "sources.config": {"sources"},
    "sources.plans": {"sources"},
    "sources.queues": {"sources.plans"},
    "sources.split": {"sources", "sources.split.imports"},
    "sources.trackers": {"sources.beads"},
    "sources.split.views": {"sources.split"},
    "hosts.agents": {"hosts.executors"},
    "hosts.artefacts": {"hosts.executors"},
    "hosts.landing": {"hosts.artefacts", "hosts.executors"},
    "hosts.ray": {"hosts.executors"},
    "engine": {"engine.store", "engine.store.contract"},
    "engine.delivery": {"engine.delivery.sinks"},
    "engine.sim": {"engine.sim.hosts"},
    "engine.sim.dispatched": {
        "engine",
        "engine.delivery",
        "engine.delivery.sinks",
        "engine.sim.hosts",
        "engine.store",
        "engine.store.contract",
    },
    "engine.store": {"engine.store.contract", "engine.store.postgres", "engine.store.sqlite"},
    "engine.store.postgres": {"engine.store.contract"},
    "engine.store.sqlite": {"engine.store.contract"},
    "apps.evals": {"apps.evals.figures", "apps.evals.scoring", "apps.evals.spec", "apps.evals.trial"},
    "apps.evals.exchange": {"apps.evals.figures", "apps.evals.spec"},
    "apps.evals.figures": {"apps.evals.spec"},
    "apps.evals.reports": {"apps.evals.figures", "apps.evals.spec"},
    "apps.evals.scoring": {"apps.evals.spec", "apps.evals.trial"},
    "apps.evals.trial": {"apps.evals.spec"},
    "surfaces.api": {"surfaces.api.picture", "surfaces.page", "surfaces.review", "surfaces.verbs"},
    "surfaces.api.picture": {"surfaces.verbs"},
    "surfaces.cli": {
        "surfaces.api",
        "surfaces.api.picture",
        "surfaces.cli.parsing",
        "surfaces.mcp",
        "surfaces.page",
        "surfaces.review",
        "surfaces.verbs",
    },
    "surfaces.mcp": {"surfaces.review", "surfaces.verbs"},
    "surfaces.verbs": {"surfaces.review"},
    "worker": {
        "worker.backends",
        "worker.devices",
        "worker.loop",
        "worker.memory",
        "worker.planning",
        "worker.values",
    },
    "worker.backends": {"worker.memory", "worker.values"},
    "worker.devices": {"worker.values"},
    "worker.http": {"worker.backends", "worker.loop", "worker.values"},
    "worker.loop": {"worker.backends", "worker.devices", "worker.planning", "worker.values"},
    "worker.memory": {"worker.values"},
    "worker.packing": {"worker.memory", "worker.values"},
    "worker.planning": {"worker.memory", "worker.packing", "worker.residency", "worker.values"},
}

#: What the core may use of the standard library: values and arithmetic. No clock, no I/O, no randomness, no logging.
CORE_STDLIB = {"bisect", "collections", "dataclasses", "enum", "fnmatch", "functools", "heapq", "itertools", "math"}
CORE_STDLIB |= {"operator", "re", "statistics", "typing", "zlib", "__future__"}
CORE_LIBRARIES = {"msgspec"}

#: Says nothing about what is inside.
BANNED_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "base", "misc", "data"}
MODULE_LINES_MAX = 400
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


def dotted_name_of(module: Path) -> str:
    parts = module.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULE_OF = {dotted_name_of(module): module for module in MODULES}


def package_of(name: str) -> str:
    """The folder a module is in; modules of the package itself stand for themselves."""
    module = MODULE_OF[name]
    return ".".join(module.relative_to(PACKAGE).parts[:-1]) or name


def room_of(package: str) -> str:
    return package.partition(".")[0]


def folder_of(module: Path) -> str:
    return room_of(package_of(dotted_name_of(module)))


def imported_packages() -> dict[tuple[str, str], list[str]]:
    """(importing package, imported package) → where."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, module in MODULE_OF.items():
        for line, imported in imports_of(module):
            parts = imported.split(".")
            if parts[0] != "manyhands":
                continue
            while ".".join(parts[1:]) not in MODULE_OF:
                parts.pop()
            edge = package_of(name), package_of(".".join(parts[1:]))
            if edge[0] != edge[1]:
                found.setdefault(edge, []).append(f"{name_of(module)}:{line}")
    return found


EDGES = imported_packages()


def test_rooms_import_what_the_table_says_and_nothing_else() -> None:
    allowed = {(room, other) for room, others in (ROOMS | BESIDE).items() for other in others}
    used: dict[tuple[str, str], list[str]] = {}
    for (importer, imported), places in EDGES.items():
        edge = room_of(importer), room_of(imported)
        if edge[0] != edge[1] and edge[1] not in GROUND and edge[0] not in GROUND:
            used.setdefault(edge, []).extend(places)
    assert {edge: places[:3] for edge, places in used.items() if edge not in allowed} == {}
    assert allowed - set(used) == set(), "allowed, but nobody does"


def test_the_ground_imports_no_room() -> None:
    rooms = set(ROOMS) | set(BESIDE)
    assert [edge for edge in EDGES if edge[0] in GROUND and room_of(edge[1]) in rooms] == []


def test_the_ground_is_used_as_the_table_says() -> None:
    used: dict[str, set[str]] = {name: set() for name in GROUND}
    for importer, imported in EDGES:
        if imported in GROUND and room_of(importer) not in GROUND:
            used[imported].add(room_of(importer))
    assert used == GROUND


def test_every_module_is_in_a_room() -> None:
    assert {folder_of(module) for module in MODULES} == set(ROOMS) | set(BESIDE) | set(GROUND)


def test_packages_of_a_room_import_each_other_as_the_table_says() -> None:
    used = {edge for edge in EDGES if room_of(edge[0]) == room_of(edge[1])}
    allowed = {(package, other) for package, others in INSIDE.items() for other in others}
    assert {edge: EDGES[edge][:3] for edge in used - allowed} == {}
    assert allowed - used == set(), "allowed, but nobody does"


def test_packages_have_no_circles() -> None:
    left = {package: {other for one, other in EDGES if one == package} for package in {one for one, _ in EDGES}}
    while free := [package for package, others in left.items() if not others & set(left)]:
        for package in free:
            del left[package]
    assert left == {}, "these import each other"


def used_by(module: Path) -> set[str]:
    """The modules of the project that this one imports, in functions too. Imports for the type checker do not count."""
    found: set[str] = set()
    left: list[ast.AST] = [ast.parse(module.read_text())]
    while left:
        node = left.pop()
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "manyhands":
            package = (node.module or "").partition(".")[2]
            for alias in node.names:
                inner = f"{package}.{alias.name}".lstrip(".")
                found.add(inner if inner in MODULE_OF else package)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            left += node.orelse
        else:
            left += ast.iter_child_nodes(node)
    return found - {dotted_name_of(module), ""}


def test_modules_have_no_circles() -> None:
    left = {name: used_by(module) for name, module in MODULE_OF.items()}
    while free := [name for name, others in left.items() if not others & set(left)]:
        for name in free:
            del left[name]
    assert left == {}, "these import each other"


def public_types_of(module: Path) -> Iterator[str]:
    """Classes, and names like them that are given to other types: aliases, unions, type variables.

    Constants are all capitals and do not count. Neither does a name that is imported from where it is defined.
    """
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        targets: list[object] = [*node.targets] if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        targets.append(getattr(node, "name", None))  # of `type X = …`
        yield from (one.id for one in targets if isinstance(one, ast.Name) and re.match(r"[A-Z]\w*[a-z]", one.id))


def test_a_public_name_of_a_type_occurs_once() -> None:
    places: dict[str, list[str]] = {}
    for module in MODULES:
        for name in public_types_of(module):
            if not name.startswith("_"):
                places.setdefault(name, []).append(name_of(module))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_a_module_name_says_what_is_inside_without_its_folder() -> None:
    places: dict[str, list[str]] = {}
    for module in MODULES:
        if module.stem not in ("__init__", "__main__"):
            places.setdefault(module.stem, []).append(name_of(module))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


@pytest.mark.parametrize(
    ("library", "modules"),
    [
        # What a host takes is decided in one place, and so is which tasks a person means and which files are kept.
        (
            "fnmatch",
            {"core/placement.py", "core/rules.py", "hosts/artefacts/kept_files.py", "surfaces/verbs/task_choice.py"},
        ),
        ("uvicorn", {"http_serving.py"}),
    ],
)
def test_there_is_one_place_for(library: str, modules: set[str]) -> None:
    found = {name_of(m) for m in MODULES if any(name.split(".")[0] == library for _, name in imports_of(m))}
    assert found == modules


@pytest.mark.parametrize("module", [m for m in MODULES if folder_of(m) == "core"], ids=name_of)
def test_the_core_is_a_function_of_its_events(module: Path) -> None:
    allowed = CORE_STDLIB | CORE_LIBRARIES | {"manyhands"}
    wrong = [f"line {line}: {name}" for line, name in imports_of(module) if name.split(".")[0] not in allowed]
    assert wrong == []


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
