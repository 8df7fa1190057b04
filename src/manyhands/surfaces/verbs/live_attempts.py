"""What a running attempt does just now, as far as it says so beside its output."""

from pathlib import Path

from manyhands.core.state import Record
from manyhands.engine.run_opening import attempt_directory
from manyhands.hosts.executors.live_facts import LiveFacts, read_live, silence_s
from manyhands.surfaces.verbs.book_view import BookView

#: A shorter silence is nothing to speak of: models think that long.
_SILENCE_MIN_S = 60.0


def live_facts(directory: Path, record: Record) -> LiveFacts | None:
    """Of the task's attempt in flight."""
    history = record.history or []
    if not history or history[-1].ending is not None:
        return None
    return read_live(Path(attempt_directory(directory, record.run, record.task.id, len(history))))


def live_reasons(view: BookView, record: Record) -> list[str]:
    facts = live_facts(view.directory, record)
    if facts is None:
        return []
    found: list[str] = []
    if (silent_s := silence_s(facts)) >= _SILENCE_MIN_S:
        until = f"; it ends after {_minutes(facts.idle_s)} of silence" if facts.idle_s else ""
        found.append(f"silent for {_minutes(silent_s)}{until}")
    if facts.does:
        found.append(f"last tool: {facts.does}")
    if facts.retries:
        found.append(f"asked its model again {facts.retries} {'time' if facts.retries == 1 else 'times'}")
    return found


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"
