"""`manyhands run`: runs a plan to its end, or until the user stops it."""

import asyncio
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from manyhands.assembly import open_session
from manyhands.core.placement import takes
from manyhands.core.values.host import Host
from manyhands.core.values.task import WHOLE_WORKSPACE, Task, form_of
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.redaction import secrets_of
from manyhands.errors import Unavailable, UsageError
from manyhands.hosts.landing.repository import check_before
from manyhands.sources.config.agent_config import AgentHost
from manyhands.sources.config.config_types import Config, PullHost
from manyhands.sources.plans.host_check import check_hosts
from manyhands.sources.plans.plan_reading import Plan, PlanRefused, read_plan
from manyhands.sources.plans.undeclared_claims import CLAIMS_HINT, undeclared_note
from manyhands.surfaces.cli.interrupts import Interrupts
from manyhands.surfaces.cli.page_beside_run import page_beside, say_address, stay_until_key
from manyhands.surfaces.cli.printing import OutputFormat, say
from manyhands.surfaces.cli.progress import watch
from manyhands.surfaces.cli.report import exit_code, report, say_next
from manyhands.surfaces.cli.route_listing import say_undelivered
from manyhands.surfaces.cli.run_options import RunOptions
from manyhands.surfaces.cli.run_steps import RunSteps, steps_of
from manyhands.surfaces.cli.settings import Settings

#: Reading more than this takes more than a second, so the user is told.
LARGE_BYTES = 50_000_000


class RunHooks(NamedTuple):
    """What a command that runs a plan of its own does beside the run."""

    served: Callable[[str], None] | None = None  # the address of the page
    ended: Callable[[], None] | None = None  # after the report, while the page is still there


def run_plans(
    paths: Sequence[Path],
    options: RunOptions,
    output: OutputFormat,
    settings: Settings,
    hooks: RunHooks = RunHooks(),  # noqa: B008 - a value
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
    plan = _with_claims_of_agents(plan, config)
    check_before(config.workspace, config.landing, plan.tasks)
    source = ", ".join(str(path.resolve()) for path in paths)
    if options.dry_run:
        from manyhands.surfaces.cli.run_preview import preview

        return preview(plan, source, paths[0].stem, options, output, config)

    async def go() -> int:
        interrupts = Interrupts()
        async with open_session(config) as dispatcher:
            dead_before = frozenset(dispatcher.book.outbox.dead)
            sealed = plan._replace(tasks=dispatcher.vault.sealed_all(plan.tasks))
            steps = steps_of(dispatcher.book, sealed, source, paths[0].stem, options, dispatcher.clock.now())
            for text in steps.said:
                say(text)
            if not steps.events:
                return _report(dispatcher, steps, output)
            _warn_of_kept_hosts(dispatcher, steps.run)
            async with AsyncExitStack() as stack:
                if options.follow:
                    page = page_beside(dispatcher, config.store_directory, config.store_at, secrets_of(config))
                    address = say_address(await stack.enter_async_context(page), steps.run)
                    if hooks.served is not None:
                        hooks.served(address)
                code = await _follow(dispatcher, steps, interrupts, output, config, hooks)
                if hooks.ended is not None:
                    hooks.ended()
                if options.follow:
                    await stay_until_key(lambda: not interrupts.wanted)
        say_undelivered(dispatcher.book.outbox, dead_before)
        return code

    return asyncio.run(go())


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):  # reading it says why
        return 0


def _read(paths: Sequence[Path], config: Config) -> Plan:
    size = sum(map(_size, paths))
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


def _with_claims_of_agents(plan: Plan, config: Config) -> Plan:
    """A prompt that only agents take is work in the workspace: undeclared, it claims all of it, as a command does."""
    agents = [host.core_host() for host in config.hosts if isinstance(host, AgentHost | PullHost)]
    others = [host.core_host() for host in config.hosts if not isinstance(host, AgentHost | PullHost)]

    def goes_to(hosts: Sequence[Host], task: Task) -> bool:
        return any(takes(host, task.kind, "prompt", task.host) for host in hosts)

    def claimed(task: Task) -> Task:
        if task.claims is not None or form_of(task) != "prompt" or goes_to(others, task) or not goes_to(agents, task):
            return task
        return replace(task, claims=WHOLE_WORKSPACE)

    if not agents:
        return plan
    tasks = [claimed(task) for task in plan.tasks]
    undeclared = sum(new is not old for new, old in zip(tasks, plan.tasks, strict=True))
    if undeclared > 1:
        say(
            f"note: {undeclared} tasks for agents declare no claims, so they use the workspace one at a time\n"
            'hint: give each `workspace = "worktree"`, or `claims = { write = ["src/**"] }`'
        )
    return plan._replace(tasks=tasks)


def _warn_of_kept_hosts(dispatcher: Dispatcher, name: str) -> None:
    for host in dispatcher.book.hosts.values():
        if host.kept_by is not None and host.kept_by.run != name:
            say(
                f"note: {host.name} takes nothing else until {host.kept_by} is finished, which was stopped halfway\n"
                "hint: run the command that began that run again, and it continues"
            )


async def _follow(
    dispatcher: Dispatcher,
    steps: RunSteps,
    interrupts: Interrupts,
    output: OutputFormat,
    config: Config,
    hooks: RunHooks,
) -> int:
    """Submit, and watch the run until nothing of it can start or is running. Returns the exit code."""
    watcher = watch(dispatcher, steps.run, config.store_directory, secrets_of(config))
    try:
        await dispatcher.submit(*steps.events, *interrupts.watch_over(dispatcher, steps.run))
        await dispatcher.wait_settled(steps.run)
    finally:
        watcher.stop()
    return _report(dispatcher, steps, output, says_next=hooks.ended is None)


def _report(dispatcher: Dispatcher, steps: RunSteps, output: OutputFormat, says_next: bool = True) -> int:
    run = dispatcher.book.runs[steps.run]
    report(run, dispatcher.clock.now(), output, steps.left_out)
    if says_next and sys.stderr.isatty():
        say_next(run, steps.left_out)
    return exit_code(run, steps.left_out)
