"""What a scrape says of a dispatcher at work, and what it costs."""

import time

from manyhands.core.events import CancelAsked, HostPaused
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.surfaces.api.metrics import KINDS_MAX, OTHER_KINDS, Kinds, Metrics
from surfaces.api.live import nap, open_run, samples, shell, value


async def test_attempts_are_counted_by_how_they_ended(live: Dispatcher) -> None:
    metrics = Metrics(live)
    tasks = [nap(f"n{n}", 0.02) for n in range(4)]
    tasks += [shell("bad", "exit 3", attempts=1), shell("slow", "sleep 100", timeout=0.1, attempts=1)]
    await open_run(live, tasks)
    await live.wait_settled("r")
    found = samples(metrics.page())
    total = "manyhands_attempts_total"
    assert value(found, total, ending="done", kind="quick", host="functions") == 4
    assert value(found, total, ending="failed", kind="shell", host="commands") == 1
    assert value(found, total, ending="timed_out", kind="shell", host="commands") == 1
    assert value(found, "manyhands_attempt_seconds_count", kind="quick") == 4
    assert value(found, "manyhands_attempt_seconds_sum", kind="quick") >= 4 * 0.02
    assert value(found, "manyhands_tasks", run="r", state="done", kind="quick") == 4
    assert value(found, "manyhands_tasks", run="r", state="failed", kind="shell") == 2
    assert value(found, "manyhands_tasks", run="r", state="running", kind="shell") == 0
    assert value(found, "manyhands_queue_age_seconds", run="r") == 0


async def test_widths_and_what_is_in_flight_are_told_by_host_and_lane(live: Dispatcher) -> None:
    metrics = Metrics(live)
    await open_run(live, [*(nap(f"s{n}", 60, "slow") for n in range(3)), nap("q", 60)])
    await live.submit(HostPaused(live.clock.now(), "commands", "a test"))
    found = samples(metrics.page())
    assert value(found, "manyhands_host_width", host="functions") == 2
    assert value(found, "manyhands_host_in_flight", host="functions") == 2
    assert value(found, "manyhands_lane_width", host="functions", kind="slow") == 1
    assert value(found, "manyhands_lane_in_flight", host="functions", kind="slow") == 1
    assert value(found, "manyhands_lane_width", host="functions", kind="quick") == 2
    assert value(found, "manyhands_host_paused", host="functions") == 0
    assert value(found, "manyhands_host_paused", host="commands") == 1
    assert value(found, "manyhands_tasks", run="r", state="ready", kind="slow") == 2


async def test_events_and_commits_are_counted_as_they_reach_the_disk(live: Dispatcher) -> None:
    metrics = Metrics(live)
    sizes: list[int] = []
    live.recorded.append(lambda batch: sizes.append(len(batch)))
    await open_run(live, [nap(f"n{n}") for n in range(5)])
    await live.wait_settled("r")
    found = samples(metrics.page())
    assert value(found, "manyhands_journal_events_total") == sum(sizes) > 10
    assert value(found, "manyhands_journal_commit_seconds_count") == len(sizes) >= 2
    assert 0 < value(found, "manyhands_journal_commit_seconds_sum") < 30
    assert value(found, "process_resident_memory_bytes") > 1e6


async def test_tokens_and_costs_are_counted_by_host_and_an_ending_told_twice_once(live: Dispatcher) -> None:
    metrics = Metrics(live)
    await open_run(live, [nap("a", 600)])
    (attempt,) = live.book.running
    for _ in range(2):
        live.ended(attempt, Ending(EndingKind.DONE, tokens_in=7, tokens_out=11, cost=0.25))
    await live.wait_settled("r")
    await live.submit()
    found = samples(metrics.page())
    assert value(found, "manyhands_tokens_total", host="functions", direction="in") == 7
    assert value(found, "manyhands_tokens_total", host="functions", direction="out") == 11
    assert value(found, "manyhands_cost_total", host="functions") == 0.25
    assert value(found, "manyhands_attempts_total", ending="done", kind="quick", host="functions") == 1


async def test_a_second_listener_and_a_closed_one_do_not_disturb(live: Dispatcher) -> None:
    first, second = Metrics(live), Metrics(live)
    first.close()
    await open_run(live, [nap("n")])
    await live.wait_settled("r")
    counts = [samples(one.page()) for one in (first, second)]
    assert [value(found, "manyhands_journal_events_total") > 0 for found in counts] == [False, True]


def test_kinds_beyond_a_bound_count_together() -> None:
    kinds = Kinds()
    labels = [kinds(f"k{n}") for n in range(KINDS_MAX + 10)]
    assert labels[KINDS_MAX - 1 :] == [f"k{KINDS_MAX - 1}"] + [OTHER_KINDS] * 10
    assert kinds("k0") == "k0"


async def test_a_scrape_costs_about_the_same_with_a_thousand_times_the_tasks(live: Dispatcher) -> None:
    """Both runs wait behind two tasks that hold the host. A look at every task would take 10 ms and more."""
    metrics = Metrics(live)
    await open_run(live, [*(nap(f"hold{n}", 600) for n in range(2)), *(nap(f"n{n}") for n in range(200))])
    few_s = scrape_s(metrics)
    await open_run(live, [nap(f"n{n}") for n in range(200_000)], "many")
    many_s = scrape_s(metrics)
    found = samples(metrics.page())
    assert value(found, "manyhands_tasks", run="many", state="ready", kind="quick") == 200_000
    assert value(found, "manyhands_queue_age_seconds", run="many") > 0
    assert many_s < 3 * few_s + 0.001, f"{few_s * 1e3:.2f} ms with 200, {many_s * 1e3:.2f} ms with 200,000"
    await live.submit(CancelAsked(live.clock.now(), "many"))
    assert live.book.runs["many"].counts[TaskState.CANCELLED] == 200_000
    assert value(samples(metrics.page()), "manyhands_queue_age_seconds", run="many") == 0


def scrape_s(metrics: Metrics) -> float:
    """Of the processor's time, as others may be at work on it too; the least of some."""
    took: list[float] = []
    for _ in range(25):
        began = time.thread_time()
        metrics.page()
        took.append(time.thread_time() - began)
    return min(took)
