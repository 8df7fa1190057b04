"""Whoever looks at the book changes nothing: the same events lead to the same journal and the same snapshot."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
import pytest

from engine.sim.random_world import Onlooker, World
from helpers import a_task
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.book import Book
from manyhands.core.commands import StartAttempt
from manyhands.core.explain import explain
from manyhands.core.obstacles import could_ever_take, group_obstacle, host_obstacle, run_obstacle
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.host import Family, Host, Route, Width
from manyhands.engine.sim.hosts.reference import API, build
from manyhands.engine.sim.hosts.simulated_host import Job
from manyhands.engine.sim.hosts.slot_host import SizeShare, Slots
from manyhands.engine.sim.simulation import Simulation
from manyhands.engine.worker_scaling import waiting_for
from manyhands.surfaces.api.metrics import BookCollector, Kinds
from manyhands.surfaces.api.picture.picture import Picture
from manyhands.surfaces.api.picture.queue_age import QueueAge
from manyhands.surfaces.cli.time_left import expected_s
from manyhands.surfaces.verbs.budget_verbs import list_budgets
from manyhands.surfaces.verbs.grid_verbs import grid_of
from manyhands.surfaces.verbs.host_verbs import list_hosts, list_lanes
from manyhands.surfaces.verbs.inbox_verbs import list_inbox
from manyhands.surfaces.verbs.run_verbs import list_runs, report_run
from manyhands.surfaces.verbs.task_verbs import task_row

SLOT_SIZES = (SizeShare("short", 0.8, 4), SizeShare("long", 0.2, 20))


class BookOf(NamedTuple):
    """As much of a view as the queries need."""

    book: Book
    now: float = 0.0
    book_if_any: Book | None = None
    hosts: tuple[Host, ...] = ()
    families: tuple[Family, ...] = ()
    routes: tuple[Route, ...] = ()
    directory: Path = Path()
    is_dispatching: bool = True


class LooksAtEverything:
    """Asks all there is to ask about a book after every step, of kinds and hosts that never meet as well."""

    def __init__(self) -> None:
        self.looks = 0
        self._picture: Picture | None = None

    def __call__(self, scheduler: Scheduler, batch: Sequence[ev.AnyEvent]) -> None:
        book = scheduler.book
        if self._picture is None or self._picture.book is not book:  # after a crash
            self._picture = Picture(book)
        self._picture.changes(batch)
        self._picture.standing()
        self._picture.snapshot()
        view = BookOf(book, book.at, book, tuple(host.host for host in book.hosts.values()))
        list_hosts(view)
        list_lanes(view)
        list_runs(view)
        list_inbox(view)
        list_budgets(view)
        grid_of(view)
        list(BookCollector(book, Kinds(), QueueAge(book)).collect())
        for run in book.runs.values():
            expected_s(run, book.hosts.values(), book.at)
            report_run(run)
            for record in run.records.values():
                assert explain(book, record, book.at)
                task_row(view, record, book.at)
                self.looks += 1
        for host in book.hosts.values():
            waiting_for(book, host)
            host.limit.start_at(book.at, "never seen")
            for group in book.ready.groups.values():
                run_obstacle(group.pool)
                host_obstacle(host, group)
                could_ever_take(host, group)
                group_obstacle(group, book.held, book.running, book.ready)


def encoded(journal: list[ev.AnyEvent]) -> list[bytes]:
    return [msgspec.json.encode(event) for event in journal]


@pytest.mark.parametrize("seed", range(24))
def test_looking_at_a_random_world_changes_neither_its_journal_nor_its_snapshot(seed: int) -> None:
    looks = LooksAtEverything()
    unseen, seen = World(seed), World(seed, looks)
    for world in (unseen, seen):
        world.live(steps=40)
        world.come_to_rest()
    assert looks.looks > 0
    assert encoded(seen.journal) == encoded(unseen.journal)
    assert snapshot.save(seen.scheduler) == snapshot.save(unseen.scheduler)


@pytest.mark.parametrize("seed", range(2))
def test_looking_at_hosts_that_learn_changes_neither_journal_nor_snapshot(seed: int) -> None:
    unseen, seen = simulate(seed), simulate(seed, LooksAtEverything())
    assert {type(event) for event in unseen[0]} >= {ev.WidthMoved, ev.RetryDecided, ev.AttemptStarted}
    assert encoded(seen[0]) == encoded(unseen[0])
    assert seen[1] == unseen[1]


def simulate(seed: int, onlooker: Onlooker | None = None) -> tuple[list[ev.AnyEvent], bytes]:
    """Two hosts whose widths are learned, under virtual time; one of them often fails and soon refuses."""
    narrow = Slots(SLOT_SIZES, slots=2, queue_max=0, errors=0.3)
    simulated = {"api": build(API.parameters), "slots": build(narrow)}
    hosts = tuple(Host(name, width=Width(1, None, 6)) for name in simulated)
    scheduler, random = Scheduler(), Random(seed)
    journal: list[ev.AnyEvent] = []

    def recorded(event: ev.AnyEvent) -> None:
        journal.append(event)
        if onlooker is not None:
            onlooker(scheduler, [event])

    def job_for(order: StartAttempt) -> Job:
        return simulated[order.host].draw(random)

    simulation = Simulation(scheduler, simulated, job_for, recorded)
    simulation.expect(ev.HostsConfigured(0.0, hosts))
    simulation.expect(ev.RunOpened(0.0, "r", seed))
    kinds = [f"k{random.randrange(5)}" for _ in range(20)]
    tasks = [a_task(f"t{n}", kind=kind) for n, kind in enumerate(kinds)]
    simulation.expect(ev.TasksSubmitted(0.0, "r", tuple(tasks[:10])))
    simulation.expect(ev.TasksSubmitted(20.0, "r", tuple(tasks[10:])))
    simulation.expect(ev.WidthSet(15.0, "api", 2))
    simulation.expect(ev.WidthSet(25.0, "api", None))
    simulation.run()
    return journal, snapshot.save(scheduler)
