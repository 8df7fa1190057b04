"""`--concurrency auto`: doubles from one while nothing suffers, stops at the first sign, and keeps what it found."""

import pytest

from apps.evals.specs import Nobody, evaluated, written
from manyhands.apps.evals.calibration import SeenDurations, found, judge, next_n, rounds_at
from manyhands.apps.evals.spec.eval_types import Calibration, Concurrency
from surfaces.cli.console import Console


def sessions(took_s: float, count: int = 200, failed: int = 0, overloads: int = 0) -> list[SeenDurations]:
    return [SeenDurations(took_s, n < failed, overloads if n == 0 else 0) for n in range(count)]


def looked(most: int, *steps: list[SeenDurations]) -> Concurrency:
    judged: list[Calibration] = []
    given = iter(steps)
    while (n := next_n(judged, most)) is not None:
        judged.append(judge(n, next(given), judged[0] if judged else None))
    return found(judged)


def test_it_doubles_until_the_p95_is_more_than_a_tenth_slower() -> None:
    concurrency = looked(64, sessions(1.0), sessions(1.0), sessions(1.09), sessions(1.12))
    assert concurrency.n == 4
    assert [step.n for step in concurrency.steps] == [1, 2, 4, 8]
    assert [step.accepted for step in concurrency.steps] == [True, True, True, False]
    assert "1.12 ×" in concurrency.steps[-1].why


@pytest.mark.parametrize(
    ("suffers", "why"),
    [
        (sessions(1.0, overloads=1), "1 overloads"),
        (sessions(1.0, failed=5), "2.5% lost"),
    ],
)
def test_an_overload_or_more_failures_end_it(suffers: list[SeenDurations], why: str) -> None:
    concurrency = looked(64, sessions(1.0, failed=2), sessions(1.0, failed=3), suffers)
    assert concurrency.n == 2
    assert why in concurrency.steps[-1].why


def test_it_never_looks_beyond_what_the_hosts_take() -> None:
    assert looked(6, *[sessions(1.0)] * 4).n == 6
    assert looked(1, sessions(1.0)).n == 1


def test_everything_that_may_run_at_once_has_run_twice() -> None:
    assert [rounds_at(n, 8) for n in (1, 8, 16, 64)] == [2, 2, 4, 16]


async def test_what_it_finds_is_frozen_recorded_and_the_same_for_all_arms(console: Console) -> None:
    """A host that takes two at once: whatever the machine does, it is not more than that."""
    console.config('[hosts.local]\ntype = "shell"\nwidth = 2\n')
    written(console, nap=0.3, cases=1, replications=3, concurrency="auto")
    nobody = Nobody()
    record = await evaluated(console, nobody=nobody)
    assert record.concurrency.how == "auto"
    assert record.concurrency.n in (1, 2)
    assert record.concurrency.steps[0].n == 1
    assert record.concurrency.steps[0].sessions == 4
    assert {outcome.state for outcome in record.outcomes} == {"scored"}
    assert len(record.order) == 6  # trials of the search are not in it
    assert any("1 at once: p95" in line for line in nobody.said)
