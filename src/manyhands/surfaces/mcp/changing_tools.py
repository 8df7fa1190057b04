"""The tools that change something. Each answers what will happen, and whether a dispatcher has heard of it."""

from collections.abc import Callable

from msgspec.structs import replace

from manyhands.surfaces.mcp.arguments import HostWidthWanted, OfHost, OfTask, PauseWanted, TasksToAdd
from manyhands.surfaces.mcp.reading_tools import LISTED_MAX, handed_in
from manyhands.surfaces.verbs import host_verbs, plan_verbs
from manyhands.surfaces.verbs.plan_verbs import Added
from manyhands.surfaces.verbs.request_verbs import Asked, ask, wish_for_task
from manyhands.surfaces.verbs.store_view import View


def add(view: View, wanted: TasksToAdd) -> Added:
    added = ask(view, plan_verbs.add(view, handed_in(wanted), wanted.to))
    return replace(added, tasks=added.tasks[:LISTED_MAX])


def task_wish(verb: str) -> Callable[[View, OfTask], Asked]:
    def wish(view: View, wanted: OfTask) -> Asked:
        return ask(view, wish_for_task(view, verb, wanted.task, wanted.run))

    return wish


def host_pause(view: View, wanted: PauseWanted) -> Asked:
    return ask(view, host_verbs.pause_host(view, wanted.host, wanted.why))


def host_resume(view: View, wanted: OfHost) -> Asked:
    return ask(view, host_verbs.resume_host(view, wanted.host))


def host_width(view: View, wanted: HostWidthWanted) -> Asked:
    return ask(view, host_verbs.set_width(view, wanted.host, wanted.width))
