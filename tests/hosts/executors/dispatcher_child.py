"""A process that holds an executor, to be killed: starts one attempt and tells of its process on stdout.

Called with: the executor's name, the workspace, the journal, whether to release (1 or 0), the task as JSON.
"""

import asyncio
import sys
from pathlib import Path

import msgspec

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending
from manyhands.core.values.host import ProcessHandle
from manyhands.core.values.task import Task
from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings
from manyhands.hosts.executors.shell_executor import ShellExecutor, ShellSettings


async def main(name: str, workspace: str, journal: str, releases: str, task: str) -> None:
    def spawned(attempt: int, process: ProcessHandle) -> None:
        print(msgspec.json.encode(process).decode(), flush=True)
        if releases == "1":
            executor.release(attempt)

    def ended(attempt: int, ending: Ending) -> None:
        print(msgspec.json.encode(ending).decode(), flush=True)

    place = Path(workspace)
    executor: ShellExecutor | PythonExecutor
    if name == "shell":
        executor = ShellExecutor(ShellSettings(workspace=place, journal=journal), spawned, ended)
    else:
        executor = PythonExecutor(PythonSettings(workspace=place, journal=journal), spawned, ended)
    order = StartAttempt(1, "a-run", msgspec.json.decode(task, type=Task), 1, "a-host")
    executor.start(order, place / "attempts" / "1")
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
