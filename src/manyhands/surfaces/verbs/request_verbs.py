"""What people and agents want done, as events to record and an answer to give.

A live dispatcher records the events itself. A store keeps them as requests for the dispatcher that runs now or next.
"""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct

from manyhands.core.events import Input
from manyhands.engine.store.store_opening import make, open_requests
from manyhands.engine.task_wishes import WISHES
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.store_view import View, command_for, find_task

Answer = TypeVar("Answer")


class Asked(Struct, frozen=True):
    """The request is on disk, and a dispatcher will act on it."""

    done: str
    heard: bool  # true: a dispatcher is running and has heard of it; false: the next one acts on it


class Wanted(NamedTuple, Generic[Answer]):
    """A change that was checked and may be made."""

    events: Sequence[Input]
    answer: Callable[[bool], Answer]  # whether a dispatcher has heard of it → what to tell


def ask(view: View, wanted: Wanted[Answer]) -> Answer:
    """Leave the request in the store; it is on disk when this returns."""
    make(view.place, view.config.store.durability)
    asking = open_requests(view.place, view.config.store.durability)
    try:
        for event in wanted.events:
            asking.ask(event)
        return wanted.answer(asking.heard)
    finally:
        asking.close()


def wish_for_task(view: BookView, verb: str, id: str, run: str | None) -> Wanted[Asked]:
    """Cancel, retry, defer or resume that task of that run, or of the newest run that has it."""
    wish = WISHES[verb]
    record = find_task(view.book, id, run)
    wish.check(record)
    task = f"task {id} of run {record.run}"

    def answer(heard: bool) -> Asked:
        if heard:
            return Asked(f"{task} is being {wish.done}", heard)
        command = command_for(view.book.runs[record.run])
        return Asked(f"{task} will be {wish.done} when `{command}` continues the run", heard)

    return Wanted([wish.event(view.now, record.run, record.task.id)], answer)
