"""Journals kept as JSON lines of events, and the state that each must always replay to.

`python tests/engine/journals/recorded.py STORE NAME` keeps the journal of a store beside this file.
"""

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent
from manyhands.core.scheduler import Scheduler
from manyhands.engine.store.contract.old_journals import brought_up_to_date
from manyhands.engine.store.sqlite.sqlite_store import open_reader

DIRECTORY = Path(__file__).parent


def events_of(name: str) -> list[AnyEvent]:
    """As every store reads them."""
    return [brought_up_to_date(event) for event in as_written(name)]


def as_written(name: str) -> list[AnyEvent]:
    lines = (DIRECTORY / f"{name}.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=AnyEvent) for line in lines]  # type: ignore[arg-type]


def replay(events: list[AnyEvent]) -> Book:
    scheduler = Scheduler()
    scheduler.replay(events)
    return scheduler.book


def state_of(book: Book) -> dict[str, Any]:
    """What people would notice if it were another: not the bytes of a snapshot, whose form may change."""
    return {
        "hosts": {
            name: {
                "width": host.width,
                "peak": host.peak,
                "paused": host.paused,
                "kept for": str(host.kept_by or ""),
                "workers": host.workers,
            }
            for name, host in book.hosts.items()
        },
        "running": sorted(one.record.task.id for one in book.running.values()),
        "runs": {
            name: {
                "counts": {str(state): n for state, n in run.counts.items() if n},
                "peak": run.peak,
                "draining": run.draining,
                "ended_at": run.ended_at,
                "tasks": {
                    record.task.id: [
                        str(record.state),
                        record.cause.why,
                        *(
                            f"{tried.host}: {tried.ending.kind if tried.ending else 'running'}"
                            for tried in record.history or ()
                        ),
                    ]
                    for record in run.records.values()
                },
                **({"notes": [kept.note for kept in run.notes]} if run.notes else {}),
            }
            for name, run in book.runs.items()
        },
    }


def keep(store: Path, name: str) -> None:
    with closing(open_reader(store)) as reader:
        events = [event for _, event in reader.read()]
    lines = [msgspec.json.encode(event) for event in events]
    (DIRECTORY / f"{name}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    state = json.dumps(state_of(replay(events)), indent=1, ensure_ascii=False)
    (DIRECTORY / f"{name}.state.json").write_text(state + "\n")


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.argv[2])
