"""`manyhands demo`: thirty mixed tasks on three hosts, as wide as they bear, and then one at a time per kind."""

import asyncio
import math
from collections.abc import Mapping
from pathlib import Path

from manyhands.cli.output import Output, duration, print_json, say
from manyhands.cli.progress import watch
from manyhands.core.model import Host, Task, Width
from manyhands.executors.interface import Ended, Executor, Spawned
from manyhands.executors.python import PythonExecutor, PythonSettings
from manyhands.runtime.runs import new_name, opening
from manyhands.runtime.session import dispatching

TASKS_PER_KIND = 10
#: kind → (seconds a task takes, host, its width)
KINDS: dict[str, tuple[float, str, int]] = {
    "code": (30.0, "coder", 2),
    "text": (20.0, "writer", 3),
    "reasoning": (40.0, "thinker", 2),
}


async def work(seconds: float) -> None:
    """Stands for a model at work."""
    await asyncio.sleep(seconds)


def ideal_s(scale: float) -> float:
    """Each host works off its ten tasks in full rounds; the slowest decides."""
    return scale * max(seconds * math.ceil(TASKS_PER_KIND / width) for seconds, _, width in KINDS.values())


def run_demo(scale: float, output: Output, store: str | None) -> int:
    directory = Path(store or ".manyhands")
    say(f"30 tasks on three hosts of widths 2, 3 and 2; the ideal is {duration(ideal_s(scale))}")
    wide_s, peaks = asyncio.run(_measure("demo", scale, directory, wide=True))
    say("now one at a time per kind")
    narrow_s, _ = asyncio.run(_measure("demo-one-at-a-time", scale, directory, wide=False))
    if output is Output.JSON:
        print_json(
            {
                "makespan_s": round(wide_s, 4),
                "ideal_s": round(ideal_s(scale), 4),
                "one_at_a_time_s": round(narrow_s, 4),
                "peaks": peaks,
            }
        )
    elif output is Output.IDS:
        print("\n".join(task.id for task in _tasks(scale)))
    else:
        ideal = ideal_s(scale)
        for host, peak in peaks.items():
            print(f"{host:<10} peak {peak} in flight")
        print(f"makespan   {wide_s:.2f} s, {wide_s / ideal:.3f} × the ideal of {ideal:.2f} s")
        print(f"one at a time per kind: {narrow_s:.2f} s, so {narrow_s / wide_s:.2f} × as fast")
        say("next: `manyhands runs`, `manyhands task --run demo-1`")
    return 0


def _tasks(scale: float) -> list[Task]:
    return [
        Task(f"{kind}-{n}", kind=kind, call="manyhands.cli.demo:work", args={"seconds": seconds * scale})
        for n in range(1, TASKS_PER_KIND + 1)
        for kind, (seconds, _, _) in KINDS.items()
    ]


async def _measure(stem: str, scale: float, directory: Path, wide: bool) -> tuple[float, dict[str, int]]:
    """The makespan and each host's peak."""
    hosts = [
        Host(name, kinds=(kind,), width=Width(width, width, width) if wide else Width(1, 1, 1))
        for kind, (_, name, width) in KINDS.items()
    ]

    def executors(journal: str, spawned: Spawned, ended: Ended) -> Mapping[str, Executor]:
        executor = PythonExecutor(PythonSettings(workspace=Path.cwd(), journal=journal), spawned, ended)
        return {host.name: executor for host in hosts}

    async with dispatching(directory, "power", hosts, (), executors) as dispatcher:
        name = new_name(dispatcher.book, stem)
        watcher = watch(dispatcher, name)
        try:
            await dispatcher.submit(*opening(name, dispatcher.clock.now(), _tasks(scale), source="the demo"))
            await dispatcher.wait_settled(name)
        finally:
            watcher.stop()
        run = dispatcher.book.runs[name]
        assert run.ended_at is not None
        return run.ended_at - run.opened_at, {host.name: dispatcher.book.hosts[host.name].peak for host in hosts}
