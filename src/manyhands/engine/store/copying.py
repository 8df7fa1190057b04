"""Copies a journal from one store to another and verifies the copy. No dispatcher may lead either meanwhile."""

import hashlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from manyhands.core.events import AnyEvent
from manyhands.engine.store.contract import codec
from manyhands.engine.store.contract.env_vault import carry_over
from manyhands.engine.store.contract.journal import Durability, Journal, JournalReader, UnreadableRequest
from manyhands.engine.store.store_opening import Where, exists, open_journal, open_requests, printable
from manyhands.errors import Conflict, StoreBroken, UsageError
from manyhands.quantities import quantity


class Copied(NamedTuple):
    events: int
    requests: int
    checksum: str


class _Digest:
    def __init__(self) -> None:
        self.events = 0
        self._sha = hashlib.sha256()

    def over(self, reader: JournalReader) -> Iterator[AnyEvent]:
        for _, event in reader.read():
            self.events += 1
            self._sha.update(codec.encode([event]))
            yield event

    def checksum(self) -> str:
        return self._sha.hexdigest()[:16]


def copy(source: Where, target: Where, durability: Durability = "power") -> Copied:
    """Copies events, the newest snapshot and the waiting requests. Samples over time are not copied."""
    if printable(source) == printable(target):
        raise UsageError(f"`{printable(source)}` cannot be copied to itself", "name another directory or project")
    if not exists(source):
        raise UsageError(f"there is no journal in `{printable(source)}`", "check the path, or the `project` in the URL")
    # Both stores are held, so nothing can be added to either of them while the copy is made.
    with closing(open_journal(source, durability)) as old, closing(open_journal(target, durability)) as new:
        check_empty(new, target)
        waiting = [event for _, event in old.requests() if not isinstance(event, UnreadableRequest)]
        written = _Digest()
        new.append(written.over(old))
        snapshot = old.latest_snapshot()
        if snapshot is not None:
            new.save_snapshot(*snapshot)
        if isinstance(source, Path) and isinstance(target, Path):
            carry_over(source, target)
        with closing(open_requests(target, durability)) as asking:
            for event in waiting:
                asking.ask(event)
        _verify(written, new, len(waiting), target)
    return Copied(written.events, len(waiting), written.checksum())


def check_empty(journal: Journal, target: Where) -> None:
    if journal.last or journal.requests():
        raise Conflict(
            f"there is a journal in `{printable(target)}` already: {quantity(journal.last, 'event')}",
            "copy to another directory or `?project=`, or remove that one first",
        )


def _verify(written: _Digest, new: Journal, waiting: int, target: Where) -> None:
    found = _Digest()
    for _ in found.over(new):
        pass
    same = (found.events, found.checksum()) == (written.events, written.checksum())
    if not same or len(new.requests()) != waiting:
        raise StoreBroken(
            f"the copy in `{printable(target)}` differs from the original: it has {found.events:,} events with checksum"
            f" {found.checksum()} instead of {written.events:,} with {written.checksum()}",
            "remove it and copy again; the original is untouched",
        )
