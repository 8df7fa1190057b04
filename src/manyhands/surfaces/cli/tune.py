"""`manyhands tune`: measures the width a real host can bear, with real tasks."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from manyhands.apps.tune.expectation import Expectation, expectation
from manyhands.apps.tune.ramping import Tuned, probes_for, tune
from manyhands.apps.tune.width_figures import MeasuredWidth
from manyhands.core.events import AnyEvent, AttemptEnded, Input
from manyhands.core.placement import takes
from manyhands.core.values.task import WHOLE_WORKSPACE, Task, claims_of, form_of
from manyhands.engine.dispatcher import Dispatcher
from manyhands.errors import ConfigError, Unavailable, UsageError
from manyhands.hosts.probes.local import cores_now
from manyhands.quantities import quantity
from manyhands.readers.cgroup import own_groups
from manyhands.sources.config.config_types import Config, HostConfig
from manyhands.sources.config.width_writing import with_width, write_width
from manyhands.sources.plans.plan_reading import Plan, read_plan
from manyhands.surfaces.cli.expected_times import expected_times
from manyhands.surfaces.cli.interrupts import Interrupts
from manyhands.surfaces.cli.printing import OutputFormat, duration, print_json, print_table, put_lines, say
from manyhands.surfaces.cli.settings import Settings

#: A step that takes longer than this prints its progress.
LINE_EVERY_S = 5.0


def tune_host(
    name: str,
    plans: Sequence[Path],
    most: int,
    write: bool,
    output: OutputFormat,
    settings: Settings,
) -> int:
    config = settings.load()
    host = _host(config, name)
    plan = read_plan(plans)
    probes = _probes(plan, host)
    file = _file_to_write(settings.hosts or config.file, name) if write else None
    say(
        f"note: {_listed(probes)} will run over and over on host `{name}`, several at once, "
        "so they must be harmless to repeat"
    )

    async def go() -> Tuned:
        return await tune(config, host, probes, most, _Onlooker(Interrupts()))

    found = asyncio.run(go())
    taken = sum(takes(host.core_host(), task.kind, form_of(task), task.host) for task in plan.tasks)
    _print(found, expectation(host.core_host(), found.steps, taken, cores_now(own_groups())), output)
    if found.choice is None:
        raise Unavailable(f"no width of host `{name}` was measured completely: {found.why}", "try again")
    if file is not None and not found.stopped:
        write_width(file, name, found.choice.width)
        say(f"wrote `width = {found.choice.width}` for host `{name}` to {file}")
    return 75 if found.stopped else 0


def _host(config: Config, name: str) -> HostConfig:
    for host in config.hosts:
        if host.name == name:
            return host
    raise UsageError(f"there is no host `{name}`", f"the hosts are {', '.join(host.name for host in config.hosts)}")


def _probes(plan: Plan, host: HostConfig) -> list[Task]:
    probes = probes_for(host.core_host(), plan.tasks)
    if not probes:
        hint = f"it takes {' and '.join(host.takes)} tasks of kind {', '.join(host.kinds)}"
        raise UsageError(f"host `{host.name}` cannot take any task of {plan.source}", hint)
    if all(claims_of(task) is WHOLE_WORKSPACE for task in probes):
        raise UsageError(
            f"the tasks of {plan.source} declare no claims, so each of them needs the workspace for itself",
            "write `claims = {}` if a task touches nothing; only such tasks can be repeated side by side",
        )
    return probes


def _listed(probes: Sequence[Task]) -> str:
    names = ", ".join(f"`{task.id}`" for task in probes)
    return f"{len(probes)} task{'s' if len(probes) > 1 else ''} ({names})"


def _file_to_write(file: Path | None, host: str) -> Path:
    """Checked before anything is measured, not after."""
    if file is None:
        raise ConfigError("there is no manyhands.toml to write a width to", f"write one with [hosts.{host}] first")
    with_width(file.read_bytes().decode("utf-8-sig"), host, 1, str(file))
    return file


class _Onlooker:
    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._dispatcher: Dispatcher | None = None
        self._step = ""
        self._ended = self._attempts = 0
        self._said_at = 0.0

    def begins(self, dispatcher: Dispatcher, run: str, width: int, attempts: int) -> Sequence[Input]:
        if self._dispatcher is None:
            self._dispatcher = dispatcher
            dispatcher.recorded.append(self._recorded)
        self._step, self._ended, self._attempts = run, 0, attempts
        self._said_at = dispatcher.clock.now()
        if run == "warm-up":
            say("running one attempt to warm up")
        return self._interrupts.watch_over(dispatcher, run)

    def ends(self, step: MeasuredWidth) -> None:
        bad = f", {step.failed} failed" if step.failed else ""
        bad += f", {step.overloads} overloaded" if step.overloads else ""
        say(
            f"width {step.width}: {step.goodput_per_s:.3g}/s, p50 {duration(step.p50_s)},"
            f" {quantity(step.attempts, 'attempt')}{bad}"
        )

    def is_stopping(self) -> bool:
        return bool(self._interrupts.wanted)

    def _recorded(self, batch: Sequence[AnyEvent]) -> None:
        assert self._dispatcher is not None
        self._ended += sum(isinstance(event, AttemptEnded) for event in batch)
        now = self._dispatcher.clock.now()
        if now - self._said_at >= LINE_EVERY_S:
            self._said_at = now
            say(f"  {self._step}: {min(self._ended, self._attempts)} of {self._attempts}")


def _print(found: Tuned, expected: Expectation | None, output: OutputFormat) -> None:
    choice = found.choice
    if output is OutputFormat.JSON:
        print_json(
            {
                "host": found.host,
                "width": choice.width if choice else None,
                "low": choice.low if choice else None,
                "high": choice.high if choice else None,
                "best": choice.best if choice else None,
                "why": found.why,
                "stopped": found.stopped,
                "expected": expected,
                "steps": found.steps,
            }
        )
    elif output is OutputFormat.IDS:
        put_lines([str(choice.width)] if choice else [])
    else:
        print_table([_row(step) for step in found.steps])
        if choice is not None:
            put_lines(["", f"{found.host}: {choice}", f"  {found.why}"])
        if expected is not None:
            times = (expected.cold_s, expected.with_memory_s, expected.best_fixed_s)
            put_lines([expected_times(expected.tasks, *times)])


def _row(step: MeasuredWidth) -> dict[str, object]:
    return {
        "width": step.width,
        "goodput/s": step.goodput_per_s,
        "±": f"{1.645 * step.spread:.0%}",
        "tokens/s": step.tokens_per_s,
        "p50": duration(step.p50_s),
        "p95": duration(step.p95_s),
        "attempts": step.attempts,
        "failed": step.failed,
        "overloads": step.overloads,
    }
