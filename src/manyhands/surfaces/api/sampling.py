"""Keeps a sample of the state every ten seconds while attempts run, for the figures over time."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from manyhands.core.events import AnyEvent
from manyhands.core.state import Running
from manyhands.core.values.ending import total_cost
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.store.contract.samples import HostSample, RunSample, SeriesSample
from manyhands.engine.store.store_opening import SeriesStore, Where, open_series
from manyhands.errors import Unavailable
from manyhands.surfaces.api.ended_attempts import EndedAttempts
from manyhands.surfaces.api.picture.queue_age import QueueAge

EVERY_S = 10.0


@asynccontextmanager
async def sampling(dispatcher: Dispatcher, store: Where, every_s: float = EVERY_S) -> AsyncIterator[None]:
    series = open_series(store)
    sampler = Sampler(dispatcher)
    stopping = asyncio.Event()
    task = asyncio.create_task(_keep(sampler, series, every_s, stopping))
    try:
        yield
    finally:
        stopping.set()
        await asyncio.wait({task})
        sampler.close()
        series.close()


async def _keep(sampler: "Sampler", series: SeriesStore, every_s: float, stopping: asyncio.Event) -> None:
    """Ends with one last sample; otherwise the time since the one before would be lost."""
    while not stopping.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), every_s)
        sample = sampler.sample(time.time())
        if sample is not None:
            # A full or broken disk: the journal itself stops at that and says so.
            with suppress(Unavailable):
                await asyncio.to_thread(series.keep, sample)


class Sampler:
    """Counts from one sample to the next. It lives in the event loop of the dispatcher."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._age = QueueAge(dispatcher.book)
        self._in_flight = EndedAttempts(dispatcher.book)
        self._sampled_at = time.time()
        self._was_idle = True
        self._forget()
        dispatcher.recorded.append(self._recorded)

    def close(self) -> None:
        self._dispatcher.recorded.remove(self._recorded)

    def _forget(self) -> None:
        self._ended: dict[str, Counter[str]] = {}  # host → ending → how many
        self._tokens: Counter[tuple[str, str]] = Counter()  # (host, in or out)
        self._cost: dict[str, float | None] = {}  # by host
        self._commits = 0
        self._commit_sum_s = self._commit_max_s = 0.0

    def sample(self, at: float) -> SeriesSample | None:
        """None while nothing runs: only the beginning of idle time is kept."""
        is_idle = not self._in_flight and not self._ended
        if is_idle and self._was_idle:
            return None
        self._was_idle = is_idle
        mean_s = self._commit_sum_s / self._commits if self._commits else 0.0
        sample = SeriesSample(at, self._hosts(), self._runs(at), self._commits, mean_s, self._commit_max_s)
        self._forget()
        self._sampled_at = at
        return sample

    def _hosts(self) -> dict[str, HostSample]:
        return {
            host.name: HostSample(
                host.width,
                len(host.running),
                dict(self._ended.get(host.name, {})),
                self._tokens[host.name, "in"],
                self._tokens[host.name, "out"],
                self._cost.get(host.name),
            )
            for host in self._dispatcher.book.hosts.values()
        }

    def _runs(self, at: float) -> dict[str, RunSample]:
        """Unfinished runs, and once more the runs that ended since the sample before."""
        return {
            run.name: RunSample({str(state): n for state, n in run.counts.items() if n}, self._age(run, at))
            for run in self._dispatcher.book.runs.values()
            if (run.ended_at is None and not run.draining)
            or run.in_flight
            or (run.ended_at is not None and run.ended_at >= self._sampled_at)
        }

    def _recorded(self, batch: Sequence[AnyEvent]) -> None:
        commit_s = self._dispatcher.commit_s
        self._commits += 1
        self._commit_sum_s += commit_s
        self._commit_max_s = max(self._commit_max_s, commit_s)
        ended = self._in_flight.ended(batch)
        for running in ended:
            self._count(running)
        self._age.recorded(batch, ended)

    def _count(self, running: Running) -> None:
        tried = running.tried
        assert tried.ending is not None
        self._ended.setdefault(tried.host, Counter())[str(tried.ending.kind)] += 1
        self._tokens[tried.host, "in"] += tried.ending.tokens_in
        self._tokens[tried.host, "out"] += tried.ending.tokens_out
        self._cost[tried.host] = total_cost((self._cost.get(tried.host), tried.ending.cost))
