"""`manyhands run`: a plan to its end, or until the user has had enough."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from manyhands.backlogs.hosts import check_hosts
from manyhands.backlogs.plan import Plan, PlanRefused, read_plan
from manyhands.cli.output import Output, counted, duration, print_json, say
from manyhands.cli.progress import watch
from manyhands.cli.settings import load
from manyhands.core.events import Input, RunDrained, RunStopped
from manyhands.core.model import WHOLE_WORKSPACE, TaskState, claims_of
from manyhands.core.state import Run
from manyhands.runtime.dispatcher import Dispatcher
from manyhands.runtime.hosts import open_session
from manyhands.runtime.runs import new_name, opening, resuming, unfinished_run


def run_plans(
    paths: Sequence[Path],
    concurrency: int | None,
    fail_fast: bool,
    fresh: bool,
    output: Output,
    config_path: Path | None,
    hosts_path: Path | None,
    store: str | None,
) -> int:
    config = load(config_path, hosts_path, store)
    plan = read_plan(paths)
    problems = check_hosts(plan, config.core_hosts())
    if problems:
        raise PlanRefused(problems)
    _warn_of_undeclared(plan)
    source = ", ".join(str(path.resolve()) for path in paths)
    concurrency = concurrency if concurrency is not None else plan.settings.concurrency
    fail_fast = fail_fast or plan.settings.fail_fast

    async def go() -> int:
        async with open_session(config) as dispatcher:
            run = None if fresh else unfinished_run(dispatcher.book, source)
            now = dispatcher.clock.now()
            if run is not None:
                name = run.name
                events = list(resuming(run, now, plan.tasks, concurrency, fail_fast))
                say(f"run {name} goes on: {len(run.records) - run.unfinished} of {len(run.records)} were finished")
            else:
                name = new_name(dispatcher.book, plan.settings.name or paths[0].stem)
                parents = plan.settings.parents
                events = list(opening(name, now, plan.tasks, source, concurrency, fail_fast, parents))
            return await _follow(dispatcher, name, events, output)

    return asyncio.run(go())


def _warn_of_undeclared(plan: Plan) -> None:
    undeclared = sum(1 for task in plan.tasks if task.claims is None and claims_of(task) is WHOLE_WORKSPACE)
    if undeclared > 1:
        say(
            f"note: {undeclared} tasks declare no claims, so they take the workspace one at a time\n"
            'hint: `claims = { write = ["src/**"] }` says what a task writes, `claims = {}` that it touches nothing'
        )


async def _follow(dispatcher: Dispatcher, name: str, events: Sequence[Input], output: Output) -> int:
    """Submit, and watch the run until it comes to rest; the exit code that tells how."""
    watcher = watch(dispatcher, name)
    try:
        await dispatcher.submit(*events)
        _on_interrupt(dispatcher, name)
        await dispatcher.wait_settled(name)
    finally:
        watcher.stop()
    run = dispatcher.book.runs[name]
    _report(run, dispatcher, output)
    return exit_code(run)


def exit_code(run: Run) -> int:
    """0 if all is done, 75 if it was stopped on the way and can go on, 1 if anything did not end well."""
    if run.counts[TaskState.DONE] == len(run.records):
        return 0
    return 75 if run.draining else 1


def _on_interrupt(dispatcher: Dispatcher, name: str) -> None:
    """Ctrl-C once: start nothing more and wait. Twice: stop what runs. Either way it can go on later."""
    times = 0

    def interrupted() -> None:
        nonlocal times
        times += 1
        run = dispatcher.book.runs[name]
        if times == 1:
            say(f"stopping: waiting for {run.in_flight} in flight; Ctrl-C again stops them too")
            dispatcher.tell(RunDrained(dispatcher.clock.now(), name))
        elif times == 2:
            say(f"stopping {run.in_flight} in flight")
            dispatcher.tell(RunStopped(dispatcher.clock.now(), name))

    def terminated() -> None:
        dispatcher.tell(RunStopped(dispatcher.clock.now(), name))

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupted)
    loop.add_signal_handler(signal.SIGTERM, terminated)


def _report(run: Run, dispatcher: Dispatcher, output: Output) -> None:
    now = dispatcher.clock.now()
    took_s = (run.ended_at or now) - run.opened_at
    counts = {str(state): n for state, n in run.counts.items()}
    if output is Output.JSON:
        print_json(
            {
                "run": run.name,
                "tasks": len(run.records),
                "counts": counts,
                "makespan_s": round(took_s, 6),
                "peak": run.peak,
                "peaks": {host.name: host.peak for host in dispatcher.book.hosts.values()},
            }
        )
        return
    if output is Output.IDS:
        done = [record for record in run.records.values() if record.history and record.state is TaskState.DONE]
        done.sort(key=lambda record: (record.since, record.history[-1].attempt if record.history else 0))
        sys.stdout.write("".join(f"{record.task.id}\n" for record in done))
    else:
        for record in run.records.values():
            if record.state in (TaskState.FAILED, TaskState.SKIPPED, TaskState.CANCELLED):
                sys.stdout.write(f"{record.state}  {record.task.id}  {record.cause}\n")
        summary = counted(counts)
        sys.stdout.write(
            f"run {run.name}: {len(run.records)} tasks · {summary} · {duration(took_s)} · peak {run.peak}\n"
        )
    if run.unfinished and run.draining:
        say(f"{run.unfinished} tasks are left; the same command goes on with them")
    elif run.unfinished:
        say(f"{run.unfinished} tasks wait for a person; `manyhands task --run {run.name}` says why")
