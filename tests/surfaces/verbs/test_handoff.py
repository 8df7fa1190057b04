"""What the next one must know stays within its bound, whatever the size of the run."""

from pathlib import Path

from manyhands.core import events as ev
from manyhands.core.commands import StartAttempt
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import Ending, EndingKind, Note, NoteKind
from manyhands.core.values.host import Host, Width
from manyhands.core.values.task import Claims, Task
from manyhands.surfaces.review.task_notes import notes_of
from manyhands.surfaces.verbs.handoff_verbs import as_handoff_text, hand_over


class BookOnly:
    """A view of a book that no store is behind."""

    hosts = families = routes = ()
    directory = Path()
    is_dispatching = False
    now = 10.0

    def __init__(self, scheduler: Scheduler) -> None:
        self.book = self.book_if_any = scheduler.book


def run_of(count: int, notes: int, words: int) -> Scheduler:
    """All tasks fail with as many long notes of every kind, except that one lesson is the same everywhere."""
    scheduler = Scheduler()
    tasks = tuple(Task(f"t{n}", run=("true",), attempts=1, claims=Claims()) for n in range(count))
    hosts = ev.HostsConfigured(0.0, (Host("p", width=Width(count, count, count)),))
    commands = scheduler.handle([hosts, ev.RunOpened(0.0, "r"), ev.TasksSubmitted(0.0, "r", tasks)]).commands
    ends: list[ev.Input] = []
    for start in commands:
        if isinstance(start, StartAttempt):
            said = [
                Note(kind, f"{kind} {start.task.id} {n} " + "word " * words) for kind in NoteKind for n in range(notes)
            ]
            said.append(Note(NoteKind.LESSON, "run codegen first"))
            ends.append(
                ev.AttemptEnded(1.0, start.attempt, Ending(EndingKind.FAILED, "it broke " * 80, notes=tuple(said)))
            )
    assert len(ends) == count
    scheduler.handle(ends)
    return scheduler


def test_five_thousand_tasks_that_say_much_fit_into_two_thousand_words() -> None:
    scheduler = run_of(5_000, notes=2, words=150)
    text = as_handoff_text(hand_over(BookOnly(scheduler), "r"))
    assert 1_000 < len(text.split()) <= 2_000
    for title in ("Where it stands", "Handed over by tasks", "Open questions", "Decisions", "Lessons", "Not done"):
        assert f"## {title}" in text
    assert "and 4,999 more" in text, "what most tasks confirm is the first lesson"
    assert "- … and " in text


def test_a_small_run_is_told_whole() -> None:
    told = hand_over(BookOnly(run_of(2, notes=1, words=3)), None)
    assert all(part.left_out == 0 for part in told.parts)
    lessons = next(part for part in told.parts if part.title == "Lessons")
    assert lessons.lines[0] == "run codegen first (t1 and 1 more)"
    assert len(lessons.lines) == 3


def test_a_note_that_several_made_is_told_once_with_the_newest_first() -> None:
    notes = notes_of(run_of(3, notes=0, words=0).book.runs["r"])
    assert [(note.text, note.times) for note in notes] == [("run codegen first", 3)]
