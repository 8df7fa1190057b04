"""What people and agents want done, as events to record and an answer to give.

A live dispatcher records the events itself. A store keeps them as requests for the dispatcher that runs now or next.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct

from manyhands.core.events import Input
from manyhands.engine.store.store_opening import make, open_requests
from manyhands.engine.task_wishes import WISHES
from manyhands.errors import Conflict, ManyhandsError, UnknownTask
from manyhands.surfaces.verbs.audit_trail import AuditLine, note_command, user_here
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.store_view import View, command_for, find_run, find_task
from manyhands.surfaces.verbs.task_choice import TaskChoice, check_choice, is_glob

VerbAnswer = TypeVar("VerbAnswer")


class RequestKept(Struct, frozen=True):
    """The request is on disk, and a dispatcher will act on it."""

    done: str
    heard: bool  # true: a dispatcher is running and has heard of it; false: the next one acts on it


class Wanted(NamedTuple, Generic[VerbAnswer]):
    """A change that was checked and may be made."""

    events: Sequence[Input]
    answer: Callable[[bool], VerbAnswer]  # whether a dispatcher has heard of it → what to tell


def ask(view: View, wanted: Wanted[VerbAnswer]) -> VerbAnswer:
    """Leave the request in the store; it is on disk when this returns. The audit trail says who asked."""
    make(view.place, view.config.store.durability)
    asking = open_requests(view.place, view.config.store.durability)
    try:
        for event in wanted.events:
            asking.ask(event)
        for event in wanted.events:  # all of it was asked for, even if the trail cannot be written
            note_command(
                view.config.store_directory, AuditLine(event.at, user_here(), view.asked_from, _in_words(event))
            )
        return wanted.answer(asking.heard)
    finally:
        asking.close()


def _in_words(event: Input) -> str:
    named = [str(found) for name in ("run", "task", "host", "kind") if (found := getattr(event, name, ""))]
    return " ".join([str(event.__struct_config__.tag), *named])


def wish_for_task(view: BookView, verb: str, id: str, run: str | None) -> Wanted[RequestKept]:
    """Cancel, retry, defer, resume or publish that task of that run, or of the newest run that has it."""
    wish = WISHES[verb]
    record = find_task(view.book, id, run)
    wish.check(record)
    task = f"task {id} of run {record.run}"

    def answer(heard: bool) -> RequestKept:
        if heard:
            return RequestKept(f"{task} is being {wish.done}", heard)
        command = command_for(view.book.runs[record.run])
        return RequestKept(f"{task} will be {wish.done} when `{command}` continues the run", heard)

    return Wanted([wish.event(view.now, record.run, record.task.id)], answer)


def wish_for_tasks(view: BookView, verb: str, choice: TaskChoice, run: str | None) -> Wanted[RequestKept]:
    """Cancel, retry, defer, resume or publish the tasks of that run, or of the newest one, where it makes sense.

    A task that is named by its id is refused if it makes no sense for that one.
    """
    check_choice(choice, verb)
    if choice.is_one:
        return wish_for_task(view, verb, choice.ids[0], run)
    wish = WISHES[verb]
    found = find_run(view.book, run)
    for id in choice.ids:
        if not is_glob(id):
            wish.check(find_task(view.book, id, found.name))
    meant = [record for record in found.records.values() if choice.has(record.task.id, str(record.state))]
    able = [record for record in meant if not record.is_step and wish.can(record)]
    if not able:
        raise none_of(found.name, choice, verb, sorted({str(record.state) for record in meant}))
    tasks = f"{len(able):,} {'task' if len(able) == 1 else 'tasks'} of run {found.name}"

    def answer(heard: bool) -> RequestKept:
        if heard:
            return RequestKept(f"{tasks} {'is' if len(able) == 1 else 'are'} being {wish.done}", heard)
        return RequestKept(f"{tasks} will be {wish.done} when `{command_for(found)}` continues the run", heard)

    return Wanted([wish.event(view.now, found.name, record.task.id) for record in able], answer)


def none_of(run: str, choice: TaskChoice, verb: str, states: Collection[str]) -> ManyhandsError:
    """No task is meant for which the verb makes sense; `states` has those of the tasks that match."""
    what = " ".join([*choice.ids, *([f"--state {choice.state}"] if choice.state else [])])
    hint = f"`manyhands task --run {run}` lists its tasks"
    if not states:
        return UnknownTask(f"no task of run {run} matches `{what}`", hint)
    return Conflict(f"no task that matches `{what}` can be {WISHES[verb].done}; their state: {', '.join(states)}", hint)
