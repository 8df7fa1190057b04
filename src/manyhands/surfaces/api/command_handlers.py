"""What can be changed over HTTP: the verbs of the command line. Every change is on disk when its answer goes out."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import structs

from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.named_tokens import OWNER
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

CommandHandler = Callable[[ApiContext, ApiRequest], Awaitable[Any]]


def _recording(verb: Callable[[ApiContext, ApiRequest], Wanted[Any]]) -> CommandHandler:
    async def handle(context: ApiContext, asked: ApiRequest) -> Any:
        wanted = verb(context, asked)
        await context.dispatcher.submit(*wanted.events)
        return wanted.answer(True)

    return handle


def task_wish(verb: str) -> CommandHandler:
    return _recording(
        lambda context, asked: request_verbs.wish_for_task(context, verb, asked.path["task"], asked.path["run"])
    )


def _who(asked: ApiRequest) -> str:
    """The owner may speak for anyone. Whoever has a token of their own is told by its name."""
    says: str = asked.body.by
    if asked.holder == OWNER:
        return says or OWNER
    return f"{says} (token {asked.holder})" if says else asked.holder


def said_to_task(verb: str) -> CommandHandler:
    return _recording(
        lambda context, asked: approval_verbs.say_to_task(
            context,
            verb,
            asked.path["task"],
            asked.path["run"],
            asked.body.words,
            _who(asked),
            asked.body.commit,
        )
    )


edit = _recording(
    lambda context, asked: edit_verbs.edit_task(
        context, asked.path["task"], asked.path["run"], edit_verbs.task_change(**structs.asdict(asked.body))
    )
)
add = _recording(
    lambda context, asked: plan_verbs.add(
        context, plan_verbs.HandedIn(rows=asked.body.tasks, rows_from="body"), asked.body.run
    )
)
pause_run = _recording(lambda context, asked: run_verbs.pause_run(context, asked.path["run"]))
resume_run = _recording(lambda context, asked: run_verbs.resume_run(context, asked.path["run"]))
cancel_run = _recording(lambda context, asked: run_verbs.cancel_run(context, asked.path["run"], asked.body.why))
raise_budget = _recording(
    lambda context, asked: budget_verbs.raise_budget(context, asked.path["budget"], asked.body.key)
)
pause_host = _recording(
    lambda context, asked: host_verbs.pause_host(context, asked.path["host"], asked.body.why, asked.body.until)
)
resume_host = _recording(lambda context, asked: host_verbs.resume_host(context, asked.path["host"]))
set_width = _recording(lambda context, asked: host_verbs.set_width(context, asked.path["host"], asked.body.width))
