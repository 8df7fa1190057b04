"""`manyhands run`: runs a plan to its end, or until the user stops it."""

import asyncio
import math
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from manyhands.assembly import open_session
from manyhands.core.events import Input
from manyhands.core.placement import takes
from manyhands.core.values.task import form_of
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.redaction import secrets_of
from manyhands.engine.run_opening import new_name, opening, resuming, unfinished_run
from manyhands.errors import Unavailable, UsageError
from manyhands.hosts.landing.repository import check_before
from manyhands.sources.config.agent_config import AgentHost
from manyhands.sources.config.config_types import Config
from manyhands.sources.plans.host_check import check_hosts
from manyhands.sources.plans.plan_reading import Plan, PlanRefused, read_plan
from manyhands.sources.plans.undeclared_claims import CLAIMS_HINT, undeclared_note
from manyhands.surfaces.cli.interrupts import Interrupts
from manyhands.surfaces.cli.offered import page_beside, say_address
from manyhands.surfaces.cli.printing import OutputFormat, say
from manyhands.surfaces.cli.progress import watch
from manyhands.surfaces.cli.report import exit_code, report
from manyhands.surfaces.cli.route_listing import say_undelivered
from manyhands.surfaces.cli.run_commands import RunOptions
from manyhands.surfaces.cli.settings import Settings

#: Reading more than this takes more than a second, so the user is told.
LARGE_BYTES = 50_000_000


def run_plans(
    paths: Sequence[Path],
    options: RunOptions,
    output: OutputFormat,
    settings: Settings,
) -> int:
    concurrency = options.concurrency
    if concurrency is not None and concurrency < 1:
        raise UsageError(f"`--concurrency` must be at least 1, got {concurrency}", "leave it out to have no limit")
    if options.max_cost is not None and not 0 < options.max_cost < math.inf:
        raise UsageError(f"`--max-cost` must be above 0, got {options.max_cost:g}", "leave it out to have no limit")
    config = settings.load(default_width=concurrency)
    plan = _read(paths, config)
    if note := undeclared_note(plan.tasks):
        say(f"note: {note}\nhint: {CLAIMS_HINT}")
    _warn_of_agents_in_one_place(plan, config)
    check_before(config.workspace, config.landing, plan.tasks)
    source = ", ".join(str(path.resolve()) for path in paths)
    concurrency = concurrency if concurrency is not None else plan.settings.concurrency
    fail_fast = options.fail_fast or plan.settings.fail_fast

    async def go() -> int:
        interrupts = Interrupts()
        async with open_session(config) as dispatcher:
            dead_before = frozenset(dispatcher.book.outbox.dead)
            run = None if options.fresh else unfinished_run(dispatcher.book, source)
            now = dispatcher.clock.now()
            if run is not None:
                name = run.name
                events = list(resuming(run, now, plan.tasks, concurrency, fail_fast, options.max_cost))
                finished = len(run.records) - run.unfinished
                say(f"run {name} continues: {finished} of {len(run.records)} tasks were finished")
            else:
                name = new_name(dispatcher.book, plan.settings.name or paths[0].stem)
                parents = plan.settings.parents
                opened = opening(
                    name, now, plan.tasks, source, concurrency, fail_fast, parents, max_cost=options.max_cost
                )
                events = list(opened)
            _warn_of_kept_hosts(dispatcher, name)
            async with AsyncExitStack() as stack:
                if options.follow:
                    page = page_beside(dispatcher, config.store_directory, config.store_at, secrets_of(config))
                    say_address(await stack.enter_async_context(page))
                code = await _follow(dispatcher, name, events, interrupts, output)
        say_undelivered(dispatcher.book.outbox, dead_before)
        return code

    return asyncio.run(go())


def _read(paths: Sequence[Path], config: Config) -> Plan:
    size = sum(path.stat().st_size for path in paths if path.is_file())
    if size > LARGE_BYTES:
        say(f"reading a plan of {size / 1e6:,.0f} MB …")
    try:
        plan = read_plan(paths)
        problems = check_hosts(plan, config.core_hosts(), config.core_families(), config.core_routes())
    except KeyboardInterrupt:
        raise Unavailable("stopped while reading the plan: nothing was started", "run the same command again") from None
    if problems:
        raise PlanRefused(problems)
    return plan


def _warn_of_agents_in_one_place(plan: Plan, config: Config) -> None:
    agents = [host.core_host() for host in config.hosts if isinstance(host, AgentHost)]
    at_large = sum(
        any(takes(host, task.kind, "prompt", task.host) for host in agents)
        for task in plan.tasks
        if task.claims is None and form_of(task) == "prompt"
    )
    if at_large > 1:
        say(
            f"note: {at_large} tasks for agents declare no claims, so two agents may change the same file at once\n"
            'hint: give each `workspace = "worktree"`, or `claims = { write = ["src/**"] }`'
        )


def _warn_of_kept_hosts(dispatcher: Dispatcher, name: str) -> None:
    for host in dispatcher.book.hosts.values():
        if host.kept_by is not None and host.kept_by.run != name:
            say(
                f"note: {host.name} takes nothing else until {host.kept_by} is finished, which was stopped halfway\n"
                "hint: run the command that began that run again, and it continues"
            )


async def _follow(
    dispatcher: Dispatcher, name: str, events: Sequence[Input], interrupts: Interrupts, output: OutputFormat
) -> int:
    """Submit, and watch the run until nothing of it can start or is running. Returns the exit code."""
    watcher = watch(dispatcher, name)
    try:
        await dispatcher.submit(*events, *interrupts.watch_over(dispatcher, name))
        await dispatcher.wait_settled(name)
    finally:
        watcher.stop()
    run = dispatcher.book.runs[name]
    report(run, dispatcher.clock.now(), output)
    return exit_code(run)
