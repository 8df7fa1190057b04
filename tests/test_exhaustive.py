"""A new kind of ending, or a new state of tasks, breaks the build in every place that has to decide about it.

A decision between kinds is a `match` that ends in `assert_never`, so the type checker finds it. A question about one
kind alone (`is EndingKind.DONE`) needs no such match: the answer for a new kind is no.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from manyhands.core.transitions import TRANSITIONS
from manyhands.core.values.ending import EndingKind, Overload
from manyhands.core.values.task import TERMINAL, TaskState
from manyhands.surfaces.review import task_tree
from manyhands.surfaces.verbs import task_verbs

SOURCES = Path(__file__).parents[1] / "src" / "manyhands"
MODULES = sorted(path for path in SOURCES.rglob("*.py") if "EndingKind" in path.read_text())
ENDINGS_OF_PAGE = SOURCES / "surfaces" / "page" / "js" / "causes.js"


def kind_of(node: ast.AST) -> str:
    """`LOST` of `EndingKind.LOST`, else nothing."""
    is_kind = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "EndingKind"
    return node.attr if is_kind and isinstance(node, ast.Attribute) and node.attr.isupper() else ""


def offences(tree: ast.AST) -> Iterator[str]:
    """Decisions between kinds that the type checker would not find."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.Set | ast.List) and any(map(kind_of, node.elts)):
            if not is_pair_of_values(node):
                yield f"{node.lineno}: a collection of kinds leaves out what comes later"
        elif isinstance(node, ast.Dict) and any(kind_of(key) for key in node.keys if key is not None):
            yield f"{node.lineno}: a table by kind lacks what comes later"
        elif isinstance(node, ast.Compare):
            kinds = [kind for one in (node.left, *node.comparators) if (kind := kind_of(one))]
            if kinds and isinstance(node.ops[0], ast.IsNot | ast.NotEq) and kinds != ["DONE"]:
                yield f"{node.lineno}: `is not` decides for every kind that comes later"
        elif isinstance(node, ast.Match) and any(kind_of(part) for part in walk_patterns(node)):
            if not ends_in_assert_never(node):
                yield f"{node.lineno}: the match does not end in assert_never"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            asked = {kind for part in ast.walk(node) if isinstance(part, ast.Compare) for kind in kinds_in(part)}
            if len(asked) > 1 and not any(isinstance(part, ast.Match) for part in ast.walk(node)):
                yield f"{node.lineno}: {node.name} decides between {sorted(asked)} without a match"


def is_pair_of_values(node: ast.Tuple | ast.Set | ast.List) -> bool:
    """`kind, detail = EndingKind.LOST, ""` makes an ending and decides nothing."""
    return isinstance(node, ast.Tuple) and sum(bool(kind_of(one)) for one in node.elts) == 1 and len(node.elts) == 2


def kinds_in(compare: ast.Compare) -> set[str]:
    return {kind for one in (compare.left, *compare.comparators) if (kind := kind_of(one))}


def walk_patterns(match: ast.Match) -> Iterator[ast.AST]:
    for case in match.cases:
        yield from ast.walk(case.pattern)


def ends_in_assert_never(match: ast.Match) -> bool:
    last = match.cases[-1].body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "assert_never"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(SOURCES)))
def test_every_decision_between_kinds_of_endings_is_found_by_the_type_checker(module: Path) -> None:
    assert list(offences(ast.parse(module.read_text()))) == []


@pytest.mark.parametrize(
    "code",
    [
        "BAD = (EndingKind.LOST, EndingKind.FAILED)",
        "bad = kind in {EndingKind.LOST}",
        "WORDS = {EndingKind.LOST: 'lost'}",
        "bad = kind is not EndingKind.LOST",
        "def f(kind):\n    if kind is EndingKind.LOST: return 1\n    return 2 if kind is EndingKind.DONE else 3",
        "match kind:\n    case EndingKind.LOST: pass\n    case _: pass",
    ],
)
def test_the_scan_sees_each_way_to_forget_a_kind(code: str) -> None:
    assert list(offences(ast.parse(code)))


def rows_on_page(table: str) -> list[str]:
    _, _, rows = ENDINGS_OF_PAGE.read_text().partition(f"const {table} = {{")
    return [line.split(":")[0].strip() for line in rows.partition("\n};")[0].splitlines() if ":" in line]


def test_the_page_has_a_sign_for_every_kind_of_ending() -> None:
    assert rows_on_page("ENDINGS") == [str(kind) for kind in EndingKind]


def test_the_page_has_a_sign_for_every_overload_that_was_no_load() -> None:
    assert rows_on_page("OVERLOADS") == [str(overload) for overload in Overload if overload is not Overload.LOAD]


def test_tables_of_states_have_a_row_for_every_state() -> None:
    assert set(TRANSITIONS) == set(TaskState)
    assert set(task_verbs.ORDER) == set(task_tree.WORST_FIRST) == set(TaskState)
    assert {state for state, after in TRANSITIONS.items() if TaskState.RUNNING in after} == {TaskState.READY}
    assert not any(TaskState.DONE in TRANSITIONS[state] for state in TERMINAL)
