"""The process between a dispatcher and a Ray cluster. It runs as a program and ends with its dispatcher.

The dispatcher does not load Ray for two reasons: Ray ends its own process when the cluster is gone, and a process
can be in only one cluster. If a driver dies, the next one finds the carriers: they are detached and have names.
"""

import asyncio
import os
import sys
from collections.abc import Coroutine
from typing import Any

import msgspec

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.output_text import one_line
from manyhands.hosts.ray.carrying import Carrying, Gone, short
from manyhands.hosts.ray.cluster import Cluster
from manyhands.hosts.ray.joining import connect
from manyhands.hosts.ray.messages import (
    FRAME,
    Adopt,
    Begin,
    DriverSettings,
    DriverWish,
    EndedThere,
    Halt,
    KeepWorkers,
    Leave,
    ReleaseThere,
    Report,
    Taken,
    Unreachable,
    decode_wish,
    encode,
    framed,
)

#: How long a dispatcher may take to say which attempts to adopt.
_ADOPTED_WITHIN_S = 10.0
#: How long the guards need after a lease has expired.
_KILL_S = 1.0
_STOPPED = Ending(EndingKind.CANCELLED, "stopped")


class Driver:
    def __init__(self, settings: DriverSettings, out: int) -> None:
        self._settings = settings
        self._out = out
        self._cluster = Cluster(settings, self._pass_on, self._died, self._tell, self._tell)
        self._work: dict[int, asyncio.Task[None]] = {}  # attempts that are being placed or adopted
        self._carried_by: dict[int, Carrying] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._halted: set[int] = set()

    async def run(self) -> None:
        reader = asyncio.StreamReader(limit=2**26)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        survey = asyncio.create_task(self._cluster.survey())
        self._keep(self._tidy_up(survey))
        while True:
            try:
                size = FRAME.unpack(await reader.readexactly(FRAME.size))[0]
                wish: DriverWish = decode_wish(await reader.readexactly(size))
            except asyncio.IncompleteReadError:
                return  # the dispatcher has died: attempts continue, and the next one finds them
            match wish:
                case Begin():
                    self._work[wish.order.attempt] = self._keep(self._begin(wish, survey))
                case Adopt():
                    self._work[wish.attempt] = self._keep(self._adopt(wish, survey))
                case ReleaseThere() if wish.attempt in self._carried_by:
                    self._keep(self._carried_by[wish.attempt].ask("release", wish.attempt))
                case Halt():
                    self._halt(wish.attempt)
                case KeepWorkers():
                    self._keep(self._keep_workers(wish, survey))
                case Leave():
                    await self._cluster.leave()
                    return

    async def _begin(self, wish: Begin, survey: "asyncio.Task[dict[int, Carrying]]") -> None:
        attempt = wish.order.attempt
        if wish.place.fleet:
            await asyncio.shield(survey)  # the fleet is made only after the survey, in `_keep_workers`
        if attempt in self._halted:
            self._end(attempt, _STOPPED)
            return
        try:
            carrying = await self._cluster.place(attempt, wish.place)
        except asyncio.CancelledError:
            self._end(attempt, _STOPPED)
            return
        except Gone as why:
            self._end(attempt, Ending(EndingKind.OVERLOADED, str(why)))
            return
        except Exception as error:  # an attempt without an ending would hold its claims forever
            detail = f"Ray refuses what the task asks for: {short(error)}"
            self._end(attempt, Ending(EndingKind.FAILED, detail, permanent=isinstance(error, ValueError)))
            return
        if carrying.misfit:
            self._end(attempt, Ending(EndingKind.FAILED, carrying.misfit, permanent=True))
            return
        # Reported before it can run: if this process dies in between, the next one looks for it and finds nothing.
        self._tell(Taken(attempt))
        await self._hand_over(attempt, carrying, "begin", encode(wish))

    async def _adopt(self, wish: Adopt, survey: "asyncio.Task[dict[int, Carrying]]") -> None:
        found = (await asyncio.shield(survey)).get(wish.attempt)
        if found is None:
            await self._end_lost(wish.attempt, "it is no longer on any node of the Ray cluster")
        else:
            await self._hand_over(wish.attempt, found, "resume", wish.attempt, wish.have_bytes)

    async def _keep_workers(self, wish: KeepWorkers, survey: "asyncio.Task[dict[int, Carrying]]") -> None:
        await asyncio.shield(survey)
        self._cluster.keep_workers(wish)

    async def _tidy_up(self, survey: "asyncio.Task[dict[int, Carrying]]") -> None:
        """Release what is reserved for attempts that ended while there was no driver, and unwanted workers."""
        await asyncio.shield(survey)
        kept = self._cluster.kept_rooms()
        await asyncio.sleep(_ADOPTED_WITHIN_S)
        for attempt in kept:
            if attempt not in self._carried_by and attempt not in self._work:
                self._cluster.give_back(attempt)
        self._cluster.dismiss_left()

    async def _hand_over(self, attempt: int, carrying: Carrying, method: str, *args: Any) -> None:
        self._carried_by[attempt] = carrying
        carrying.attempts.add(attempt)
        self._work.pop(attempt, None)
        try:
            await carrying.ask(method, *args)
            if attempt in self._halted:
                await carrying.ask("halt", attempt)
        except Gone:
            pass  # `_died` is called too

    def _halt(self, attempt: int) -> None:
        self._halted.add(attempt)
        if attempt in self._carried_by:
            self._keep(self._carried_by[attempt].ask("halt", attempt))
        elif (work := self._work.get(attempt)) is not None and self._cluster.is_placing(attempt):
            work.cancel()

    def _died(self, carrying: Carrying, why: str) -> None:
        """End its attempts lost after their lease has expired: only then are they certainly dead."""
        for attempt in sorted(carrying.attempts):
            self._keep(self._end_lost(attempt, why))
        carrying.attempts.clear()

    async def _end_lost(self, attempt: int, why: str) -> None:
        await asyncio.sleep(self._settings.lease_s + _KILL_S)
        self._end(attempt, Ending(EndingKind.LOST, one_line(why)))

    def _end(self, attempt: int, ending: Ending) -> None:
        self._forget(attempt)
        self._tell(EndedThere(attempt, ending))

    def _pass_on(self, content: bytes, ended: int | None) -> None:
        """Pass on what a carrier reports, unchanged. `ended` is the attempt whose ending it is, if it is one."""
        if ended is not None:
            self._forget(ended)
        self._write(content)

    def _forget(self, attempt: int) -> None:
        carrying = self._carried_by.pop(attempt, None)
        if carrying is not None:
            carrying.attempts.discard(attempt)
        self._work.pop(attempt, None)
        self._halted.discard(attempt)
        self._cluster.give_back(attempt)

    def _tell(self, report: Report) -> None:
        self._write(encode(report))

    def _write(self, content: bytes) -> None:
        frame = framed(content)
        while frame:
            frame = frame[os.write(self._out, frame) :]

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._note_done)
        return task

    def _note_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, Gone):
            asyncio.get_running_loop().call_exception_handler({"message": "in the Ray driver", "exception": error})


def _why_unreachable(error: Exception) -> str:
    if type(error).__name__ == "AuthenticationError":
        return (
            "it needs its token; set RAY_AUTH_MODE=token, "
            "and RAY_AUTH_TOKEN to the output of `ray get-auth-token` on its head"
        )
    return one_line(str(error) or type(error).__name__)


def main() -> None:
    settings = msgspec.json.decode(sys.argv[1], type=DriverSettings)
    # Nothing that Ray or other code prints may get between the frames.
    out = os.dup(1)
    os.dup2(2, 1)
    try:
        connect(settings.address)
    except Exception as error:  # Ray raises many kinds of errors here
        os.write(out, framed(encode(Unreachable(_why_unreachable(error)))))
        sys.exit(1)
    asyncio.run(Driver(settings, out).run())
    # Not `sys.exit`: Ray's own shutdown takes a second, and there is nothing to save.
    sys.stderr.flush()
    if settings.address != "local":
        os._exit(0)


if __name__ == "__main__":
    main()
