"""What can be wanted over HTTP. Each is on disk when its answer goes out, as with `manyhands add`."""

from collections.abc import Awaitable, Callable

from manyhands.core import events
from manyhands.core.book import GONE
from manyhands.core.state import Run
from manyhands.engine.hand_added import ADDED_RUN, adding, check_ids, labelled
from manyhands.engine.task_wishes import WISHES
from manyhands.errors import Conflict
from manyhands.sources.plans.host_check import check_hosts
from manyhands.sources.plans.plan_reading import PlanRefused, plan_of_rows
from manyhands.surfaces.api import answer_types
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.request_types import ApiRequest, NewTasks, Pause, Why, WidthWanted

Handler = Callable[[ApiContext, ApiRequest], Awaitable[answer_types.Done]]


async def add(office: ApiContext, asked: ApiRequest) -> answer_types.AddedAnswer:
    wanted: NewTasks = asked.body
    run = office.run(wanted.run) if wanted.run is not None else office.book.runs.get(ADDED_RUN)
    plan = plan_of_rows(wanted.tasks, "body", run.records if run is not None else ())
    if problems := check_hosts(
        plan, office.configured_hosts(), tuple(office.book.families.values()), tuple(office.book.outbox.routes.values())
    ):
        raise PlanRefused(problems)
    check_ids(plan.tasks, run)
    tasks = labelled(plan.tasks)
    name = run.name if run is not None else ADDED_RUN
    await _submit(office, *adding(name, office.dispatcher.clock.now(), tasks))
    return answer_types.AddedAnswer(name, [task.id for task in tasks])


def task_wish(name: str) -> Handler:
    wish = WISHES[name]

    async def ask(office: ApiContext, asked: ApiRequest) -> answer_types.Done:
        record = office.record(asked.path["run"], asked.path["task"])
        wish.check(record)
        await _submit(office, wish.event(office.dispatcher.clock.now(), record.run, record.task.id))
        return answer_types.Done(f"task {record.task.id} of run {record.run} is being {wish.done}")

    return ask


async def pause_run(office: ApiContext, asked: ApiRequest) -> answer_types.Done:
    run = _unfinished(office, asked)
    await _submit(office, events.RunDrained(office.dispatcher.clock.now(), run.name))
    return answer_types.Done(f"run {run.name} starts nothing more; what is in flight settles")


async def resume_run(office: ApiContext, asked: ApiRequest) -> answer_types.Done:
    run = _unfinished(office, asked)
    now = office.dispatcher.clock.now()
    await _submit(office, events.RunResumed(now, run.name, run.concurrency, run.fail_fast))
    return answer_types.Done(f"run {run.name} goes on")


async def cancel_run(office: ApiContext, asked: ApiRequest) -> answer_types.Done:
    run = _unfinished(office, asked)
    body: Why = asked.body
    await _submit(office, events.CancelAsked(office.dispatcher.clock.now(), run.name, why=body.why))
    return answer_types.Done(f"run {run.name} is being cancelled")


def _unfinished(office: ApiContext, asked: ApiRequest) -> Run:
    run = office.run(asked.path["run"])
    if run.records and not run.unfinished:
        raise Conflict(f"run {run.name} has ended", "a task of it can be retried, and the run goes on with that")
    return run


async def pause_host(office: ApiContext, asked: ApiRequest) -> answer_types.Done:
    host = office.host(asked.path["host"])
    body: Pause = asked.body
    if host.paused == GONE:
        raise Conflict(f"host {host.name} is no longer in the config", "it takes nothing anyway")
    await _submit(office, events.HostPaused(office.dispatcher.clock.now(), host.name, body.why, body.until))
    return answer_types.Done(f"host {host.name} takes nothing more until it is resumed")


async def resume_host(office: ApiContext, asked: ApiRequest) -> answer_types.Done:
    host = office.host(asked.path["host"])
    if host.paused is None or host.paused == GONE:
        state = "not paused" if host.paused is None else "no longer in the config"
        raise Conflict(f"host {host.name} is {state}", "/api/v1/hosts says how it is")
    await _submit(office, events.HostResumed(office.dispatcher.clock.now(), host.name))
    return answer_types.Done(f"host {host.name} goes on")


async def set_width(office: ApiContext, asked: ApiRequest) -> answer_types.Done:
    host = office.host(asked.path["host"])
    body: WidthWanted = asked.body
    await _submit(office, events.WidthSet(office.dispatcher.clock.now(), host.name, body.width))
    to = "is free again" if body.width is None else f"is {body.width}"
    return answer_types.Done(f"the width of {host.name} {to}")


async def _submit(office: ApiContext, *wanted: events.Input) -> None:
    await office.dispatcher.submit(*wanted)
