"""What went on, kept in the store while it went on."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from manyhands.core.events import AnyEvent
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.store.contract.samples import HostSample, RunSample, SeriesSample
from manyhands.engine.store.sqlite.sqlite_store import SAMPLES_KEPT_S, open_journal, open_series
from manyhands.surfaces.api.sampling import Sampler, sampling
from surfaces.api.live import nap, open_run, shell


async def test_a_sample_says_what_is_now_and_what_ended_since_the_one_before(live: Dispatcher) -> None:
    sampler = Sampler(live)
    assert sampler.sample(time.time()) is None, "nothing happens"
    await open_run(live, [nap("hold", 60, "slow"), nap("waits", 0, "slow"), shell("bad", "exit 1", attempts=1)])
    await until_recorded(live, lambda: live.book.runs["r"].counts[TaskState.FAILED] == 1)
    first = sampler.sample(time.time())
    assert first is not None
    assert first.hosts["commands"] == HostSample(3, 0, {"failed": 1})
    assert first.hosts["functions"] == HostSample(2, 1)
    assert first.runs["r"].tasks == {"running": 1, "ready": 1, "failed": 1}
    assert 0 < first.runs["r"].queue_age_s < 30
    assert first.commits >= 2
    assert 0 < first.commit_mean_s <= first.commit_max_s
    second = sampler.sample(time.time())
    assert second is not None
    assert (second.hosts["commands"], second.commits) == (HostSample(3, 0), 0), "said once"


async def test_a_sample_has_the_tokens_and_the_cost_of_what_ended(live: Dispatcher) -> None:
    sampler = Sampler(live)
    await open_run(live, [nap("a", 600), nap("b", 600)])
    for attempt in list(live.book.running):
        live.ended(attempt, Ending(EndingKind.DONE, tokens_in=7, tokens_out=11, cost=0.25))
    await live.wait_settled("r")
    first = sampler.sample(time.time())
    assert first is not None
    assert first.hosts["functions"] == HostSample(2, 0, {"done": 2}, 14, 22, 0.5)
    assert first.hosts["commands"].cost is None


async def test_of_idle_time_only_the_beginning_is_kept(live: Dispatcher) -> None:
    sampler = Sampler(live)
    await open_run(live, [nap("a")])
    await live.wait_settled("r")
    busy, idle = sampler.sample(time.time()), sampler.sample(time.time())
    assert busy is not None
    assert (busy.hosts["functions"].ended, busy.runs["r"].tasks) == ({"done": 1}, {"done": 1})
    assert idle is not None
    assert (idle.hosts["functions"].ended, idle.runs) == ({}, {})
    assert sampler.sample(time.time()) is None


async def test_samples_are_kept_in_the_store_to_the_very_end(live: Dispatcher, tmp_path: Path) -> None:
    store = tmp_path / ".manyhands"
    async with sampling(live, store, every_s=3600):
        await open_run(live, [nap(f"n{n}") for n in range(5)])
        await live.wait_settled("r")
    series = open_series(store)
    (kept,) = series.read()
    assert kept.hosts["functions"].ended == {"done": 5}
    assert series.read(kept.at + 1) == []
    series.close()


def test_samples_come_back_as_they_were_and_old_ones_are_let_go(tmp_path: Path) -> None:
    open_journal(tmp_path).close()
    series = open_series(tmp_path)
    at = 1_794_784_801.25
    samples = [
        SeriesSample(at - SAMPLES_KEPT_S - 1, {}, {}),
        SeriesSample(
            at - 10, {"h": HostSample(2, 1, {"done": 3}, 7, 11)}, {"r": RunSample({"done": 3}, 0.5)}, 4, 0.01, 0.02
        ),
        SeriesSample(at, {}, {}),
    ]
    for sample in samples:
        series.keep(sample)
    assert series.read() == samples[1:]
    assert series.read(since=at) == samples[2:]
    series.close()


async def until_recorded(dispatcher: Dispatcher, condition: Callable[[], bool]) -> None:
    """Batch by batch, until it holds."""
    recorded = asyncio.Event()

    def told(batch: Sequence[AnyEvent]) -> None:
        recorded.set()

    dispatcher.recorded.append(told)
    async with asyncio.timeout(90):
        while not condition():
            recorded.clear()
            await recorded.wait()
    dispatcher.recorded.remove(told)
    await dispatcher.submit()  # the batch that made it true is on disk and told of


def test_a_damaged_sample_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    open_journal(tmp_path).close()
    with closing(open_series(tmp_path)) as series:
        for at in (1.0, 2.0, 3.0):
            series.keep(SeriesSample(at, {}, {}))
        with closing(sqlite3.connect(tmp_path / "journal.db")) as connection:
            connection.execute("UPDATE sample SET body = ? WHERE at_ms = 2000", (b"\x00damaged",))
            connection.execute("INSERT INTO sample VALUES (4000, 'text')")
            connection.commit()
        assert [sample.at for sample in series.read()] == [1.0, 3.0]
