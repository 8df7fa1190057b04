"""An open engine of a program: functions mapped over items, and tasks submitted, on a dispatcher of its own."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

from manyhands.concurrency import finish_despite_cancel
from manyhands.core.commands import StartAttempt
from manyhands.core.events import Input, RunStopped
from manyhands.core.state import Record
from manyhands.core.values.task import WORKTREE, Task, TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import attempt_directory
from manyhands.errors import Conflict, StoreBroken, UnknownHost
from manyhands.hosts.executors.function import RESULT_FILE, Function, function_of
from manyhands.hosts.executors.output_text import RESULT_CHARACTERS_MAX
from manyhands.hosts.executors.program_executor import ProgramWork
from manyhands.readers.plain_file import read_plain
from manyhands.readers.problems import did_you_mean
from manyhands.sources.config.config_types import Config
from manyhands.surfaces.python.item_tasks import CallSettings, label_of, tasks_of_items
from manyhands.surfaces.python.map_progress import MapProgress, display_for
from manyhands.surfaces.python.map_results import ItemFailed, MapFailed, Outcome, Results, outcome_of
from manyhands.surfaces.python.map_steps import map_steps, run_name
from manyhands.surfaces.python.program_tasks import checked_tasks
from manyhands.surfaces.python.stored_values import loaded, stated_result, stored
from manyhands.surfaces.python.task_settings import settings_of

T = TypeVar("T")
R = TypeVar("R")

#: Threads are made when a call needs one, so this is only where it ends.
_THREADS_MAX = 10_000
_RESULT_BYTES_MAX = 1_000_000_000


class SubmitOptions(TypedDict, total=False):
    """What a map and a submission have in common; see `AsyncEngine.map`."""

    name: str
    again: bool
    concurrency: int | None


class MapOptions(SubmitOptions, total=False):
    key: Callable[[Any], object] | None


class ProgramCalls:
    """What the program is at now: run → the work for its tasks, and what its calls raised last."""

    def __init__(self) -> None:
        self.work: dict[str, ProgramWork] = {}
        self.raised: dict[tuple[str, str], BaseException] = {}
        self._threads: ThreadPoolExecutor | None = None

    def work_for(self, order: StartAttempt) -> ProgramWork | None:
        return self.work.get(order.run)

    async def call(self, function: Function, item: object) -> object:
        """An async function runs in this loop. Any other has a thread, and is waited for even if it is not wanted."""
        if function.is_async:
            return await function.call(item)
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_THREADS_MAX, thread_name_prefix="manyhands-call")
        call = partial(contextvars.copy_context().run, function.call, item)
        running = asyncio.get_running_loop().run_in_executor(self._threads, call)
        value, was_cancelled = await finish_despite_cancel(running)
        if was_cancelled:
            raise asyncio.CancelledError
        return await value if isinstance(value, Awaitable) else value

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False)


class AsyncEngine:
    """Made by `async with manyhands.Engine() as engine`."""

    def __init__(self, dispatcher: Dispatcher, config: Config, calls: ProgramCalls, progress: bool | None) -> None:
        self._dispatcher = dispatcher
        self._config = config
        self._calls = calls
        self._progress = progress
        self._at_work: set[str] = set()

    @overload
    async def map(
        self,
        function: Callable[[T], Awaitable[R]],
        items: Iterable[T],
        *,
        return_exceptions: Literal[False] = ...,
        **options: Unpack[MapOptions],
    ) -> Results[R]: ...
    @overload
    async def map(
        self,
        function: Callable[[T], Awaitable[R]],
        items: Iterable[T],
        *,
        return_exceptions: bool,
        **options: Unpack[MapOptions],
    ) -> Results[R | ItemFailed]: ...
    @overload
    async def map(
        self,
        function: Callable[[T], R],
        items: Iterable[T],
        *,
        return_exceptions: Literal[False] = ...,
        **options: Unpack[MapOptions],
    ) -> Results[R]: ...
    @overload
    async def map(
        self, function: Callable[[T], R], items: Iterable[T], *, return_exceptions: bool, **options: Unpack[MapOptions]
    ) -> Results[R | ItemFailed]: ...
    async def map(
        self,
        function: Callable[[Any], Any],
        items: Iterable[Any],
        *,
        return_exceptions: bool = False,
        **options: Unpack[MapOptions],
    ) -> Results[Any]:
        """Call the function with each item, as many at once as its server bears. Results are in the order of the items.

        `name` is that of the map. Mapped again under that name, items that are done are not called again: `again` does
        that. Left out, each map is new. Items are told apart by their content, or by what `key` gives for each.
        `concurrency` is the most at once; left out, there is no such bound.
        Items that fail for good raise `MapFailed` when all have ended, or take the place of results.
        """
        settings = settings_of(function)
        self._check_host(settings)
        label = label_of(function)
        given = tasks_of_items(items, label, settings, options.get("key"))
        run = run_name(self._dispatcher.book, options.get("name", ""), label)
        called = function_of(function)

        async def work(order: StartAttempt, directory: str) -> str:
            id = order.task.id
            try:
                return stored(await self._calls.call(called, given[id][0]))
            except Exception as error:
                self._calls.raised[run, id] = error
                raise

        tasks = {id: task for id, (_, task) in given.items()}
        things = {id: item for id, (item, _) in given.items()}
        stated = stated_result(function)
        self._begin(run)
        try:
            self._calls.work[run] = work
            await self._carry_out(run, tasks, options)
            return self._results(run, things, partial(loaded, stated=stated), return_exceptions)
        finally:
            self._at_work.discard(run)
            self._calls.work.pop(run, None)
            for id in tasks:
                self._calls.raised.pop((run, id), None)

    async def submit(
        self,
        tasks: Iterable[Mapping[str, Any]],
        *,
        return_exceptions: bool = False,
        **options: Unpack[SubmitOptions],
    ) -> Results[Any]:
        """Run tasks on the hosts of the config. Each is a dict with the fields of a task in a plan, and its result is
        text: what a model answered, what a function returned as JSON, or the last lines that a command printed."""
        dispatcher = self._dispatcher
        given = checked_tasks(tasks, self._config)
        sealed = {task.id: dispatcher.vault.sealed(task) for task in given}
        run = run_name(dispatcher.book, options.get("name", ""), "submitted")
        self._begin(run)
        try:
            await self._carry_out(run, sealed, options)
            return self._results(run, {task.id: task for task in given}, str, return_exceptions, with_output=True)
        finally:
            self._at_work.discard(run)

    async def prompt(
        self,
        prompts: Iterable[str],
        *,
        fields: Mapping[str, Any] | None = None,
        return_exceptions: bool = False,
        **options: Unpack[SubmitOptions],
    ) -> Results[Any]:
        """Ask the models of the config. `fields` are those of a task in a plan, the same for all of the prompts."""
        rows = [{"prompt": prompt, **(fields or {})} for prompt in prompts]
        return await self.submit(rows, return_exceptions=return_exceptions, **options)

    async def agent(
        self,
        prompts: Iterable[str],
        *,
        fields: Mapping[str, Any] | None = None,
        return_exceptions: bool = False,
        **options: Unpack[SubmitOptions],
    ) -> Results[Any]:
        """Have agents of the config work on these, each in a git worktree of its own, from which its work lands.

        Their kind is `code`, unless `fields` names another one."""
        fields = {"workspace": WORKTREE, "kind": "code", **(fields or {})}
        return await self.prompt(prompts, fields=fields, return_exceptions=return_exceptions, **options)

    def _check_host(self, settings: CallSettings) -> None:
        taking = [state.name for state in self._dispatcher.book.hosts.values() if "program" in state.host.takes]
        if settings.host not in taking:
            hint = did_you_mean(settings.host, taking) or f"`manyhands.Engine(hosts=[{settings.host!r}])` has it"
            raise UnknownHost(f"this engine has no host `{settings.host}` for functions", hint)

    def _begin(self, run: str) -> None:
        if run in self._at_work:
            raise Conflict(f"run `{run}` is under way in this engine", "await it first, or choose another `name`")
        self._at_work.add(run)

    async def _carry_out(self, run: str, tasks: Mapping[str, Task], options: "SubmitOptions | MapOptions") -> None:
        dispatcher = self._dispatcher
        if not tasks:
            return
        again, concurrency = options.get("again", False), options.get("concurrency")
        events = map_steps(dispatcher.book, run, tasks, dispatcher.clock.now(), again, concurrency)
        display = display_for(run) if self._progress is not False else None
        progress = MapProgress(dispatcher, run, display) if display is not None else None
        try:
            await self._settle(run, events)
        finally:
            if progress is not None:
                progress.stop()

    async def _settle(self, run: str, events: Sequence[Input]) -> None:
        dispatcher = self._dispatcher
        try:
            await dispatcher.submit(*events)
            await dispatcher.wait_settled(run)
        except asyncio.CancelledError:  # nothing may be called any more when the caller is told
            if dispatcher.is_alive and run in dispatcher.book.runs:
                await dispatcher.submit(RunStopped(dispatcher.clock.now(), run))
                await dispatcher.wait_settled(run)
            raise

    def _results(
        self,
        run: str,
        things: Mapping[str, Any],
        load: Callable[[str], Any],
        return_exceptions: bool,
        with_output: bool = False,
    ) -> Results[Any]:
        values: list[Any] = []
        outcomes: list[Outcome] = []
        failed = False
        for id, thing in things.items():
            record = self._dispatcher.book.runs[run].records[id]
            is_done = record.state is TaskState.DONE
            result = load(self._text(record, with_output)) if is_done else None
            outcomes.append(outcome_of(thing, record, result))
            values.append(result if is_done else self._failure(run, id, outcomes[-1]))
            failed = failed or not is_done
        results = Results(values, outcomes, run)
        if failed and not return_exceptions:
            raise MapFailed(results)
        return results

    def _failure(self, run: str, id: str, outcome: Outcome) -> ItemFailed:
        failure = ItemFailed(outcome)
        failure.__cause__ = self._calls.raised.get((run, id))
        return failure

    def _text(self, record: Record, with_output: bool) -> str:
        """What the task came to; a command's result may be the last that it printed. A long result is in a file."""
        ending = record.last_ending
        text = "" if ending is None else ending.result or (ending.tail if with_output else "")
        if len(text) < RESULT_CHARACTERS_MAX:
            return text
        number = len(record.history or ())
        directory = Path(attempt_directory(self._config.store_directory, record.run, record.task.id, number))
        for name in (RESULT_FILE, "result.txt"):
            try:
                return read_plain(directory / name, _RESULT_BYTES_MAX).decode(errors="replace")
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StoreBroken(f"the result of task `{record.task.id}` cannot be read: {error}") from error
        raise StoreBroken(
            f"the result of task `{record.task.id}` is no longer in `{directory}`", "`again=True` makes it anew"
        )
