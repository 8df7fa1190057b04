"""What the next person or agent must know of a run, in a length that can be read whatever the size of the run."""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct

from manyhands.core.state import Record, Run
from manyhands.core.values.ending import NoteKind
from manyhands.core.values.task import TERMINAL, TaskState
from manyhands.quantities import how_many_are, quantity
from manyhands.surfaces.review.task_notes import TaskNote, notes_of
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.inbox_verbs import InboxItem, list_inbox
from manyhands.surfaces.verbs.store_view import command_for, find_run

#: The most words of one line. A long text is cut, and the command beside it shows the rest.
_LINE_WORDS_MAX = 60


#: A line that is put together when there is room for it.
PendingLine = Callable[[], str]


class HandoffPart(Struct):
    title: str
    lines: list[str]
    left_out: int  # lines that would have made it too long


class Handoff(Struct):
    run: str
    headline: str
    parts: list[HandoffPart]


#: part → the most words it may have. Together with titles and the headline they stay below 2,000.
_WORDS_MAX = {
    "Where it stands": 150,
    "What waits for a person": 350,
    "Handed over by tasks": 350,
    "Open questions": 300,
    "Decisions": 300,
    "Lessons": 250,
    "Not done": 200,
}


def hand_over(view: BookView, name: str | None) -> Handoff:
    """Of that run, or of the newest."""
    run = find_run(view.book, name)
    notes = notes_of(run)
    waiting = [item for item in list_inbox(view).items if item.run in (None, run.name)]
    lines: dict[str, Sequence[PendingLine]] = {
        "Where it stands": _standing(run, notes),
        "What waits for a person": [partial(_waiting, item) for item in waiting],
        "Handed over by tasks": _said(notes, NoteKind.HANDOFF),
        "Open questions": _said(notes, NoteKind.QUESTION),
        "Decisions": _said(notes, NoteKind.DECISION),
        "Lessons": _said(sorted(notes, key=lambda note: -note.times), NoteKind.LESSON),
        "Not done": _not_done(run),
    }
    parts = [_part(title, of_part) for title, of_part in lines.items()]
    return Handoff(run.name, _headline(run), [part for part in parts if part.lines])


def _headline(run: Run) -> str:
    counts = ", ".join(f"{n:,} {state}" for state, n in run.counts.items() if n)
    return f"{quantity(len(run.records), 'task')}: {counts or 'none'}"


def _standing(run: Run, notes: list[TaskNote]) -> list[PendingLine]:
    left = run.unfinished
    lines = [
        f"{how_many_are(left, 'task')} left; `{command_for(run)}` continues the run." if left else "No task is left.",
        f"`manyhands review {run.name}` tells the whole story, `manyhands task --run {run.name}` lists the tasks.",
    ]
    words = [_short(text) for text in (run.about.title, run.about.goal, run.about.description) if text]
    return [*(partial(str, line) for line in (*words, *lines)), *_said(notes, NoteKind.OUTCOME)]


def _waiting(item: InboxItem) -> str:
    holds = f" (holds {item.holds:,})" if item.holds else ""
    return f"{item.waits_for} {item.name}{holds}: {_short(item.why)} `{item.command}`"


def _said(notes: list[TaskNote], kind: NoteKind) -> list[PendingLine]:
    return [partial(_noted, note) for note in notes if note.kind is kind]


def _noted(note: TaskNote) -> str:
    return f"{_short(note.text)} ({note.task}{_again(note.times)})"


def _again(times: int) -> str:
    return f" and {times - 1:,} more" if times > 1 else ""


def _not_done(run: Run) -> list[PendingLine]:
    undone = [record for record in run.records.values() if record.state in TERMINAL]
    return [partial(_left_undone, one) for one in undone if one.state is not TaskState.DONE and not one.is_step]


def _left_undone(record: Record) -> str:
    return f"{record.task.id} is {record.state}: {_short(record.cause.why or 'no reason given')}"


def _short(text: str) -> str:
    words = text.split()
    return " ".join(words) if len(words) <= _LINE_WORDS_MAX else " ".join(words[:_LINE_WORDS_MAX]) + " …"


def _part(title: str, lines: Sequence[PendingLine]) -> HandoffPart:
    """As many lines as there is room for. The others are counted, and not even put together."""
    left = _WORDS_MAX[title]
    shown: list[str] = []
    for make in lines:
        line = make()
        left -= len(line.split())
        if left < 0:
            break
        shown.append(line)
    return HandoffPart(title, shown, len(lines) - len(shown))


def as_handoff_text(handoff: Handoff) -> str:
    lines = [f"# Handoff of run {handoff.run}", "", handoff.headline]
    for part in handoff.parts:
        more = [f"- … and {part.left_out:,} more"] if part.left_out else []
        lines += ["", f"## {part.title}", *(f"- {line}" for line in part.lines), *more]
    return "\n".join(lines) + "\n"
