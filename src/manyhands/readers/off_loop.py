"""Calls libraries that may hang, outside the event loop and without delaying the end of the program."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

from manyhands.readers.no_answer import NoAnswer

T = TypeVar("T")


class OffLoopCalls:
    """One call at a time in a daemon thread: while one hangs, the next is refused instead of piling up.

    `asyncio.to_thread` is not suitable: its threads are joined when the program ends.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._busy = False

    async def run(self, call: Callable[[], T]) -> T:
        if self._busy:
            raise NoAnswer(f"{self._what} has not answered an earlier question yet")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def settle(value: T | None, error: BaseException | None) -> None:
            if answer.done():  # no caller waits for it any more
                return
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(value)  # type: ignore[arg-type]

        def work() -> None:
            value, problem = None, None
            try:
                value = call()
            except BaseException as error:
                problem = error
            self._busy = False
            with contextlib.suppress(RuntimeError):  # the loop has closed meanwhile
                loop.call_soon_threadsafe(settle, value, problem)

        self._busy = True
        threading.Thread(target=work, daemon=True, name=f"probe {self._what}").start()
        return await answer
