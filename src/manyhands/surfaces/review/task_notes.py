"""What the tasks of a run wanted remembered: said by several tasks, a note is told once with their number."""

from msgspec import Struct

from manyhands.core.state import Run
from manyhands.core.values.ending import NoteKind


class TaskNote(Struct, frozen=True):
    kind: NoteKind
    text: str
    task: str  # the one that said it last
    at: float
    times: int = 1


def notes_of(run: Run) -> list[TaskNote]:
    """The newest first."""
    found: dict[tuple[NoteKind, str], TaskNote] = {}
    said = [
        TaskNote(note.kind, note.text, record.task.id, tried.ended_at or tried.started_at)
        for record in run.records.values()
        for tried in record.history or ()
        if tried.ending is not None
        for note in tried.ending.notes
    ]
    for note in sorted(said, key=lambda note: note.at):
        earlier = found.pop((note.kind, note.text), None)
        times = 1 if earlier is None else earlier.times + 1
        found[note.kind, note.text] = TaskNote(note.kind, note.text, note.task, note.at, times)
    return list(reversed(found.values()))
