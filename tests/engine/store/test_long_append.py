"""A submit of very many tasks is one transaction, and yet needs the memory of one row."""

import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from manyhands.core.events import AnyEvent, TasksSubmitted
from manyhands.core.values.task import Task
from manyhands.engine.store.sqlite import sqlite_store


def submits(count: int) -> Iterator[AnyEvent]:
    for number in range(count):
        tasks = tuple(Task(id=f"{number}-{place}", kind="code", prompt="test it " * 5) for place in range(1000))
        yield TasksSubmitted(at=float(number), run="r", tasks=tasks)


def peak_bytes(journal: sqlite_store.SqliteJournal, count: int) -> int:
    tracemalloc.start()
    try:
        journal.append(submits(count))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_memory_an_append_needs_does_not_grow_with_its_length(tmp_path: Path) -> None:
    with closing(sqlite_store.open_journal(tmp_path, "crash")) as journal:
        peak_bytes(journal, 2)
        assert peak_bytes(journal, 100) < 1.5 * peak_bytes(journal, 2)


def test_nothing_of_a_long_append_can_be_seen_before_it_is_all_there(tmp_path: Path) -> None:
    with (
        closing(sqlite_store.open_journal(tmp_path, "crash")) as journal,
        closing(sqlite_store.open_reader(tmp_path)) as reader,
    ):

        def watched() -> Iterator[AnyEvent]:
            for event in submits(50):
                yield event
                assert list(reader.read()) == []

        journal.append(watched())
        assert sum(1 for _ in reader.read()) == 50
