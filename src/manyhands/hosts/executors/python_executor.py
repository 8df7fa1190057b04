"""Runs Python functions: `async def` ones as tasks of the dispatcher's own loop, others in worker processes."""

import asyncio
import inspect
import os
import sys
import time
from functools import partial
from pathlib import Path

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.hosts.executors.attempt_steps import LOG_FILE, AttemptSteps, ProcessSettings
from manyhands.hosts.executors.executor import Ended, ProcessSpawned
from manyhands.hosts.executors.function import (
    RESULT_FILE,
    CannotResolve,
    Context,
    Function,
    describe_error,
    describe_value,
    is_plainly_sync,
    resolve,
)
from manyhands.hosts.executors.in_flight import InFlight
from manyhands.hosts.executors.python_workers import PythonWorkers, context_of
from manyhands.hosts.executors.reading_aside import read_aside
from manyhands.hosts.executors.said_ending import as_said
from manyhands.hosts.executors.usage import with_usage


class PythonSettings(ProcessSettings, frozen=True, kw_only=True):
    """What a python host is built from. Modules in the workspace can be imported."""

    idle_workers_max: int = 4  # workers kept for the next attempts; each holds what it has imported
    in_processes: bool = False  # run async functions in processes too, so that everything can be killed from outside


class PythonExecutor:
    """Calls `call` of a task with its `args` as keywords.

    An async function shares the dispatcher's process: it does not have its own variables, working directory or
    log, and it must end the processes that it starts.
    """

    def __init__(self, settings: PythonSettings, spawned: ProcessSpawned, ended: Ended) -> None:
        self._steps = AttemptSteps(settings, spawned)
        self._workers = PythonWorkers(settings, settings.idle_workers_max, spawned, self._steps.census)
        self._in_flight = InFlight(ended, settings.grace_s)
        self._in_processes = settings.in_processes
        self._async_functions: dict[str, Function] = {}
        self._sync_functions: set[str] = set()
        self._resolving: dict[str, asyncio.Future[Function | None]] = {}
        workspace = str(settings.workspace.absolute())
        if workspace not in sys.path:
            sys.path.append(workspace)  # last: a file there must not hide one of our modules

    def start(self, order: StartAttempt, directory: str) -> None:
        function = self._async_functions.get(order.task.call)
        if function is None or order.task.check:
            self._in_flight.start(order.attempt, self._carry(order, Path(directory)))
        else:
            self._in_flight.start(order.attempt, self._call(order, directory, function))

    def release(self, attempt: int) -> None:
        self._workers.release(attempt)
        self._steps.release(attempt)

    def stop(self, attempt: int) -> None:
        self._in_flight.stop(attempt)

    async def close(self) -> None:
        await self._in_flight.close()
        await self._workers.close()

    async def _carry(self, order: StartAttempt, directory: Path) -> Ending:
        if not order.task.call:
            return Ending(
                EndingKind.FAILED,
                f"task `{order.task.id}` has no `call`, which Python host `{order.host}` needs",
                permanent=True,
            )
        try:
            function = await self._async_function(order.task.call)
        except CannotResolve as error:
            return describe_error(error).ending()
        if function is None:
            ending = await self._workers.call(order, directory)
        else:
            ending = await self._call(order, str(directory), function)
        return await self._steps.checked(ending, order, directory, directory.absolute() / RESULT_FILE)  # noqa: ASYNC240

    async def _call(self, order: StartAttempt, directory: str, function: Function) -> Ending:
        if not function.wants_context:
            return await _called(order, directory, function, {})
        ending = await _called(order, directory, function, {"context": context_of(order, Path(directory))})
        if not os.path.isdir(directory):  # noqa: ASYNC240 - it makes the directory if it has something to say there
            return ending
        return await read_aside(partial(_as_said, ending, Path(directory)))

    async def _async_function(self, name: str) -> Function | None:
        """The function if it is async, loaded once and outside the loop. None: a worker runs it."""
        if self._in_processes or name in self._sync_functions:
            return None
        if name in self._async_functions:
            return self._async_functions[name]
        resolving = self._resolving.get(name)
        if resolving is None:
            resolving = asyncio.ensure_future(asyncio.to_thread(_resolve_async, name))
            self._resolving[name] = resolving
            resolving.add_done_callback(lambda _: self._resolving.pop(name))
            resolving.add_done_callback(asyncio.Future.exception)  # all callers may have been stopped
        function = await asyncio.shield(resolving)
        if function is None:
            self._sync_functions.add(name)
        else:
            self._async_functions[name] = function
        return function


async def _called(order: StartAttempt, directory: str, function: Function, context: dict[str, Context]) -> Ending:
    try:
        value = await function.call(**{**context, **(order.task.args or {})})
        if value is None and not order.task.check:
            return DONE
        if inspect.isawaitable(value):
            value = await value
    except (asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:  # also SystemExit: a function must not end the loop
        return describe_error(error).ending()
    return describe_value(value, Path(directory), in_file=bool(order.task.check or order.task.save)).ending()


def _as_said(ending: Ending, directory: Path) -> Ending:
    """The ending with what the function wrote of it."""
    log = directory / LOG_FILE
    return as_said(with_usage(ending, directory, log), directory, log, time.time())


def _resolve_async(name: str) -> Function | None:
    if is_plainly_sync(name):
        return None
    function = resolve(name)
    return function if function.is_async else None
