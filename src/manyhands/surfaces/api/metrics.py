"""Metrics for Prometheus. A scrape reads counts that are kept anyway and never a task: it costs runs, kinds and lanes.

Counters begin at zero with the process, as Prometheus expects; what is now comes from the book.
"""

import time
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, Info, PlatformCollector, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

import manyhands
from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, Delivered
from manyhands.core.state import Running
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import TaskState
from manyhands.surfaces.api.ended_attempts import EndedAttempts
from manyhands.surfaces.api.picture.queue_age import QueueAge
from manyhands.surfaces.api.watched import Watched

#: People choose the names of kinds, and every kind is a series of its own. Beyond this many they count together.
KINDS_MAX = 100
OTHER_KINDS = "(other)"
#: From a function call to an agent that works through the night.
DURATION_BUCKETS = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400)
#: From a commit the kernel keeps to a disk in trouble.
COMMIT_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)


class Kinds:
    """The label of a kind: its name, unless there are too many kinds."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __call__(self, kind: str) -> str:
        if kind not in self._known:
            if len(self._known) >= KINDS_MAX:
                return OTHER_KINDS
            self._known.add(kind)
        return kind


class Metrics:
    """Listens to a dispatcher from its creation on; `page` is what a scrape gets. It lives in the dispatcher's loop."""

    def __init__(self, dispatcher: Watched) -> None:
        self._dispatcher = dispatcher
        self._kinds = Kinds()
        self.age = QueueAge(dispatcher.book)
        self._in_flight = EndedAttempts(dispatcher.book)
        self.registry = CollectorRegistry(auto_describe=False)
        self._make_counters(self.registry)
        self.registry.register(BookCollector(dispatcher.book, self._kinds, self.age))
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        Info("manyhands_build", "The manyhands at work.", registry=self.registry).info(
            {"version": manyhands.__version__}
        )
        dispatcher.recorded.append(self._recorded)

    def close(self) -> None:
        self._dispatcher.recorded.remove(self._recorded)

    def page(self) -> bytes:
        return generate_latest(self.registry)

    def _make_counters(self, registry: CollectorRegistry) -> None:
        self._attempts = Counter(
            "manyhands_attempts", "Attempts that ended.", ("ending", "kind", "host"), registry=registry
        )
        self._took = Histogram(
            "manyhands_attempt_seconds",
            "How long attempts took that were done.",
            ("kind",),
            registry=registry,
            buckets=DURATION_BUCKETS,
        )
        self._tokens = Counter(
            "manyhands_tokens", "Tokens that models read and wrote.", ("host", "direction"), registry=registry
        )
        self._cost = Counter(
            "manyhands_cost", "What attempts cost, in the currency of the prices.", ("host",), registry=registry
        )
        self._delivered = Counter("manyhands_letters_delivered", "Results that a sink has taken.", registry=registry)
        self._events = Counter("manyhands_journal_events", "Events written to the journal.", registry=registry)
        self._commits = Histogram(
            "manyhands_journal_commit_seconds",
            "How long a batch of events took to get to the disk.",
            registry=registry,
            buckets=COMMIT_BUCKETS,
        )

    def _recorded(self, batch: Sequence[AnyEvent]) -> None:
        self._events.inc(len(batch))
        self._delivered.inc(sum(isinstance(event, Delivered) for event in batch))
        self._commits.observe(self._dispatcher.commit_s)
        ended = self._in_flight.ended(batch)
        for running in ended:
            self._count(running)
        self.age.recorded(batch, ended)

    def _count(self, running: Running) -> None:
        tried, kind = running.tried, self._kinds(running.record.task.kind)
        assert tried.ending is not None
        assert tried.ended_at is not None
        ending = tried.ending
        self._attempts.labels(ending.kind, kind, tried.host).inc()
        if ending.kind is EndingKind.DONE:
            self._took.labels(kind).observe(tried.ended_at - tried.started_at)
        if ending.tokens_in or ending.tokens_out:
            self._tokens.labels(tried.host, "in").inc(ending.tokens_in)
            self._tokens.labels(tried.host, "out").inc(ending.tokens_out)
        if ending.cost is not None:
            self._cost.labels(tried.host).inc(ending.cost)


class BookCollector(Collector):
    """The state now, read from the book at each scrape."""

    def __init__(self, book: Book, kinds: Kinds, age: QueueAge) -> None:
        self._book = book
        self._kinds = kinds
        self._age = age
        self._began_at = time.time()

    def collect(self) -> Iterator[Metric]:
        yield from self._runs()
        yield from self._hosts()
        outbox = self._book.outbox
        yield GaugeMetricFamily("manyhands_letters_waiting", "Results not delivered yet.", len(outbox.waiting))
        yield GaugeMetricFamily("manyhands_letters_dead", "Results whose delivery was given up.", len(outbox.dead))

    def _runs(self) -> Iterator[Metric]:
        tasks = GaugeMetricFamily("manyhands_tasks", "Tasks of a run now.", labels=("run", "state", "kind"))
        age = GaugeMetricFamily(
            "manyhands_queue_age_seconds",
            "How long the oldest task has waited though its needs are done; 0 when none waits.",
            labels=("run",),
        )
        now = time.time()
        for run in self._book.runs.values():
            # A store keeps all runs. Runs that ended before this process began are left out.
            if run.ended_at is not None and run.ended_at < self._began_at:
                continue
            counts: dict[tuple[TaskState, str], int] = {}
            for kind, by_state in run.counts_of_kind.items():
                label = self._kinds(kind)
                for state, n in by_state.items():
                    counts[state, label] = counts.get((state, label), 0) + n
            for (state, label), n in counts.items():
                tasks.add_metric((run.name, state, label), n)
            if not run.draining:
                age.add_metric((run.name,), self._age(run, now))
        yield tasks
        yield age

    def _hosts(self) -> Iterator[Metric]:
        width = GaugeMetricFamily("manyhands_host_width", "Attempts a host may have in flight.", labels=("host",))
        busy = GaugeMetricFamily("manyhands_host_in_flight", "Attempts a host has in flight.", labels=("host",))
        paused = GaugeMetricFamily("manyhands_host_paused", "1 while a host takes nothing.", labels=("host",))
        workers = GaugeMetricFamily(
            "manyhands_host_model_workers", "Model workers a host should have, where that is decided.", labels=("host",)
        )
        of_lane = ("host", "kind")
        lane_width = GaugeMetricFamily("manyhands_lane_width", "Attempts of a kind a host may have.", labels=of_lane)
        lane_busy = GaugeMetricFamily("manyhands_lane_in_flight", "Attempts of a kind a host has.", labels=of_lane)
        for host in self._book.hosts.values():
            width.add_metric((host.name,), host.width)
            busy.add_metric((host.name,), len(host.running))
            paused.add_metric((host.name,), host.paused is not None)
            if host.workers is not None:
                workers.add_metric((host.name,), host.workers)
            lanes: dict[str, tuple[int, int]] = {}
            for kind, lane in host.lanes.items():
                bound = host.width if lane.width is None else min(host.width, lane.width)
                was_bound, was_busy = lanes.get(label := self._kinds(kind), (0, 0))
                lanes[label] = (min(host.width, was_bound + bound), was_busy + lane.in_flight)
            for label, (bound, in_flight) in lanes.items():
                lane_width.add_metric((host.name, label), bound)
                lane_busy.add_metric((host.name, label), in_flight)
        yield from (width, busy, paused, workers, lane_width, lane_busy)
