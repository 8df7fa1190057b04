"""The events of one task in words, one by one."""

from collections.abc import Iterable, Iterator

from manyhands.core import events as ev
from manyhands.core.people import why_it_waits
from manyhands.core.values.task import Task
from manyhands.surfaces.api.picture.picture_rows import Redact, short
from manyhands.surfaces.verbs.person_words import judged_in_words


def story_of(journal: Iterable[ev.AnyEvent], run: str, task: str, redact: Redact = str) -> Iterator[tuple[float, str]]:
    number = 0
    mine: dict[int, str] = {}  # attempt → as it is called
    for event in journal:
        if isinstance(event, ev.AttemptStarted) and (event.run, event.task) == (run, task):
            number += 1
            mine[event.attempt] = f"attempt {number} on {event.host}"
            yield event.at, f"{mine[event.attempt]} starts"
        elif isinstance(event, ev.AttemptEnded | ev.AttemptSpawned | ev.StopDecided | ev.QuestionAsked):
            if event.attempt in mine and (text := _of_attempt(event, mine)):
                yield event.at, short(text, redact)
        elif text := _of_task(event, run, task):
            yield event.at, short(text, redact)


def _of_attempt(
    event: ev.AttemptEnded | ev.AttemptSpawned | ev.StopDecided | ev.QuestionAsked, mine: dict[int, str]
) -> str:
    match event:
        case ev.QuestionAsked():
            return f"{mine[event.attempt]} {why_it_waits(event.question)}"
        case ev.AttemptEnded() if event.ending.asks is not None:
            return f"{mine.pop(event.attempt)} ends: {why_it_waits(event.ending.asks)}"
        case ev.AttemptEnded():
            name = mine.pop(event.attempt)
            detail = f": {event.ending.detail}" if event.ending.detail else ""
            return f"{name} ends {event.ending.word}{detail}"
        case ev.StopDecided():
            detail = f" ({event.detail})" if event.detail else ""
            return f"{mine[event.attempt]} will be stopped: {event.why}{detail}"
        case _:
            return ""


def _of_task(event: ev.AnyEvent, run: str, task: str) -> str:
    if getattr(event, "run", None) != run:
        return ""
    match event:
        case ev.TasksSubmitted() if any(one.id == task for one in event.tasks):
            return "submitted" + _needing(next(one for one in event.tasks if one.id == task))
        case ev.TaskEdited() if event.task.id == task:
            return "changed in its plan or backlog"
        case ev.CancelAsked() if event.task in ("", task):
            what = "cancelled" if event.task else "cancelled with the whole run"
            return f"{what}: {event.why}" if event.why else what
        case ev.RetryAsked(task=asked) if asked == task:
            return "wanted again, because its plan has changed" if event.again else "retried by a person"
        case ev.DeferAsked(task=asked) if asked == task:
            return "deferred by a person"
        case ev.ResumeAsked(task=asked) if asked == task:
            return "resumed by a person"
        case ev.WorkJudged(task=asked) if asked == task:
            return judged_in_words(event)
        case ev.QuestionAnswered(task=asked) if asked == task:
            return f"answered by {event.by or 'a person'}: {event.words}"
        case ev.ChangeAsked(task=asked) if asked == task:
            return f"{', '.join(event.change.values())} changed by a person"
        case ev.FamilyMoved():
            return _of_member(event, task)
        case ev.RetryDecided(task=asked) if asked == task:
            return f"will be tried again in {max(0.0, event.until - event.at):.1f} s"
        case _:
            return ""


def _of_member(moved: ev.FamilyMoved, task: str) -> str:
    if task in moved.done:
        return f"done with its family {moved.family}: {moved.reason}"
    if task in moved.failed:
        return f"failed with its family {moved.family}: {moved.failed[task]}"
    if task in moved.trying:
        return f"round {moved.round} of its family {moved.family}, {moved.phase}: {moved.reason}"
    if any(task == one.id for one in moved.tasks):
        return f"made for round {moved.round} of the family {moved.family}"
    return ""


def _needing(task: Task) -> str:
    return f", needs {', '.join(task.needs[:10])}" if task.needs else ""
