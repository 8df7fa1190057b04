"""Fifteen subplans in worktrees of one repository, ten at once: how long, and that it really were ten."""

import asyncio
import os
import subprocess
import tempfile
from pathlib import Path

from manyhands.assembly import open_session
from manyhands.core.values.task import Claims, Task
from manyhands.engine.observed_peaks import peaks
from manyhands.engine.run_opening import new_name, opening
from manyhands.sources.config.config_reading import load_config

COUNT, AT_ONCE = 15, 10
WORK_S = 0.2
_IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")


class FifteenSubplansTenAtOnce:
    number, repeat, rounds, warmup_time, timeout = 1, 3, 1, 0.0, 300.0
    params = ("worktree", "")
    param_names = ("workspace",)

    def setup(self, workspace: str) -> None:
        self._place = tempfile.TemporaryDirectory()
        self.directory = Path(self._place.name)
        for n in range(100):
            file = self.directory / f"package{n % 10}" / f"module{n}.py"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"VALUE = {n}\n" * 200)
        config = f'[hosts.local]\ntype = "shell"\nwidth = {COUNT}\n[store]\ndurability = "crash"\n'
        (self.directory / "manyhands.toml").write_text(config)
        for argv in (["init", "-q"], ["add", "--all"], ["commit", "-qm", "first"]):
            subprocess.run(["git", *_IDENTITY, *argv], cwd=self.directory, check=True)

    def teardown(self, workspace: str) -> None:
        self._place.cleanup()

    def time_to_the_last_ending(self, workspace: str) -> None:
        asyncio.run(self._run(workspace))

    def track_peak(self, workspace: str) -> int:
        return asyncio.run(self._run(workspace))

    def track_seconds_against_the_ideal(self, workspace: str) -> float:
        """1 is two rounds of the work itself and nothing else."""
        before = os.times().elapsed
        asyncio.run(self._run(workspace))
        return (os.times().elapsed - before) / (-(-COUNT // AT_ONCE) * WORK_S)

    async def _run(self, workspace: str) -> int:
        tasks = [
            Task(
                f"s{n}",
                kind="shell",
                run=("sh", "-c", f"sleep {WORK_S}; date +%N > part-{n}; echo s{n} >> CHANGELOG.md"),
                claims=Claims((f"part-{n}",), ("CHANGELOG.md",)),
                workspace=workspace,
            )
            for n in range(COUNT)
        ]
        async with open_session(load_config(self.directory, environ={})) as dispatcher:
            name = new_name(dispatcher.book, "bench")
            await dispatcher.submit(*opening(name, dispatcher.clock.now(), tasks, concurrency=AT_ONCE))
            await dispatcher.wait_settled(name)
            run = dispatcher.book.runs[name]
            assert run.counts["done"] == COUNT  # type: ignore[index]
            return peaks(run.records.values())["local"]
