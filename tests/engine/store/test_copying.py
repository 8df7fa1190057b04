"""Journals from a directory to a database and back, whole, and refused where something could be lost."""

from contextlib import closing
from pathlib import Path

import pytest

from manyhands.core.events import AnyEvent, AttemptEnded, RetryAsked, TasksSubmitted
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.provenance import Origin
from manyhands.core.values.task import Task
from manyhands.engine.store.copying import copy
from manyhands.engine.store.store_opening import Where, exists, open_journal, open_reader, open_requests
from manyhands.errors import Conflict, StoreBusy, UsageError

EVENTS: list[AnyEvent] = [
    TasksSubmitted(1.5, "r", tuple(Task(id=f"ä{n}", args={"x": [1, None, 2.5]}) for n in range(1500)), Origin.PLAN),
    *(AttemptEnded(float(n), n, Ending(EndingKind.DONE, result="\N{SNOWMAN}\0")) for n in range(2500)),
]
ASKED = RetryAsked(3.0, "r", "ä1")


@pytest.fixture
def full(tmp_path: Path) -> Path:
    with closing(open_journal(tmp_path / "full", "crash")) as journal:
        journal.append(EVENTS)
        journal.save_snapshot(7, b"state")
    with closing(open_requests(tmp_path / "full", "crash")) as requests:
        requests.ask(ASKED)
    return tmp_path / "full"


def contents(where: Where) -> tuple[list[AnyEvent], object, list[AnyEvent]]:
    with closing(open_reader(where)) as reader:
        events = [event for _, event in reader.read()]
        return events, reader.latest_snapshot(), [event for _, event in reader.requests()]


def test_a_journal_goes_to_a_database_and_back_unchanged(full: Path, postgres_url: str, tmp_path: Path) -> None:
    there = copy(full, postgres_url)
    assert (there.events, there.requests) == (len(EVENTS), 1)
    assert contents(postgres_url) == (EVENTS, (7, b"state"), [ASKED])
    back = copy(postgres_url, tmp_path / "back")
    assert back == there
    assert contents(tmp_path / "back") == contents(full)
    with closing(open_journal(postgres_url)) as journal:  # and is led where it stands
        assert journal.last == len(EVENTS)


def test_a_target_that_has_a_journal_is_refused_and_left_as_it_is(full: Path, postgres_url: str) -> None:
    copy(full, postgres_url)
    with pytest.raises(Conflict, match=r"already: 2,501 events"):
        copy(full, postgres_url)
    with pytest.raises(UsageError, match="cannot be copied to itself"):
        copy(full, full)
    assert contents(postgres_url) == contents(full)


@pytest.mark.parametrize("led", ["source", "target"])
def test_a_journal_that_is_led_is_not_copied(full: Path, postgres_url: str, led: str) -> None:
    with closing(open_journal(full if led == "source" else postgres_url)), pytest.raises(StoreBusy):
        copy(full, postgres_url)


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path, postgres_url: str) -> None:
    for source in (tmp_path / "nothing", postgres_url):
        with pytest.raises(UsageError, match="there is no journal in"):
            copy(source, tmp_path / "target")
        assert not exists(source)
    assert not exists(tmp_path / "target")
