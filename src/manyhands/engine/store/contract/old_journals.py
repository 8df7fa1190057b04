"""Translates events of older versions, where sentences and labels told what fields tell today.

It is used wherever a journal is decoded, and nowhere else. Every event written today has these fields, so an event
without them is old.
"""

import os.path
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from manyhands.core import events
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.provenance import CausedBy, Origin, Purpose
from manyhands.core.values.task import Task

_BACKLOG = "in the backlog: "
_EVAL = "eval "
_HAND_ADDED = "added-by-hand"
_TOUCHED = "tainted"
_SCORER_KIND = "eval-score"
_EVAL_ENDED = ("its eval is over", "the eval was aborted")
_PURPOSES = {"manyhands add": Purpose.HAND, "the demo": Purpose.DEMO, "a simulation": Purpose.SIMULATION}


def brought_up_to_date(event: events.AnyEvent) -> events.AnyEvent:
    translate = _TRANSLATIONS.get(type(event))
    return event if translate is None else translate(event)


def _opened(opened: events.RunOpened) -> events.RunOpened:
    if opened.purpose is not None:
        return opened
    source = opened.source
    if (purpose := _PURPOSES.get(source)) is not None:
        return replace(opened, purpose=purpose, source="")
    if source.startswith(_EVAL):
        spec = source.removeprefix(_EVAL)
        return replace(opened, purpose=Purpose.EVAL if os.path.isabs(spec) else Purpose.TRIAL, source=spec)
    return replace(opened, purpose=Purpose.PLAN)


def _submitted(submitted: events.TasksSubmitted) -> events.TasksSubmitted:
    if submitted.origin is not None:
        return submitted
    return replace(submitted, origin=_origin_of_all(submitted.tasks))


def _edited(edited: events.TaskEdited) -> events.TaskEdited:
    return edited if edited.origin is not None else replace(edited, origin=_origin(edited.task))


def _origin_of_all(tasks: tuple[Task, ...]) -> Origin:
    """All tasks of one event had the same origin."""
    origins = {_origin(task) for task in tasks}
    return origins.pop() if len(origins) == 1 else Origin.PLAN


def _origin(task: Task) -> Origin:
    if _HAND_ADDED in task.labels:
        return Origin.HAND
    if "MANYHANDS_SESSION" in (task.env or {}):
        return Origin.TOUCHED_SESSION if _TOUCHED in task.labels else Origin.SESSION
    if task.kind == _SCORER_KIND:
        return Origin.CONTROL if task.deferred else Origin.SCORER
    return Origin.PLAN


def _cancelled(asked: events.CancelAsked) -> events.CancelAsked:
    return asked if asked.by is not None else replace(asked, by=_cancelled_by(asked.why))


def _cancelled_by(why: str) -> CausedBy:
    if why.startswith(_BACKLOG):
        return CausedBy.BACKLOG
    return CausedBy.RUN if why in _EVAL_ENDED else CausedBy.PERSON


def _stopped(stop: events.StopDecided) -> events.StopDecided:
    if stop.by is not None:
        return stop
    if stop.why is EndingKind.CANCELLED:
        return replace(stop, by=_cancelled_by(stop.detail))
    return replace(stop, by=CausedBy.PERSON if stop.detail == "stopped by a person" else CausedBy.ENGINE)


def _family_moved(moved: events.FamilyMoved) -> events.FamilyMoved:
    """The steps of a family had a barrier's name where they now have true. Their parent names the family."""
    if not any(isinstance(task.barrier, str) for task in moved.tasks):
        return moved
    return replace(moved, tasks=tuple(replace(task, barrier=True) for task in moved.tasks))


_TRANSLATIONS: dict[type[events.Event], Callable[[Any], events.AnyEvent]] = {
    events.RunOpened: _opened,
    events.TasksSubmitted: _submitted,
    events.TaskEdited: _edited,
    events.CancelAsked: _cancelled,
    events.StopDecided: _stopped,
    events.FamilyMoved: _family_moved,
}
