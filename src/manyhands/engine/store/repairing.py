"""What of a store can be read: said, or saved to a new store. The old one is never changed."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from manyhands.core.events import AnyEvent
from manyhands.engine.store.contract.env_vault import carry_over
from manyhands.engine.store.contract.journal import Durability, Journal, JournalReader, UnreadableRequest
from manyhands.engine.store.copying import check_empty
from manyhands.engine.store.sqlite import journal_checks, log_salvage, sqlite_store
from manyhands.engine.store.sqlite.lock import DirectoryLock
from manyhands.engine.store.store_opening import Where, exists, open_journal, open_reader, open_requests, printable
from manyhands.errors import StoreBroken, UsageError


class StoreChecked(NamedTuple):
    events: int  # that can be read, from the first on
    recorded: int | None  # how many there were, by the mark; None if that cannot be told
    requests: int
    problems: tuple[str, ...]


class StoreRepaired(NamedTuple):
    events: int
    recorded: int | None
    requests: int


class _Sound:
    """The events of a journal up to the first that cannot be read."""

    def __init__(self, reader: JournalReader) -> None:
        self._reader = reader
        self.events = 0
        self.problem = ""

    def __iter__(self) -> Iterator[AnyEvent]:
        try:
            for _, event in self._reader.read():
                yield event
                self.events += 1
        except StoreBroken as broken:
            self.problem = broken.message

    def count(self) -> int:
        for _ in self:
            pass
        return self.events


def check(where: Where) -> StoreChecked:
    """Read everything. A dispatcher may be at work meanwhile."""
    _check_there(where)
    problems: list[str] = []
    recorded = _recorded(where, problems)
    events = requests = 0
    try:
        with closing(open_reader(where)) as reader:
            if isinstance(reader, sqlite_store.SqliteReader):
                reader.check_pages()
            sound = _Sound(reader)
            events = sound.count()
            problems += [sound.problem] if sound.problem else []
            requests = len(reader.requests())
    except StoreBroken as broken:
        problems.append(broken.message)
    return StoreChecked(events, recorded, requests, tuple(dict.fromkeys(problems)))


def repair(where: Where, target: Path, durability: Durability = "power") -> StoreRepaired:
    """Save what can be read to a new store in `target`. Nobody may lead the old one meanwhile."""
    _check_there(where)
    if isinstance(where, Path) and where.absolute() == target.absolute():
        raise UsageError(f"`{target}` is the store to repair", "name a new directory: the old one is not changed")
    recorded = _recorded(where, [])
    with _best_copy(where, target) as reader, closing(open_journal(target, durability)) as new:
        check_empty(new, target)
        sound = _Sound(reader)
        new.append(sound)
        _save_snapshot(reader, new)
        if isinstance(where, Path):
            carry_over(where, target)
        requests = _save_requests(reader, target, durability)
    return StoreRepaired(sound.events, recorded, requests)


def _check_there(where: Where) -> None:
    if not exists(where):
        raise UsageError(f"there is no journal in `{printable(where)}`", "check the path, or name it with `--store`")


def _recorded(where: Where, problems: list[str]) -> int | None:
    """The number of the last event that was acknowledged, as far as that is known outside the journal."""
    if not isinstance(where, Path):
        return None
    try:
        marks = journal_checks.marks_of(where / sqlite_store.FILE)
    except StoreBroken as broken:
        problems.append(broken.message)
        return None
    return None if marks is None else marks[0].number


@contextmanager
def _best_copy(where: Where, target: Path) -> Iterator[JournalReader]:
    """The one of several ways to read the journal that gives the most events."""
    if not isinstance(where, Path):
        with closing(open_reader(where)) as reader:
            yield reader
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        lock = DirectoryLock(where)
        stack.callback(lock.release)
        made = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=target.parent, prefix=".repair-")))
        counts = {copy: _readable(copy) for copy in log_salvage.copies(where / sqlite_store.FILE, made)}
        best = max(counts, key=lambda copy: counts[copy])
        if counts[best] < 0:
            raise StoreBroken(
                f"nothing of the journal in `{where}` can be read", "restore it from a copy; there is nothing to save"
            )
        yield stack.enter_context(sqlite_store.reading_unchecked(best))


def _readable(copy: Path) -> int:
    """How many events; -1 if it cannot even be opened."""
    try:
        with sqlite_store.reading_unchecked(copy) as reader:
            return _Sound(reader).count()
    except StoreBroken:
        return -1


def _save_snapshot(reader: JournalReader, new: Journal) -> None:
    try:
        snapshot = reader.latest_snapshot()
    except StoreBroken:  # it only saves time
        return
    if snapshot is not None and snapshot[0] <= new.last:
        new.save_snapshot(*snapshot)


def _save_requests(reader: JournalReader, target: Path, durability: Durability) -> int:
    try:
        waiting = [event for _, event in reader.requests() if not isinstance(event, UnreadableRequest)]
    except StoreBroken:
        return 0
    with closing(open_requests(target, durability)) as asking:
        for event in waiting:
            asking.ask(event)
    return len(waiting)
