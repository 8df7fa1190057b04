"""Short backlogs through the whole scheduler: a seeded slice of what bench/short_backlogs.py measures."""

import pytest

from manyhands.engine.sim.backlog_trial import BacklogRun, best_fixed_s, play
from manyhands.engine.sim.hosts.random_hosts import random_agents, random_host
from manyhands.engine.sim.hosts.reference import (
    AGENTS_CLOSED,
    AGENTS_ENDED,
    AGENTS_OPEN,
    API,
    BATCHING,
    PROCESSES,
    SLOTS,
    HostModel,
)


def pace(model: HostModel, tasks: int, seed: int = 0) -> float:
    """Of the best fixed width, with nothing known."""
    backlog = BacklogRun(model, tasks, seed)
    return best_fixed_s(backlog)[0] / play([backlog])[0].seconds


@pytest.mark.parametrize("model", [BATCHING, API, SLOTS], ids=lambda model: model.name)
def test_a_first_run_comes_near_the_best_fixed_width(model: HostModel) -> None:
    assert pace(model, 15) >= 0.9
    assert pace(model, 60) >= 0.85


def test_a_server_that_streams_without_metrics_is_not_filled_blindly() -> None:
    assert pace(random_host(4), 60) >= 0.9  # 32 at once fill its cache and take a third longer


def test_the_second_run_of_commands_is_as_fast_as_the_best_width_and_kills_nothing() -> None:
    backlogs = [BacklogRun(random_host(2), 15, 0, number) for number in range(2)]
    again = play(backlogs)[1]
    assert best_fixed_s(backlogs[1])[0] >= 0.9 * again.seconds
    assert again.kills == 0


def test_memory_of_other_kinds_kills_no_more_than_one_command() -> None:
    model = random_host(6)
    again = play([BacklogRun(model, 60, 0, of_other_kinds=True), BacklogRun(model, 60, 0, 1)])[1]
    assert again.kills <= 1
    assert play([BacklogRun(PROCESSES, 15, 0)])[0].kills <= 1


def test_commands_that_grow_for_minutes_are_not_admitted_by_what_they_hold_now() -> None:
    kills = [play([BacklogRun(random_host(90), 60, seed)])[0].kills for seed in range(3)]
    assert max(kills) <= 2


def test_agents_start_as_wide_as_their_account_bears() -> None:
    backlog = BacklogRun(AGENTS_OPEN, 15, 0)
    ours = play([backlog])[0]
    assert ours.lost_at == ()
    assert play([backlog], width=16)[0].seconds >= 0.92 * ours.seconds


def test_of_sessions_that_an_account_ends_one_burst_is_lost_and_never_again() -> None:
    backlog = BacklogRun(AGENTS_ENDED, 60, 0)
    ours = play([backlog])[0]
    burst = [at for at in ours.lost_at if at < ours.lost_at[0] + 30]
    assert len(burst) <= 8  # a step from 8 to 16
    later = [at for at in ours.lost_at if at >= ours.lost_at[0] + 30]
    assert all(sum(at <= other < at + 60 for other in later) <= 2 for at in later)
    assert play([backlog], width=12)[0].seconds >= 0.85 * ours.seconds


def test_a_refused_rate_narrows_agents_instead_of_spacing_their_starts() -> None:
    backlog = BacklogRun(random_agents(0), 60, 0)  # bears about four
    assert play([backlog], width=4)[0].seconds >= 0.85 * play([backlog])[0].seconds


def test_an_account_that_closes_for_hours_is_waited_for_and_sessions_are_resumed() -> None:
    backlog = BacklogRun(AGENTS_CLOSED, 60, 0)
    ours = play([backlog])[0]
    assert ours.seconds > 5 * 3600  # its quota is for less than the backlog
    assert play([backlog], width=16)[0].seconds >= 0.85 * ours.seconds


@pytest.mark.parametrize("model", [BATCHING, API, PROCESSES, SLOTS, random_host(8)], ids=lambda model: model.name)
def test_the_third_run_is_not_worse_than_the_second(model: HostModel) -> None:
    times = []
    for seed in range(3):
        _, second, third = play([BacklogRun(model, 60, seed)] * 3)  # the same tasks: what differs is what is remembered
        times.append((second.seconds, third.seconds))
    assert sum(third for _, third in times) <= 1.03 * sum(second for second, _ in times)
    assert all(third <= 1.1 * second for second, third in times)
