"""The book as a command sees it has everything that was asked for, also what is being answered while it looks."""

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, RunOpened, TasksSubmitted
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.task import Task
from manyhands.engine.store.memory_store import MemoryJournal, MemoryReader, MemoryStore
from manyhands.surfaces.verbs.store_view import RESERVED_RUN, book_of, find_run

ADDED = TasksSubmitted(2.0, "r", (Task("late", run=("true",)),))


def book_with(*runs: str) -> Book:
    scheduler = Scheduler()
    scheduler.replay(RunOpened(float(at), run) for at, run in enumerate(runs))
    return scheduler.book


def test_reserved_files_do_not_hide_the_run_that_people_mean() -> None:
    assert find_run(book_with("plan-1", "plan-2", RESERVED_RUN), None).name == "plan-2"
    assert find_run(book_with("plan-1", RESERVED_RUN), RESERVED_RUN).name == RESERVED_RUN
    assert find_run(book_with(RESERVED_RUN), None).name == RESERVED_RUN, "there is no other"


class Overtaken(MemoryReader):
    """A dispatcher answers all requests after the events were read and before the requests are."""

    def __init__(self, store: MemoryStore, journal: MemoryJournal) -> None:
        super().__init__(store)
        self._journal = journal

    def requests(self) -> list[tuple[int, AnyEvent]]:
        for id, event in super().requests():
            self._journal.append([event], answered=[id])
        return super().requests()


def test_a_request_that_is_answered_while_the_book_is_read_is_in_it_once() -> None:
    store = MemoryStore()
    journal = store.open_journal()
    journal.append([RunOpened(1.0, "r")])
    store.open_requests().ask(ADDED)
    for reader in (store.open_reader(), Overtaken(store, journal), store.open_reader()):
        book = book_of(reader)
        assert list(book.runs["r"].records) == ["late"]
        assert sum(book.runs["r"].counts.values()) == 1
    assert store.waiting == {}
