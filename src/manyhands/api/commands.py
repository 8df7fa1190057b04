"""What can be wanted over HTTP. Each is on disk when its answer goes out, as with `manyhands add`."""

from collections.abc import Awaitable, Callable

from manyhands.api import answers
from manyhands.api.asking import Asked, NewTasks, Pause, Why, WidthWanted
from manyhands.api.office import Office
from manyhands.backlogs.hosts import check_hosts
from manyhands.backlogs.plan import PlanRefused, plan_of_rows
from manyhands.core import events
from manyhands.core.book import GONE
from manyhands.core.state import Run
from manyhands.errors import Conflict
from manyhands.runtime.adding import ADDED_RUN, adding, check_ids, labelled
from manyhands.runtime.wishes import WISHES

Handler = Callable[[Office, Asked], Awaitable[answers.Done]]


async def add(office: Office, asked: Asked) -> answers.Added:
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
    return answers.Added(name, [task.id for task in tasks])


def task_wish(name: str) -> Handler:
    wish = WISHES[name]

    async def ask(office: Office, asked: Asked) -> answers.Done:
        record = office.record(asked.path["run"], asked.path["task"])
        wish.check(record)
        await _submit(office, wish.event(office.dispatcher.clock.now(), record.run, record.task.id))
        return answers.Done(f"task {record.task.id} of run {record.run} is being {wish.done}")

    return ask


async def pause_run(office: Office, asked: Asked) -> answers.Done:
    run = _unfinished(office, asked)
    await _submit(office, events.RunDrained(office.dispatcher.clock.now(), run.name))
    return answers.Done(f"run {run.name} starts nothing more; what is in flight settles")


async def resume_run(office: Office, asked: Asked) -> answers.Done:
    run = _unfinished(office, asked)
    now = office.dispatcher.clock.now()
    await _submit(office, events.RunResumed(now, run.name, run.concurrency, run.fail_fast))
    return answers.Done(f"run {run.name} goes on")


async def cancel_run(office: Office, asked: Asked) -> answers.Done:
    run = _unfinished(office, asked)
    body: Why = asked.body
    await _submit(office, events.CancelAsked(office.dispatcher.clock.now(), run.name, why=body.why))
    return answers.Done(f"run {run.name} is being cancelled")


def _unfinished(office: Office, asked: Asked) -> Run:
    run = office.run(asked.path["run"])
    if run.records and not run.unfinished:
        raise Conflict(f"run {run.name} has ended", "a task of it can be retried, and the run goes on with that")
    return run


async def pause_host(office: Office, asked: Asked) -> answers.Done:
    host = office.host(asked.path["host"])
    body: Pause = asked.body
    if host.paused == GONE:
        raise Conflict(f"host {host.name} is no longer in the config", "it takes nothing anyway")
    await _submit(office, events.HostPaused(office.dispatcher.clock.now(), host.name, body.why, body.until))
    return answers.Done(f"host {host.name} takes nothing more until it is resumed")


async def resume_host(office: Office, asked: Asked) -> answers.Done:
    host = office.host(asked.path["host"])
    if host.paused is None or host.paused == GONE:
        state = "not paused" if host.paused is None else "no longer in the config"
        raise Conflict(f"host {host.name} is {state}", "/api/v1/hosts says how it is")
    await _submit(office, events.HostResumed(office.dispatcher.clock.now(), host.name))
    return answers.Done(f"host {host.name} goes on")


async def set_width(office: Office, asked: Asked) -> answers.Done:
    host = office.host(asked.path["host"])
    body: WidthWanted = asked.body
    await _submit(office, events.WidthSet(office.dispatcher.clock.now(), host.name, body.width))
    to = "is free again" if body.width is None else f"is {body.width}"
    return answers.Done(f"the width of {host.name} {to}")


async def _submit(office: Office, *wanted: events.Input) -> None:
    await office.dispatcher.submit(*wanted)
