"""Every simulated host keeps the same contract, and each family shows what it is there to show."""

import math
from random import Random

import msgspec
import pytest

from manyhands.core.clutch.clutch import Clutch
from manyhands.core.clutch.fixed import Fixed
from manyhands.core.values.ending import EndingKind
from manyhands.engine.sim.hosts.outage_host import OutageHost
from manyhands.engine.sim.hosts.random_hosts import random_host
from manyhands.engine.sim.hosts.reference import API, BATCHING, PROCESSES, REFERENCE, SLOTS, HostModel, build
from manyhands.engine.sim.hosts.simulated_host import Finished, SimulatedHost
from manyhands.engine.sim.limit_score import drive

MODELS = [*REFERENCE, *(random_host(number) for number in range(4))]
EACH = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


def run_dry(host: SimulatedHost) -> list[Finished]:
    finished: list[Finished] = []
    for _ in range(100_000):
        at = host.next_event_at()
        if at == math.inf or at > 1e6:
            break
        finished += host.advance(at)
    return finished


def submit_some(host: SimulatedHost, count: int, seed: int = 1) -> None:
    random = Random(seed)
    for attempt in range(count):
        host.advance(0.2 * attempt)
        host.submit(0.2 * attempt, attempt, host.draw(random))


@EACH
def test_every_attempt_ends_exactly_once_and_in_the_order_of_time(model: HostModel) -> None:
    host = build(model.parameters)
    submitted_before = [host.next_event_at()]
    random = Random(1)
    finished: list[Finished] = []
    for attempt in range(30):
        finished += host.advance(0.2 * attempt)
        host.submit(0.2 * attempt, attempt, host.draw(random))
    finished += run_dry(host)
    assert sorted(each.attempt for each in finished) == list(range(30)), submitted_before
    assert [each.at for each in finished] == sorted(each.at for each in finished)


@EACH
def test_a_cancelled_attempt_never_ends_and_the_others_do(model: HostModel) -> None:
    host = build(model.parameters)
    random = Random(2)
    for attempt in range(12):
        host.submit(0.0, attempt, host.draw(random))
    host.cancel(0.1, 3)
    host.cancel(0.1, 11)
    ended = {each.attempt for each in run_dry(host)}
    assert ended == set(range(12)) - {3, 11}


@EACH
def test_the_same_jobs_end_the_same_way(model: HostModel) -> None:
    first, second = build(model.parameters), build(model.parameters)
    submit_some(first, 20)
    submit_some(second, 20)
    assert run_dry(first) == run_dry(second)


@EACH
def test_a_job_of_one_kind_can_be_asked_for(model: HostModel) -> None:
    host, random = build(model.parameters), Random(3)
    for share in model.parameters.mix:
        assert host.draw(random, share.kind).kind == share.kind


def test_looking_at_a_host_changes_nothing() -> None:
    for model in REFERENCE:
        seen, unseen = build(model.parameters), build(model.parameters)
        submit_some(seen, 20)
        submit_some(unseen, 20)
        ends: list[Finished] = []
        while (at := seen.next_event_at()) < 1e5:
            seen.reading(at - 1e-3) if at > 10 else None
            ends += seen.advance(at)
        assert [each.attempt for each in ends] == [each.attempt for each in run_dry(unseen)]


def test_batching_gains_with_width_until_the_cache_overflows() -> None:
    narrow, good, wide = (drive(BATCHING, Fixed(width), 0) for width in (8, 60, 120))
    assert good.goodput > 1.5 * narrow.goodput
    assert wide.goodput < 0.7 * good.goodput
    assert wide.overloads > 10 > narrow.overloads


def test_the_api_refuses_beyond_its_budget_and_says_when_to_come_back() -> None:
    host = build(API.parameters)
    random = Random(1)
    for attempt in range(80):
        host.submit(0.0, attempt, host.draw(random))
    refused = [each.ending for each in host.advance(0.5)]
    assert refused
    assert all(ending.kind is EndingKind.OVERLOADED and ending.rate_limited for ending in refused)
    assert all(ending.retry_after_s and ending.retry_after_s >= 1 for ending in refused)


def test_an_api_that_tells_its_budget_is_paced_with_few_refusals() -> None:
    told = HostModel("told", msgspec.structs.replace(API.parameters, tells_budget=True), 600)
    outcome = drive(told, Clutch.begin(), 0)
    assert outcome.refused <= 0.015 * outcome.starts
    assert outcome.goodput > 0.9 * drive(told, Fixed(34), 0).goodput


def test_too_many_processes_are_killed_for_memory() -> None:
    assert drive(PROCESSES, Fixed(5), 0).kills == 0
    crowded = drive(PROCESSES, Fixed(14), 0)
    assert crowded.kills > 100
    assert crowded.goodput < 0.5 * drive(PROCESSES, Fixed(8), 0).goodput


def test_slots_refuse_when_the_queue_is_full_and_some_errors_are_unrelated() -> None:
    assert drive(SLOTS, Fixed(16), 0).overloads == 0
    assert drive(SLOTS, Fixed(80), 0).overloads > 100
    alone = drive(SLOTS, Fixed(4), 0)
    assert alone.starts > alone.done  # errors at any load


def test_a_dead_host_loses_what_it_had_and_refuses_what_comes() -> None:
    host = OutageHost(build(SLOTS.parameters), ((5.0, 20.0),))
    random = Random(1)
    jobs = [host.draw(random) for _ in range(6)]
    for attempt in range(4):
        host.submit(0.0, attempt, msgspec.structs.replace(jobs[attempt], seconds=100.0))
    lost = host.advance(6.0)
    assert {each.ending.kind for each in lost} == {EndingKind.LOST}
    host.submit(7.0, 4, jobs[4])
    assert host.advance(8.0)[0].ending.detail == "connection refused"
    host.submit(21.0, 5, msgspec.structs.replace(jobs[5], seconds=1.0, fails_after=None))
    assert host.advance(30.0)[0].ending.kind is EndingKind.DONE
