"""What every store promises, held for SQLite at both grades, for PostgreSQL and for the one in memory."""

import select
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from manyhands.core.events import AnyEvent, AttemptEnded, RetryAsked, RunDrained, TasksSubmitted, Woke
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.provenance import Origin
from manyhands.core.values.task import Claims, Task
from manyhands.engine.store import store_opening
from manyhands.engine.store.contract.journal import Durability, Journal, JournalReader, Requests
from manyhands.engine.store.memory_store import MemoryStore
from manyhands.engine.store.sqlite import sqlite_store
from manyhands.errors import StoreBusy, UsageError


class DirectoryStore:
    def __init__(self, directory: Path, durability: Durability) -> None:
        self.open_journal: Callable[[], Journal] = lambda: sqlite_store.open_journal(directory, durability)
        self.open_reader: Callable[[], JournalReader] = lambda: sqlite_store.open_reader(directory)
        self.open_requests: Callable[[], Requests] = lambda: sqlite_store.open_requests(directory, durability)


class DatabaseStore:
    def __init__(self, url: str) -> None:
        self.open_journal: Callable[[], Journal] = lambda: store_opening.open_journal(url)
        self.open_reader: Callable[[], JournalReader] = lambda: store_opening.open_reader(url)
        self.open_requests: Callable[[], Requests] = lambda: store_opening.open_requests(url)


Store = DirectoryStore | DatabaseStore | MemoryStore


