"""What a plan amounts to: exact where that can be known, and never above what could really run."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import a_task, writes
from manyhands.core.claims import conflict
from manyhands.core.values.task import Claims, Task, claims_of
from manyhands.sources.plans.ceiling import CLOSE_LOOK_MAX, ceiling_of
from manyhands.sources.plans.plan_figures import HotClaim, figures_of, hottest_claims
from manyhands.sources.plans.rough_ceiling import rough_look

LARGE = CLOSE_LOOK_MAX + 200


@pytest.mark.parametrize("size", [1, 7, 200, LARGE])
def test_the_ceiling_of_independent_tasks_is_their_number(size: int) -> None:
    found = ceiling_of([a_task(f"t{n}") for n in range(size)])
    assert (found.tasks, found.is_exact) == (size, True)


@pytest.mark.parametrize("size", [2, 200, LARGE])
def test_the_ceiling_of_a_chain_is_1(size: int) -> None:
    chain = [a_task(f"t{n}", needs=(f"t{n - 1}",) if n else ()) for n in range(size)]
    found = ceiling_of(chain)
    assert (found.tasks, found.is_exact) == (1, True)


@pytest.mark.parametrize("size", [40, LARGE])
def test_the_ceiling_of_disjoint_claims_is_the_number_of_groups(size: int) -> None:
    found = ceiling_of([a_task(f"t{n}", claims=writes(f"src/m{n % 8}/**")) for n in range(size)])
    assert (found.tasks, found.is_exact) == (8, True)


@pytest.mark.parametrize("size", [40, LARGE])
def test_the_ceiling_of_tasks_that_declare_nothing_is_1(size: int) -> None:
    found = ceiling_of([a_task(f"t{n}", claims=None) for n in range(size)])
    assert (found.tasks, found.is_exact) == (1, True)


@pytest.mark.parametrize("size", [40, LARGE])
def test_readers_and_appenders_run_together_but_not_with_each_other(size: int) -> None:
    tasks = [a_task(f"t{n}", claims=Claims(read=("log",)) if n % 4 else Claims(append=("log",))) for n in range(size)]
    assert ceiling_of(tasks).tasks == size * 3 // 4


def test_leaves_at_different_depths_count_together() -> None:
    """A comb: a chain of which each task has one more task behind it."""
    spine = [a_task(f"s{n}", needs=(f"s{n - 1}",) if n else ()) for n in range(30)]
    teeth = [a_task(f"x{n}", needs=(f"s{n}",)) for n in range(29)]
    found = ceiling_of([*spine, *teeth])
    assert (found.tasks, found.is_exact) == (30, True)


def test_a_bound_that_is_not_met_says_about() -> None:
    """A ring of five in which neighbours conflict: two can run at once, and it takes three groups to cover it."""
    ring = [a_task(f"t{n}", claims=writes(f"f{n}", f"f{(n + 1) % 5}")) for n in range(5)]
    assert str(ceiling_of(ring)) == "about 2"
    assert str(ceiling_of([a_task(f"t{n}") for n in range(3)])) == "3"


def really(tasks: list[Task]) -> int:
    """The true ceiling, by trying every set."""
    before: dict[str, set[str]] = {}
    for task in tasks:  # needs come first here
        before[task.id] = {*task.needs, *(far for need in task.needs for far in before[need])}
    for size in range(len(tasks), 0, -1):
        for group in combinations(tasks, size):
            if not any(
                a.id in before[b.id] or b.id in before[a.id] or conflict(claims_of(a), claims_of(b))
                for a, b in combinations(group, 2)
            ):
                return size
    return 0


patterns = st.sampled_from(["a", "a/b", "a/**", "c", "d/*.py", "d/x.py", "gpu:0"])
claims_of_any_mode = st.none() | st.builds(
    Claims,
    write=st.lists(patterns, max_size=1).map(tuple),
    append=st.lists(patterns, max_size=1).map(tuple),
    read=st.lists(patterns, max_size=2).map(tuple),
)


@st.composite
def backlogs(draw: st.DrawFn) -> list[Task]:
    tasks: list[Task] = []
    for number in range(draw(st.integers(1, 8))):
        needs = draw(st.lists(st.sampled_from([task.id for task in tasks]), max_size=2, unique=True)) if tasks else []
        tasks.append(a_task(f"t{number}", needs=tuple(needs), claims=draw(claims_of_any_mode)))
    return tasks


@settings(max_examples=100, deadline=None)
@given(tasks=backlogs())
def test_the_ceiling_is_never_above_the_true_one_and_equal_where_it_says_so(tasks: list[Task]) -> None:
    truth = really(tasks)
    found = ceiling_of(tasks)
    assert found.tasks <= truth
    assert not found.is_exact or found.tasks == truth


@settings(max_examples=100, deadline=None)
@given(tasks=backlogs())
def test_so_is_that_of_the_rough_look_at_large_backlogs(tasks: list[Task]) -> None:
    truth = really(tasks)
    low, high, saw_all = rough_look(tasks)
    assert low <= truth <= high
    assert saw_all


def test_hottest_claims_are_those_the_most_tasks_must_take_turns_on() -> None:
    tasks = [
        *(a_task(f"a{n}", claims=writes("src/auth/**")) for n in range(5)),
        a_task("wide", claims=writes("src/**")),
        *(a_task(f"l{n}", claims=Claims(append=("CHANGELOG.md",))) for n in range(9)),
        *(a_task(f"d{n}", claims=Claims(read=("src/db",))) for n in range(3)),
        a_task("both", claims=Claims(write=("src/auth",), read=("src/**",))),
        *(a_task(f"o{n}", claims=writes(f"own/{n}")) for n in range(20)),
        a_task("none", claims=None),
    ]
    assert hottest_claims(tasks) == (
        HotClaim("src/auth/**", 7),
        HotClaim("src/db", 5),
        HotClaim("src/**", 2),
    )


def test_figures_count_everything_zeros_included() -> None:
    tasks = [
        a_task("a", kind="code", priority=0),
        a_task("b", kind="text", needs=("a",), claims=None),
        a_task("c", kind="code", needs=("b",), claims=None),
        a_task("d", kind="code", run=(), prompt="x", claims=None),
    ]
    figures = figures_of(tasks)
    assert figures.tasks == 4
    assert figures.by_kind == {"code": 3, "text": 1}
    assert figures.by_priority == {0: 1, 1: 0, 2: 3, 3: 0, 4: 0}
    assert figures.depth == 3
    assert figures.undeclared == 2
    assert "2 of 4 tasks declare no claims" in figures.hint
    assert figures_of([]).depth == 0
    assert figures_of(tasks[:1]).depth == 1
    assert figures_of(tasks[:1]).hint == ""


def test_a_large_backlog_is_not_taken_level_by_level() -> None:
    """Chains of ten through ten of a hundred parts: a level has only every tenth part, all of them can run."""
    size = LARGE // 100 * 100 + 100
    tasks = [
        a_task(
            f"t{n}",
            needs=(f"t{n - 1}",) if n % 10 else (),
            claims=Claims(write=(f"src/part{n % 100}/**",), append=("CHANGELOG.md",)),
        )
        for n in range(size)
    ]
    found = ceiling_of(tasks)
    assert (found.tasks, found.is_exact) == (100, True)
