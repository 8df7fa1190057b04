"""`manyhands demo --mix`: thirty mixed tasks on three hosts, as wide as they can bear, then one at a time per kind."""

import asyncio
import math
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from manyhands.core.events import CancelAsked
from manyhands.core.state import Run
from manyhands.core.values.host import Host, Width
from manyhands.core.values.provenance import CausedBy, Purpose
from manyhands.core.values.task import Task
from manyhands.engine.observed_peaks import peaks
from manyhands.engine.run_opening import new_name, opening
from manyhands.engine.session import dispatching
from manyhands.errors import Unavailable
from manyhands.hosts.executors.executor import Asked, Ended, Executor, ProcessSpawned, Retried, Showed
from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings
from manyhands.sources.config.config_types import Config
from manyhands.surfaces.cli.interrupts import Interrupts
from manyhands.surfaces.cli.page_beside_run import page_beside, say_address
from manyhands.surfaces.cli.printing import OutputFormat, duration, print_json, print_table, put, put_lines, say
from manyhands.surfaces.cli.progress import watch
from manyhands.surfaces.cli.settings import Settings

if TYPE_CHECKING:
    from manyhands.surfaces.api.api_server import ApiServer

TASKS_PER_KIND = 10
#: kind → (seconds a task takes, host, its width)
KINDS: dict[str, tuple[float, str, int]] = {
    "code": (30.0, "coder", 2),
    "text": (20.0, "writer", 3),
    "reasoning": (40.0, "thinker", 2),
}


async def work(seconds: float) -> None:
    """Takes as long as a model would."""
    await asyncio.sleep(seconds)


def ideal_s(scale: float) -> float:
    """Each host runs its ten tasks in full rounds; the slowest host decides."""
    return scale * max(seconds * math.ceil(TASKS_PER_KIND / width) for seconds, _, width in KINDS.values())


def run_mix(scale: float, output: OutputFormat, settings: Settings) -> int:
    config = settings.load()
    stays = output is OutputFormat.TABLE and sys.stdout.isatty() and sys.stderr.isatty()
    asyncio.run(_demo(scale, config, output, stays))
    return 0


async def _demo(scale: float, config: Config, output: OutputFormat, stays: bool) -> None:
    say(f"running 30 tasks on three hosts of widths 2, 3 and 2; the ideal is {duration(ideal_s(scale))}")
    async with _measuring("demo", scale, config, wide=True) as (wide, offered):
        port = int(offered.url.rpartition(":")[2])
    say("running the same 30 tasks one at a time per kind")
    async with _measuring("demo-one-at-a-time", scale, config, wide=False, port=port) as (narrow, offered):
        _report(wide, narrow, scale, output)
        if stays:
            say(f"the page stays up until you press Ctrl-C: {offered.entry}")
            await _interrupted()


def _report(wide: "DemoFigures", narrow: "DemoFigures", scale: float, output: OutputFormat) -> None:
    ideal = ideal_s(scale)
    if output is OutputFormat.JSON:
        print_json(
            {
                "makespan_s": round(wide.makespan_s, 4),
                "ideal_s": round(ideal, 4),
                "one_at_a_time_s": round(narrow.makespan_s, 4),
                "peaks": wide.peaks,
            }
        )
    elif output is OutputFormat.IDS:
        put_lines(task.id for task in _tasks(scale))
    else:
        widths = {name: width for _, name, width in KINDS.values()}
        print_table([{"host": host, "width": widths[host], "peak": peak} for host, peak in wide.peaks.items()])
        against = f"{wide.makespan_s / ideal:.3f} × the ideal of {ideal:.2f} s"
        put(f"as wide as the hosts bear:  {wide.makespan_s:.2f} s, {against}\n")
        faster = narrow.makespan_s / wide.makespan_s
        put(f"one at a time per kind:     {narrow.makespan_s:.2f} s, so {faster:.2f} × as fast\n")
        say(f"next: `manyhands runs`, `manyhands task --run {wide.run}`, `manyhands lane`")


async def _interrupted() -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()


def _tasks(scale: float) -> list[Task]:
    return [
        Task(f"{kind}-{n}", kind=kind, call="manyhands.surfaces.cli.demo_mix:work", args={"seconds": seconds * scale})
        for n in range(1, TASKS_PER_KIND + 1)
        for kind, (seconds, _, _) in KINDS.items()
    ]


class DemoFigures(NamedTuple):
    run: str
    makespan_s: float
    peaks: dict[str, int]  # host → the most it had in flight


@asynccontextmanager
async def _measuring(
    stem: str, scale: float, config: Config, wide: bool, port: int = 0
) -> AsyncIterator[tuple[DemoFigures, "ApiServer"]]:
    """Yields when the run is finished, while its page is still served."""
    interrupts = Interrupts()
    hosts = [
        Host(name, kinds=(kind,), takes=("call",), width=Width(width, width, width) if wide else Width(1, 1, 1))
        for kind, (_, name, width) in KINDS.items()
    ]

    def executors(
        journal: str, spawned: ProcessSpawned, ended: Ended, showed: Showed, retried: Retried, asked: Asked
    ) -> Mapping[str, Executor]:
        executor = PythonExecutor(PythonSettings(workspace=Path.cwd(), journal=journal), spawned, ended)
        return {host.name: executor for host in hosts}

    # A power cut may lose these tasks. With full syncs and short tasks we would only measure a slow disk.
    async with (
        dispatching(config.store_directory, "crash", hosts, (), executors, store=config.store_at) as dispatcher,
        page_beside(dispatcher, config.store_directory, port=port) as offered,
    ):
        if not port:
            say_address(offered)
        name = new_name(dispatcher.book, stem)
        opened = opening(name, dispatcher.clock.now(), _tasks(scale), purpose=Purpose.DEMO)
        watcher = watch(dispatcher, name, config.store_directory)
        try:
            await dispatcher.submit(*opened, *interrupts.watch_over(dispatcher, name))
            await dispatcher.wait_settled(name)
        finally:
            watcher.stop()
        run = dispatcher.book.runs[name]
        if interrupts.wanted or run.ended_at is None:
            await dispatcher.submit(
                CancelAsked(dispatcher.clock.now(), name, why="the demo was stopped", by=CausedBy.PERSON)
            )
            raise Unavailable("the demo was stopped", "`manyhands demo --mix` starts it again")
        yield DemoFigures(name, run.ended_at - run.opened_at, _peaks(run, hosts)), offered


def _peaks(run: Run, hosts: Sequence[Host]) -> dict[str, int]:
    measured = peaks(run.records.values())
    return {host.name: measured.get(host.name, 0) for host in hosts}
