"""The tools that change something: each answers what will come of it, and whether a dispatcher has heard of it."""

from collections.abc import Callable

from msgspec.structs import asdict

from manyhands.surfaces.mcp.arguments import HostWidthWanted, OfHost, OfTask, PauseWanted, TasksToAdd
from manyhands.surfaces.mcp.reading_tools import LISTED_MAX, handed_in
from manyhands.surfaces.verbs.plan_verbs import add as add_plan
from manyhands.surfaces.verbs.request_verbs import Asked, ask_of_task, pause_host, resume_host, set_width
from manyhands.surfaces.verbs.store_view import View


def add(view: View, wanted: TasksToAdd) -> dict[str, object]:
    added = add_plan(view, handed_in(wanted), wanted.to)
    return {**asdict(added), "tasks": added.tasks[:LISTED_MAX], "total": len(added.tasks)}


def task_wish(verb: str) -> Callable[[View, OfTask], Asked]:
    def ask(view: View, wanted: OfTask) -> Asked:
        return ask_of_task(view, verb, wanted.task, wanted.run)

    return ask


def host_pause(view: View, wanted: PauseWanted) -> Asked:
    return pause_host(view, wanted.host, wanted.why)


def host_resume(view: View, wanted: OfHost) -> Asked:
    return resume_host(view, wanted.host)


def host_width(view: View, wanted: HostWidthWanted) -> Asked:
    return set_width(view, wanted.host, wanted.width)
