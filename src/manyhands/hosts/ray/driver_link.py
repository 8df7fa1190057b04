"""The dispatcher's side of a driver, one for each cluster: it starts the driver when needed and when it has died."""

import asyncio
import contextlib
import logging
import re
import sys
import tempfile
from collections.abc import Callable
from typing import IO

import msgspec

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.output_text import last_line
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
    Report,
    Taken,
    Unreachable,
    WorkersAre,
    decode_report,
    encode,
    framed,
)

_log = logging.getLogger(__name__)

_AGAIN_AFTER_S = 5.0
#: If no attempt waits for it, the cluster is tried less and less often.
_AGAIN_AFTER_MAX_S = 60.0
_LEFT_WITHIN_S = 20.0
#: The prefix of a line in Ray's own log: `[2026-11-16 05:07:32,699 E 24006 24063] client.h:204: `.
_LOG_PREFIX = re.compile(r"^\[[^]]*\]\s*(\S+:\d+:\s*)?")
_ENDED_WITHIN_S = 10.0


class _Sent(msgspec.Struct):
    tell: Callable[[Report], None]
    have_bytes: Callable[[], int]
    taken: bool  # it may run, or have run, even if the driver dies
    halted: bool = False


class DriverLink:
    """Every attempt that is handed over gets one `EndedThere`, from any driver."""

    def __init__(self, settings: DriverSettings) -> None:
        self._settings = settings
        self._sent: dict[int, _Sent] = {}
        self._waiting: list[DriverWish] = []  # for a driver to start
        self._kept: dict[str, tuple[KeepWorkers, Callable[[WorkersAre], None]]] = {}  # by host
        self._writer: asyncio.StreamWriter | None = None
        self._running: asyncio.Task[None] | None = None
        self._begun = asyncio.Event()  # an attempt began: it must not wait for the next try to reach the cluster
        self._users = 0
        self._leaving = False

    def join(self) -> None:
        self._users += 1

    async def leave(self) -> None:
        """Leave the cluster. The last host to leave has the carriers removed, unless attempts may still run."""
        self._users -= 1
        running = self._running
        if self._users or running is None:
            return
        self._leaving = True
        if self._writer is not None and not self._sent:
            self._send(Leave())
            await asyncio.wait({running}, timeout=_LEFT_WITHIN_S)
        running.cancel()
        await asyncio.wait({running})

    def begin(self, wish: Begin, tell: Callable[[Report], None], have_bytes: Callable[[], int]) -> None:
        self._sent[wish.order.attempt] = _Sent(tell, have_bytes, taken=False)
        self._begun.set()
        self._ensure_running()
        self._send(wish)

    def adopt(self, attempt: int, tell: Callable[[Report], None], have_bytes: Callable[[], int]) -> None:
        self._sent[attempt] = _Sent(tell, have_bytes, taken=True)
        if self._writer is not None:
            self._send(Adopt(attempt, have_bytes()))
        self._ensure_running()

    def keep_workers(self, wish: KeepWorkers, tell: Callable[[WorkersAre], None]) -> None:
        """Keep this many workers from now on, with any driver. `tell` receives their state."""
        self._kept[wish.host] = (wish, tell)
        if wish.count:
            self._ensure_running()
        self._send(wish)

    def send(self, wish: DriverWish) -> None:
        if isinstance(wish, Halt) and (sent := self._sent.get(wish.attempt)) is not None:
            sent.halted = True
        self._send(wish)

    def _send(self, wish: DriverWish) -> None:
        if self._writer is not None:
            self._writer.write(framed(encode(wish)))
        elif isinstance(wish, Begin | Halt):
            self._waiting.append(wish)

    def _ensure_running(self) -> None:
        if self._running is None:
            self._running = asyncio.create_task(self._run())

    async def _run(self) -> None:
        """Run one driver after another while any attempt needs one."""
        again_after_s = _AGAIN_AFTER_S
        while not self._leaving:
            why = await self._run_driver()
            for wish, tell in self._kept.values():
                tell(WorkersAre(wish.host, trouble=why))
            for attempt, sent in list(self._sent.items()):
                if not sent.taken:
                    kind = EndingKind.CANCELLED if sent.halted else EndingKind.OVERLOADED
                    self._pass_on(EndedThere(attempt, Ending(kind, why)))
            if not self._sent and not any(wish.count for wish, _ in self._kept.values()):
                self._running = None
                return
            if self._sent and not self._leaving:
                _log.warning("%s; %d attempts there may still run; looking for them", why, len(self._sent))
                await asyncio.sleep(_AGAIN_AFTER_S)
                again_after_s = _AGAIN_AFTER_S
            elif not self._leaving:
                self._begun.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._begun.wait(), again_after_s)
                again_after_s = min(2 * again_after_s, _AGAIN_AFTER_MAX_S)

    async def _run_driver(self) -> str:
        """Run one driver from start to end; return why it ended."""
        settings = msgspec.json.encode(self._settings).decode()
        with tempfile.TemporaryFile() as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "manyhands.hosts.ray.driver", settings),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # on Ctrl-C the dispatcher ends it, after its attempts
                limit=2**26,
            )
            assert process.stdin is not None
            assert process.stdout is not None
            self._writer = process.stdin
            for attempt, sent in self._sent.items():
                if sent.taken:
                    self._send(Adopt(attempt, sent.have_bytes()))
                    if sent.halted:
                        self._send(Halt(attempt))
            for kept, _ in self._kept.values():
                self._send(kept)
            waiting, self._waiting = self._waiting, []
            for wish in waiting:
                self._send(wish)
            try:
                why = await self._listen(process.stdout)
            finally:
                self._writer = None
                process.stdin.close()
                await _end(process)
            words = _last_words(log) or f"its driver ended with {process.returncode}"
            return why or f"the connection to Ray at `{self._settings.address}` broke: {words}"

    async def _listen(self, frames: asyncio.StreamReader) -> str:
        while True:
            try:
                size = FRAME.unpack(await frames.readexactly(FRAME.size))[0]
                report: Report = decode_report(await frames.readexactly(size))
            except asyncio.IncompleteReadError:
                return ""
            if isinstance(report, Unreachable):
                return f"no Ray cluster at `{self._settings.address}`: {report.why}"
            self._pass_on(report)

    def _pass_on(self, report: Report) -> None:
        assert not isinstance(report, Unreachable)
        if isinstance(report, WorkersAre):
            self._kept[report.host][1](report)
            return
        sent = self._sent.get(report.attempt)
        if sent is None:
            return  # a repetition by a carrier that could not know that it was received
        if isinstance(report, Taken):
            sent.taken = True
            return
        if isinstance(report, EndedThere):
            del self._sent[report.attempt]
        sent.tell(report)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Wait for it: it ends when its pipe closes. A driver that started a cluster takes a while to stop it."""
    try:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _ENDED_WITHIN_S)
    finally:  # the caller may have been cancelled first
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _last_words(log: IO[bytes]) -> str:
    log.seek(0)
    return _LOG_PREFIX.sub("", last_line(log.read()[-4096:].decode(errors="replace")))
