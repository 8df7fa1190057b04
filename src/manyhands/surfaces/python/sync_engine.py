"""The engine for code without a loop: a thread has the loop, and every call waits for it."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, TypeVar, Unpack, overload

from manyhands.errors import UsageError
from manyhands.surfaces.python.async_engine import AsyncEngine, MapOptions, SubmitOptions
from manyhands.surfaces.python.map_results import ItemFailed, Results

T = TypeVar("T")
R = TypeVar("R")

Opening = Callable[[], AbstractAsyncContextManager[AsyncEngine]]


class SyncEngine:
    """Made by `with manyhands.Engine() as engine`, also where a loop runs already, as in a notebook.

    Async functions run in the engine's own loop, others in threads.
    """

    def __init__(self, opening: Opening) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave = asyncio.Event()
        self._opened: concurrent.futures.Future[AsyncEngine] = concurrent.futures.Future()
        # A daemon: a program that forgets to close its engine ends all the same, and the next one continues.
        self._thread = threading.Thread(target=self._live, args=(opening,), name="manyhands-engine", daemon=True)
        self._thread.start()
        try:
            self._engine = self._opened.result()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "SyncEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop what is under way. The same maps continue when an engine is opened again."""
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._leave.set)
        self._thread.join()

    @overload
    def map(
        self,
        function: Callable[[T], Awaitable[R]],
        items: Iterable[T],
        *,
        return_exceptions: Literal[False] = ...,
        **options: Unpack[MapOptions],
    ) -> Results[R]: ...
    @overload
    def map(
        self,
        function: Callable[[T], Awaitable[R]],
        items: Iterable[T],
        *,
        return_exceptions: bool,
        **options: Unpack[MapOptions],
    ) -> Results[R | ItemFailed]: ...
    @overload
    def map(
        self,
        function: Callable[[T], R],
        items: Iterable[T],
        *,
        return_exceptions: Literal[False] = ...,
        **options: Unpack[MapOptions],
    ) -> Results[R]: ...
    @overload
    def map(
        self, function: Callable[[T], R], items: Iterable[T], *, return_exceptions: bool, **options: Unpack[MapOptions]
    ) -> Results[R | ItemFailed]: ...
    def map(self, function: Callable[[Any], Any], items: Iterable[Any], **options: Any) -> Results[Any]:
        """See `AsyncEngine.map`."""
        return self._wait(self._engine.map(function, items, **options))

    def submit(
        self, tasks: Iterable[Mapping[str, Any]], *, return_exceptions: bool = False, **options: Unpack[SubmitOptions]
    ) -> Results[Any]:
        """See `AsyncEngine.submit`."""
        return self._wait(self._engine.submit(tasks, return_exceptions=return_exceptions, **options))

    def prompt(self, prompts: Iterable[str], **options: Any) -> Results[Any]:
        """See `AsyncEngine.prompt`."""
        return self._wait(self._engine.prompt(prompts, **options))

    def agent(self, prompts: Iterable[str], **options: Any) -> Results[Any]:
        """See `AsyncEngine.agent`."""
        return self._wait(self._engine.agent(prompts, **options))

    def _wait(self, work: Coroutine[Any, Any, Results[Any]]) -> Results[Any]:
        if not self._thread.is_alive() or self._loop is None:
            work.close()
            raise UsageError("this engine is closed", "use it inside its `with` block, or open another")
        pending = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return pending.result()
        except BaseException:  # Ctrl-C in a terminal or a notebook: nothing may be called any more
            pending.cancel()
            raise

    def _live(self, opening: Opening) -> None:
        try:
            asyncio.run(self._stay(opening))
        except BaseException as error:
            if not self._opened.done():
                self._opened.set_exception(error)

    async def _stay(self, opening: Opening) -> None:
        self._loop = asyncio.get_running_loop()
        async with opening() as engine:
            self._opened.set_result(engine)
            await self._leave.wait()
