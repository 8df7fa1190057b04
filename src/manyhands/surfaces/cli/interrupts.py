"""What signals do to a run. It can continue later in any case.

Ctrl-C once: nothing new starts, and running attempts finish. Ctrl-C twice, or SIGTERM: they are stopped too.
"""

import asyncio
import signal

from manyhands.core.events import Input, RunDrained, RunStopped
from manyhands.engine.dispatcher import Dispatcher
from manyhands.surfaces.cli.printing import say

DRAIN, STOP = 1, 2


class Interrupts:
    """Receives the signals from the start, even before there is a run to stop."""

    def __init__(self) -> None:
        self.wanted = 0  # nothing, DRAIN or STOP
        self._dispatcher: Dispatcher | None = None
        self._run = ""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted)
        loop.add_signal_handler(signal.SIGTERM, self._terminated)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # `nohup` asks us to ignore it
            loop.add_signal_handler(signal.SIGHUP, self._terminated)

    def watch_over(self, dispatcher: Dispatcher, run: str) -> list[Input]:
        """From now on signals go to this run. Returns what was asked for before, to be submitted with its opening."""
        self._dispatcher, self._run = dispatcher, run
        return [self._event()] if self.wanted else []

    def _interrupted(self) -> None:
        if self.wanted == STOP:
            say("already stopping: an attempt that does not end by itself is killed after its grace period")
            return
        self._want(self.wanted + 1)

    def _terminated(self) -> None:
        if self.wanted != STOP:
            self._want(STOP)

    def _want(self, level: int) -> None:
        self.wanted = level
        if self._dispatcher is None:
            say("stopping as soon as the journal is open")
            return
        in_flight = len(self._dispatcher.book.running)  # an eval has many runs
        if level == DRAIN:
            say(f"stopping: waiting for {in_flight} in flight; press Ctrl-C again to stop them too")
        else:
            say(f"stopping {in_flight} in flight")
        self._dispatcher.tell(self._event())

    def _event(self) -> Input:
        assert self._dispatcher is not None
        now = self._dispatcher.clock.now()
        return RunDrained(now, self._run) if self.wanted == DRAIN else RunStopped(now, self._run)
