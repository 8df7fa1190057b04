"""How the start widens in time: on which evidence it continues, where it stops, and what it keeps for the next run."""

import pytest

from manyhands.core.clutch.clutch import Clutch
from manyhands.core.clutch.launch import WIDTH_FIRST
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import AGENTS, COMMANDS, SERVICE
from manyhands.core.values.host_memory import HostMemory, KindMemory
from manyhands.core.values.widths import Reading, Sample


def filled(clutch: Clutch, at: float, first: int = 0, most: int = 10**6, kind: str = "k") -> int:
    """Start all that may start now. Returns the next attempt's number."""
    while clutch.in_flight < min(clutch.width, most) and clutch.start_at(at, kind)[0] <= at:
        first += 1
        clutch.started(at, first, kind, clutch.in_flight + 1)
    return first


def machine(at: float, cores: int, busy_cores: float, attempts: int) -> Reading:
    holds = dict.fromkeys(range(1, attempts + 1), 1_000_000)
    return Reading(at, "local", cores=cores, busy_cores=busy_cores, attempt_bytes=holds, memory_total_bytes=64 * 10**9)


def test_a_server_that_streams_is_not_widened_before_it_shows_anything() -> None:
    clutch = Clutch.begin(nature=SERVICE, streams=True)
    filled(clutch, 0.0)
    for tenth in range(50):
        clutch.tick(tenth / 10)
    assert clutch.width == WIDTH_FIRST
    for attempt in range(1, 5):
        clutch.showed(5.0, attempt)
    clutch.tick(5.1)
    assert clutch.width == 2 * WIDTH_FIRST


def test_a_server_that_reads_prompts_one_after_another_gets_no_further_step() -> None:
    clutch = Clutch.begin(nature=SERVICE, streams=True)
    at, last, wait_s = 0.0, 0, 1.0
    for _ in range(4):
        began, last = last, filled(clutch, at, last)
        while clutch.in_flight < clutch.width:  # the starts of a step leave one after another
            at += 0.05
            last = filled(clutch, at, last)
        at += wait_s
        for attempt in range(began + 1, last + 1):
            clutch.showed(at, attempt)
        at += 0.6
        clutch.tick(at)
        wait_s *= 2
    assert clutch.width == 16
    assert not clutch.is_launching
    assert clutch.launch.trouble.startswith("first outputs take 4.")


@pytest.mark.parametrize("tasks", [24, 30])
def test_all_that_ran_at_once_is_remembered_though_the_width_was_never_full(tasks: int) -> None:
    clutch = Clutch.begin(nature=COMMANDS)
    last = 0
    for quarter in range(20):
        at = quarter / 4
        last = filled(clutch, at, last, most=tasks)
        clutch.read(machine(at + 0.1, 64, 0.1, clutch.in_flight))
        clutch.tick(at + 0.1)
    for attempt in range(1, last + 1):
        clutch.observe(Sample(6.0, 0.0, attempt, "k", 16.0, 32, EndingKind.DONE))
    kept = clutch.export()
    assert kept is not None
    assert (kept.width, kept.is_open) == (tasks, True)


def test_where_the_cores_are_full_from_the_start_nothing_says_that_more_would_help() -> None:
    clutch = Clutch.begin(nature=COMMANDS, memory=HostMemory(20.0, 0, is_open=True, kinds={"k": KindMemory()}))
    last = 0
    for quarter in range(20):
        last = filled(clutch, quarter / 4, last)
        clutch.read(machine(quarter / 4 + 0.1, 4, 4.0, clutch.in_flight))
        clutch.tick(quarter / 4 + 0.1)
    assert clutch.width == 20


def test_a_kind_that_memory_does_not_know_waits_for_a_look_at_the_machine() -> None:
    peak = KindMemory(memory_bytes=1e8, memory_spread_bytes=1e7, memory_seen=9)
    clutch = Clutch.begin(nature=COMMANDS, memory=HostMemory(20.0, 0, is_open=True, kinds={"known": peak}))
    assert filled(clutch, 0.0, kind="other") == WIDTH_FIRST
    until, why = clutch.start_at(0.0, "other")
    assert until == 0.6
    assert "memory that other takes" in why
    assert clutch.start_at(0.0, "known")[0] == 0.0


def test_a_server_that_says_how_many_it_works_on_at_once_gets_so_many_at_once() -> None:
    clutch = Clutch.begin(nature=SERVICE, streams=True)
    last = filled(clutch, 0.0)
    clutch.read(Reading(0.25, "llamacpp", running=4, waiting=0, slots=12))
    assert clutch.width == 12
    assert clutch.reason == "the server works on 12 at once"
    at = 0.3
    while clutch.in_flight < 12:
        at += 0.05
        last = filled(clutch, at, last)
    for attempt in range(1, last + 1):
        clutch.showed(at + 0.1, attempt)
    for second in range(1, 10):
        clutch.read(Reading(at + second, "llamacpp", running=12, waiting=0, slots=12))
    assert clutch.width == 12


@pytest.mark.parametrize(("start", "width"), [(None, WIDTH_FIRST), (2, 2), (6, 6)])
def test_after_a_run_of_one_task_a_host_begins_no_narrower_than_a_new_one(start: int | None, width: int) -> None:
    once = Clutch.begin(nature=AGENTS)
    last = filled(once, 0.0, most=1)
    once.tick(1.0)
    once.observe(Sample(19.0, 0.0, last, "code", 10.0, 1, EndingKind.DONE))
    kept = once.export()
    assert kept is not None
    assert (kept.width, kept.is_open) == (1.0, True)
    assert Clutch.begin(nature=AGENTS, memory=kept, start=start).width == width


def test_what_more_tasks_had_in_flight_is_where_the_next_run_begins() -> None:
    memory = HostMemory(9.0, 0, is_open=True)
    clutch = Clutch.begin(nature=AGENTS, memory=memory)
    assert (clutch.width, clutch.why) == (9, "an earlier run had 9 in flight and was still growing")