@pytest.fixture(params=["sqlite-crash", "sqlite-power", "postgres", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "memory":
        return MemoryStore()
    if request.param == "postgres":
        return DatabaseStore(request.getfixturevalue("postgres_url"))
    return DirectoryStore(tmp_path / "of" / "ours", request.param.removeprefix("sqlite-"))


@pytest.fixture
def journal(store: Store) -> Iterator[Journal]:
    with closing(store.open_journal()) as journal:
        yield journal


def woke(*times: float) -> list[AnyEvent]:
    return [Woke(at=at) for at in times]


def times(reader: JournalReader, after: int = 0) -> list[float]:
    return [event.at for _, event in reader.read(after)]


def wait_woken(journal: Journal) -> None:
    """A database tells in its own time, and may tell once more than there was to tell."""
    assert select.select([journal.wake_fileno()], [], [], 30)[0]


def test_a_new_journal_is_empty(journal: Journal) -> None:
    assert journal.last == 0
    assert list(journal.read()) == []
    assert journal.latest_snapshot() is None
    assert journal.requests() == []


def test_events_are_numbered_one_by_one_in_the_order_of_appending(journal: Journal) -> None:
    assert journal.append(woke(10, 11)) == 2
    assert journal.append(woke(12)) == 3
    assert journal.last == 3
    assert [(seq, event.at) for seq, event in journal.read()] == [(1, 10), (2, 11), (3, 12)]


def test_appending_nothing_changes_nothing(journal: Journal) -> None:
    journal.append(woke(1))
    assert journal.append([]) == 1
    assert times(journal) == [1]


@pytest.mark.parametrize("after", [0, 1, 2, 3, 4, 5, 6, 9])
def test_reading_begins_after_any_event_also_inside_a_batch(journal: Journal, after: int) -> None:
    journal.append(woke(1, 2, 3))
    journal.append(woke(4))
    journal.append(woke(5, 6))
    assert times(journal, after) == [1, 2, 3, 4, 5, 6][after:]


def test_events_come_back_equal_to_what_was_appended(journal: Journal) -> None:
    task = Task(
        id="ä\N{SNOWMAN}\0",
        claims=Claims(write=("src/**",)),
        args={"n": 1, "deep": [{"x": None}], "small": 1e-300, "big": 2**63},
        resources={"gpu_bytes": float("inf")},
    )
    events: list[AnyEvent] = [
        TasksSubmitted(
            at=1763244000.123456789,
            run="r",
            tasks=(task, Task(id="b", needs=("ä\N{SNOWMAN}\0",))),
            origin=Origin.PLAN,
        ),
        AttemptEnded(at=2.0, attempt=1, ending=Ending(EndingKind.OVERLOADED, retry_after_s=0.1, quota=True)),
    ]
    journal.append(events)
    assert [event for _, event in journal.read()] == events


def test_what_was_appended_is_there_when_the_journal_is_opened_again(store: Store) -> None:
    with closing(store.open_journal()) as journal:
        journal.append(woke(1, 2))
        journal.save_snapshot(1, b"one")
    with closing(store.open_journal()) as journal:
        assert journal.last == 2
        assert journal.append(woke(3)) == 3
        assert times(journal) == [1, 2, 3]
        assert journal.latest_snapshot() == (1, b"one")


def test_an_append_whose_events_fail_to_arrive_leaves_nothing_behind(journal: Journal) -> None:
    def broken() -> Iterator[AnyEvent]:
        for at in range(5000):
            yield Woke(at=at)
        raise RuntimeError("the plan ended in the middle")

    journal.append(woke(1))
    with pytest.raises(RuntimeError, match="in the middle"):
        journal.append(broken())
    assert journal.last == 1
    assert journal.append(woke(2)) == 2
    assert times(journal) == [1, 2]


@pytest.mark.parametrize("value", ["lone surrogate \udcff", 2**64, object()])
def test_a_value_that_could_not_be_read_back_is_refused_whole(journal: Journal, value: object) -> None:
    bad = TasksSubmitted(at=1.0, run="r", tasks=(Task(id="a", args={"value": value}),))
    with pytest.raises(UsageError, match="cannot be journalled"):
        journal.append([*woke(1), bad])
    assert journal.last == 0
    assert list(journal.read()) == []


def test_an_append_longer_than_a_row_comes_back_whole_and_in_order(journal: Journal) -> None:
    def submits() -> Iterator[AnyEvent]:
        for number in range(200):
            tasks = tuple(Task(id=f"{number}-{i}") for i in range(1000))
            yield TasksSubmitted(at=number, run="r", tasks=tasks, origin=Origin.PLAN)

    assert journal.append(submits()) == 200
    read = [event for _, event in journal.read()]
    assert read == list(submits())


def test_reading_ends_at_what_was_there_when_it_began(journal: Journal) -> None:
    for at in range(100):
        journal.append(woke(at))
    seen = []
    for seq, event in journal.read():
        seen.append(event.at)
        journal.append(woke(1000 + seq))
    assert seen == list(range(100))
    assert len(times(journal)) == 200


def test_the_newest_of_several_snapshots_counts(journal: Journal) -> None:
    journal.append(woke(*range(10)))
    for seq in (3, 5, 9):
        journal.save_snapshot(seq, bytes([seq]) * 100)
    assert journal.latest_snapshot() == (9, b"\x09" * 100)
    journal.save_snapshot(9, b"again")
    assert journal.latest_snapshot() == (9, b"again")


@pytest.mark.parametrize("size", [0, 1, 4 << 20, (9 << 20) + 1])
def test_a_snapshot_of_any_size_comes_back_whole(journal: Journal, size: int) -> None:
    data = bytes(range(251)) * (size // 251 + 1)
    journal.append(woke(1))
    journal.save_snapshot(1, data[:size])
    assert journal.latest_snapshot() == (1, data[:size])


def test_a_second_dispatcher_is_refused_until_the_first_lets_go(store: Store) -> None:
    with closing(store.open_journal()) as journal:
        journal.append(woke(1))
        with pytest.raises(StoreBusy, match="process"):
            store.open_journal()
        assert journal.append(woke(2)) == 2
    store.open_journal().close()


def test_closing_twice_is_harmless_even_when_another_holds_the_journal(store: Store) -> None:
    first = store.open_journal()
    first.close()
    with closing(store.open_journal()) as second:
        first.close()
        with pytest.raises(StoreBusy):
            store.open_journal()
        second.append(woke(1))


def test_a_reader_sees_each_append_as_it_is_made(store: Store, journal: Journal) -> None:
    with closing(store.open_reader()) as reader:
        assert times(reader) == []
        journal.append(woke(1, 2))
        assert times(reader) == [1, 2]
        journal.save_snapshot(2, b"two")
        journal.append(woke(3))
        assert reader.latest_snapshot() == (2, b"two")
        assert times(reader, after=2) == [3]


def test_requests_wait_in_order_until_the_append_that_answers_them(store: Store, journal: Journal) -> None:
    with closing(store.open_requests()) as requests, closing(store.open_reader()) as reader:
        ids = [requests.ask(RetryAsked(at=0.0, run="r", task=name)) for name in "abc"]
        assert journal.requests() == [
            (id, RetryAsked(at=0.0, run="r", task=name)) for id, name in zip(ids, "abc", strict=True)
        ]
        journal.append(woke(1), answered=[ids[1]])
        assert [id for id, _ in journal.requests()] == [ids[0], ids[2]] == [id for id, _ in reader.requests()]
        assert journal.append([], answered=[ids[0], ids[2], 999]) == 1
        assert journal.requests() == []
        assert requests.ask(RunDrained(at=0.0, run="r")) > ids[2]  # an id is never used twice


def test_a_request_left_while_nobody_dispatches_waits_for_the_next_who_does(store: Store) -> None:
    store.open_journal().close()
    with closing(store.open_requests()) as requests:
        id = requests.ask(RunDrained(at=0.0, run="r"))
    with closing(store.open_journal()) as journal:
        assert journal.requests() == [(id, RunDrained(at=0.0, run="r"))]


def test_a_request_is_still_there_if_the_append_that_answers_it_fails(store: Store, journal: Journal) -> None:
    with closing(store.open_requests()) as requests:
        id = requests.ask(RunDrained(at=0.0, run="r"))
    with pytest.raises(UsageError):
        journal.append([RunDrained(at=0.0, run="\udcff")], answered=[id])
    assert [waiting for waiting, _ in journal.requests()] == [id]


def test_a_request_wakes_the_dispatcher_once_it_can_be_read(store: Store, journal: Journal) -> None:
    with closing(store.open_requests()) as requests:
        for count in (1, 2, 3):
            journal.clear_wake()
            requests.ask(RunDrained(at=0.0, run="a"))
            wait_woken(journal)
            assert len(journal.requests()) == count


def test_more_wakings_than_the_socket_holds_lose_no_request(store: Store, journal: Journal) -> None:
    with closing(store.open_requests()) as requests:
        for _ in range(50):
            requests.ask(RunDrained(at=0.0, run="a"))
    wait_woken(journal)
    journal.clear_wake()
    assert len(journal.requests()) == 50
