"""What can be changed over HTTP: the verbs of the command line. Every change is on disk when its answer goes out."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import structs

from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.request_types import ApiRequest
from manyhands.surfaces.verbs import (
    approval_verbs,
    budget_verbs,
    edit_verbs,
    host_verbs,
    plan_verbs,
    request_verbs,
    run_verbs,
)
from manyhands.surfaces.verbs.request_verbs import Wanted

Handler = Callable[[ApiContext, ApiRequest], Awaitable[Any]]


def _recording(verb: Callable[[ApiContext, ApiRequest], Wanted[Any]]) -> Handler:
    async def handle(office: ApiContext, asked: ApiRequest) -> Any:
        wanted = verb(office, asked)
        await office.dispatcher.submit(*wanted.events)
        return wanted.answer(True)

    return handle


def task_wish(verb: str) -> Handler:
    return _recording(
        lambda office, asked: request_verbs.wish_for_task(office, verb, asked.path["task"], asked.path["run"])
    )


def said_to_task(verb: str) -> Handler:
    return _recording(
        lambda office, asked: approval_verbs.say_to_task(
            office,
            verb,
            asked.path["task"],
            asked.path["run"],
            asked.body.words,
            asked.body.by or "someone over HTTP",
            asked.body.commit,
        )
    )


edit = _recording(
    lambda office, asked: edit_verbs.edit_task(
        office, asked.path["task"], asked.path["run"], edit_verbs.task_change(**structs.asdict(asked.body))
    )
)
add = _recording(
    lambda office, asked: plan_verbs.add(
        office, plan_verbs.HandedIn(rows=asked.body.tasks, rows_from="body"), asked.body.run
    )
)
pause_run = _recording(lambda office, asked: run_verbs.pause_run(office, asked.path["run"]))
resume_run = _recording(lambda office, asked: run_verbs.resume_run(office, asked.path["run"]))
cancel_run = _recording(lambda office, asked: run_verbs.cancel_run(office, asked.path["run"], asked.body.why))
raise_budget = _recording(lambda office, asked: budget_verbs.raise_budget(office, asked.path["budget"], asked.body.key))
pause_host = _recording(
    lambda office, asked: host_verbs.pause_host(office, asked.path["host"], asked.body.why, asked.body.until)
)
resume_host = _recording(lambda office, asked: host_verbs.resume_host(office, asked.path["host"]))
set_width = _recording(lambda office, asked: host_verbs.set_width(office, asked.path["host"], asked.body.width))
