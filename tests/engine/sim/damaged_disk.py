"""The disk under a story: the journal in a real store of SQLite, which is damaged before a dispatcher opens it again.

The story's journal is in memory, which is fast. Its rows are written here too, when something happens to the disk.
"""

import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from random import Random

from manyhands.core.events import AnyEvent
from manyhands.engine.store.memory_store import MemoryStore
from manyhands.engine.store.sqlite import sqlite_store
from manyhands.engine.store.sqlite.high_water_mark import Kept, MarkFile
from manyhands.engine.store.sqlite.journal_checks import mark_path
from store_damage import copy_files, cut, flip, lose, misdirect, zero

MAIN, LOG = "journal.db", "journal.db-wal"
DAMAGES = (flip, zero, cut, lose, misdirect)
MEMORY = Path("/dev/shm")  # no wear, and no waiting for a disk
EVENTS_AT_ONCE = 8
EARLIER_BOOT = "an earlier boot"


class DamagedDisk:
    def __init__(self, store: MemoryStore, random: Random) -> None:
        self._store = store
        self._random = random
        self._made = Path(tempfile.mkdtemp(prefix="mh-disk-", dir=MEMORY if MEMORY.is_dir() else None))
        self._whole, self._damaged = self._made / "whole", self._made / "damaged"
        self._synced = 0  # of the last one that a power cut cannot take

    def damage(self) -> None:
        """What a dispatcher finds after damage. Raises StoreBroken if it is named; otherwise nothing may be missing."""
        self._write()
        for _ in range(self._random.choice((1, 1, 2))):
            file = self._damaged / self._random.choice((MAIN, LOG, LOG))
            if file.exists() and file.stat().st_size:
                self._random.choice(DAMAGES)(file, self._random)
        found = self._found()
        assert found == self._events(), "the journal has changed, and nobody noticed"

    def cut_power(self) -> None:
        """The end of the log is lost with the machine. Of what is synced nothing may be missing."""
        self._write()
        place = mark_path(self._damaged / MAIN)
        with closing(MarkFile(place)) as marks:
            mark = marks.read(Kept.EVENTS)
        keeps_promise = self._random.random() < 0.5
        if not keeps_promise:  # a disk that said it had synced what it had not, or `durability = "power"`
            mark = mark._replace(synced=mark.number, synced_crc=mark.crc)
        MarkFile.make(place, mark._replace(boot=EARLIER_BOOT)).close()
        log = self._damaged / LOG
        if log.exists() and log.stat().st_size:
            cut(log, self._random)
        found, events = self._found(), self._events()
        assert found == events[: len(found)], "the journal has changed, and nobody noticed"
        assert len(found) >= (self._synced if keeps_promise else len(events)), "what was synced is lost in silence"

    def close(self) -> None:
        shutil.rmtree(self._made)

    def _events(self) -> list[AnyEvent]:
        return [event for _, event in self._store.open_reader().read()]

    def _write(self) -> None:
        """Bring the whole store up to date, and copy it as it is while it is open: the new rows are in its log."""
        with closing(sqlite_store.open_journal(self._whole, "crash")) as journal:
            self._synced = journal.last
            new = self._events()[journal.last :]
            for first in range(0, len(new), EVENTS_AT_ONCE):
                journal.append(new[first : first + EVENTS_AT_ONCE])
            copy_files(self._whole, self._damaged)

    def _found(self) -> list[AnyEvent]:
        """Raises StoreBroken if the damage is named."""
        with closing(sqlite_store.open_journal(self._damaged, "crash")) as journal:
            return [event for _, event in journal.read()]
