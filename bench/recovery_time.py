"""How long does it take to reopen a journal of a million events, and how long after kill -9 until work continues?

The goal for reopening: at most 5 s, with the snapshot a clean stop leaves and with the older one a crash leaves.
"""

import tempfile
import time
from pathlib import Path

from noop import measure
from record import record

from manyhands.core.scheduler import Scheduler
from manyhands.engine.recovery import rebuild
from manyhands.engine.store.sqlite.sqlite_store import open_reader

QUESTION = "recovery_time"
TASKS = 500_000  # each starts and ends: a million events


class WithoutSnapshot:
    """The journal as if no snapshot had ever been taken."""

    def __init__(self, reader: object) -> None:
        self._reader = reader

    def __getattr__(self, name: str) -> object:
        return (lambda: None) if name == "latest_snapshot" else getattr(self._reader, name)


def main() -> None:
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as made:
        journal = measure(TASKS, "crash", Path(made)).journal
        for name, wrap in (("with a snapshot", lambda reader: reader), ("from the events alone", WithoutSnapshot)):
            reader = open_reader(journal)
            start = time.perf_counter()
            scheduler = Scheduler()
            rebuild(wrap(reader), scheduler)  # type: ignore[arg-type]
            seconds = time.perf_counter() - start
            reader.close()
            assert len(scheduler.book.runs["noop"].records) == TASKS
            print(f"reopening a journal of {2 * TASKS:,} events {name}: {seconds:.2f} s (goal 5)")
            record(QUESTION, {"events": 2 * TASKS, "how": name}, seconds, "s")


if __name__ == "__main__":
    main()
