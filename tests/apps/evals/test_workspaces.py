"""Every attempt at a session finds its workspace as the session should begin, and a stop is heard at any moment."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hosts.executors.desk import Desk
from manyhands.apps.evals.workspaces import RestoreLayer
from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import Task
from manyhands.hosts.executors.executor import Ended, Executor, ProcessSpawned
from manyhands.hosts.executors.layered_executor import LayeredExecutor
from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings


class StopsAtOnce:
    """Starts the attempt for real; the stop of it is the very next thing that happens in the loop."""

    def __init__(self, inner: Executor, stop: list[Callable[[int], None]]) -> None:
        self._inner = inner
        self._stop = stop
        self.release, self.stop, self.close = inner.release, inner.stop, inner.close

    def start(self, order: StartAttempt, directory: str) -> None:
        self._inner.start(order, directory)
        asyncio.get_running_loop().call_soon(lambda: self._stop[0](order.attempt))


async def test_a_stop_right_after_the_workspace_was_made_anew_is_heard(tmp_path: Path) -> None:
    workspace, origin = tmp_path / "workspace", tmp_path / "origin"
    origin.mkdir()
    (tmp_path / "flags").mkdir()

    stop: list[Callable[[int], None]] = []

    def make(spawned: ProcessSpawned, ended: Ended) -> Executor:
        settings = PythonSettings(workspace=tmp_path, journal="test", grace_s=0.5)
        layer = RestoreLayer(lambda order: (workspace, origin))
        layered = LayeredExecutor(lambda told: StopsAtOnce(PythonExecutor(settings, spawned, told), stop), ended, layer)
        stop.append(layered.stop)
        return layered

    desk = Desk(make, tmp_path / "attempts", "test")
    args: dict[str, Any] = {"flags": str(tmp_path / "flags")}
    hangs = Task("hangs", call="hosts.executors.functions:hangs_async", args=args)
    ending = await asyncio.wait_for(desk.run(hangs, number=2), 10)
    assert ending.kind is EndingKind.CANCELLED
    await desk.executor.close()


async def test_an_attempt_that_is_stopped_while_its_workspace_is_restored_ends_when_the_copy_is_whole(
    tmp_path: Path,
) -> None:
    workspace, origin = tmp_path / "workspace", tmp_path / "origin"
    origin.mkdir()
    for n in range(200):
        (origin / f"{n}.txt").write_text("as it began")
    settings = PythonSettings(workspace=tmp_path, journal="test", grace_s=0.5)
    layer = RestoreLayer(lambda order: (workspace, origin))
    desk = Desk(
        lambda spawned, ended: LayeredExecutor(lambda told: PythonExecutor(settings, spawned, told), ended, layer),
        tmp_path / "attempts",
        "test",
    )
    attempt = desk.start(Task("works", call="hosts.executors.functions:works_async"), number=2)
    await asyncio.sleep(0)  # the copy has begun
    desk.executor.stop(attempt)
    assert (await desk.ending(attempt)).kind is EndingKind.CANCELLED
    assert len(list(workspace.iterdir())) == 200
    await desk.executor.close()
