"""Lessons that tasks noted: gathered from runs, and told to the prompts of a run that asks for them."""

from collections.abc import Iterable

from msgspec.structs import replace

from manyhands.core.state import Run
from manyhands.core.values.about import RunAbout
from manyhands.core.values.ending import NoteKind
from manyhands.core.values.task import Task

#: Lessons stand in every prompt, so they must stay few and short.
LESSONS_MAX = 20
CHARACTERS_MAX = 4_000


def lessons_of(runs: Iterable[Run]) -> tuple[str, ...]:
    """What most tasks noted comes first; among equals, what was noted last."""
    confirmed: dict[str, dict[tuple[str, str], None]] = {}
    newest: dict[str, float] = {}
    for run in runs:
        for record in run.records.values():
            for tried in record.history or ():
                for note in () if tried.ending is None else tried.ending.notes:
                    if note.kind is NoteKind.LESSON:
                        confirmed.setdefault(note.text, {})[run.name, record.task.id] = None
                        newest[note.text] = max(newest.get(note.text, 0.0), tried.ended_at or tried.started_at)
    ordered = sorted(confirmed, key=lambda text: (-len(confirmed[text]), -newest[text], text))
    kept: list[str] = []
    left = CHARACTERS_MAX
    for text in ordered[:LESSONS_MAX]:
        left -= len(text)
        if left < 0:
            break
        kept.append(text)
    return tuple(kept)


def with_lessons(task: Task, about: RunAbout) -> Task:
    """The task as an attempt is told it."""
    if not task.prompt or not about.lessons:
        return task
    lines = "\n".join(f"- {text}" for text in about.lessons)
    return replace(task, prompt=f"{task.prompt}\n\nLessons of earlier runs:\n{lines}")
