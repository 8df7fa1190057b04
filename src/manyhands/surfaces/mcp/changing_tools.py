"""The tools that change something. Each answers what will happen, and whether a dispatcher has heard of it."""

import os
from collections.abc import Callable

from msgspec.structs import replace

from manyhands.core.values.ending import NoteKind
from manyhands.surfaces.mcp.arguments import (
    EditWanted,
    HostWidthWanted,
    NoteGiven,
    OfHost,
    OfTask,
    PauseWanted,
    QuestionPut,
    SaidToWaiting,
    TasksToAdd,
)
from manyhands.surfaces.mcp.reading_tools import LISTED_MAX, handed_in
from manyhands.surfaces.verbs import approval_verbs, edit_verbs, host_verbs, plan_verbs
from manyhands.surfaces.verbs.approval_verbs import check_is_person
from manyhands.surfaces.verbs.ask_verbs import PersonsReply, ask_person
from manyhands.surfaces.verbs.note_verbs import NoteKept, keep_note
from manyhands.surfaces.verbs.plan_verbs import Added
from manyhands.surfaces.verbs.request_verbs import RequestKept, ask, wish_for_task
from manyhands.surfaces.verbs.store_view import View

ASK_WAIT_S = 45.0


def add(view: View, wanted: TasksToAdd) -> Added:
    added = ask(view, plan_verbs.add(view, handed_in(wanted), wanted.to))
    return replace(added, tasks=added.tasks[:LISTED_MAX])


def task_wish(verb: str) -> Callable[[View, OfTask], RequestKept]:
    def wish(view: View, wanted: OfTask) -> RequestKept:
        return ask(view, wish_for_task(view, verb, wanted.task, wanted.run))

    return wish


def say_to_task(verb: str) -> Callable[[View, SaidToWaiting], RequestKept]:
    def say(view: View, wanted: SaidToWaiting) -> RequestKept:
        check_is_person(os.environ)
        return ask(
            view, approval_verbs.say_to_task(view, verb, wanted.task, wanted.run, wanted.words, "someone over MCP")
        )

    return say


def task_edit(view: View, wanted: EditWanted) -> RequestKept:
    change = edit_verbs.task_change(wanted.priority, wanted.needs, wanted.title, wanted.prompt, wanted.stage)
    return ask(view, edit_verbs.edit_task(view, wanted.task, wanted.run, change))


def ask_a_person(view: View, wanted: QuestionPut) -> PersonsReply:
    """Clients give up on a call after a minute, so the agent is told before that to ask again."""
    return ask_person(os.environ, wanted.question, wanted.choices, ASK_WAIT_S)


def note(view: View, wanted: NoteGiven) -> NoteKept:
    return keep_note(os.environ, NoteKind(wanted.kind), wanted.text)


def host_pause(view: View, wanted: PauseWanted) -> RequestKept:
    return ask(view, host_verbs.pause_host(view, wanted.host, wanted.why))


def host_resume(view: View, wanted: OfHost) -> RequestKept:
    return ask(view, host_verbs.resume_host(view, wanted.host))


def host_width(view: View, wanted: HostWidthWanted) -> RequestKept:
    return ask(view, host_verbs.set_width(view, wanted.host, wanted.width))
