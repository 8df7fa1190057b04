"""Hold on to a process: hear when it dies, and signal it, without ever meaning another one that got its id."""

import asyncio
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable

from manyhands.hosts.executors import process_table
from manyhands.hosts.executors.process_source import HAS_PROC

#: How often a system without pidfds is asked whether a process has died.
_LOOK_S = 0.05


class HeldProcess(ABC):
    """A child that is dead and not reaped counts as dead."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    @abstractmethod
    def call_on_death(self, callback: Callable[[], object]) -> None:
        """Once, in the running loop."""

    @abstractmethod
    def call_nothing(self) -> None:
        """Take the last `call_on_death` back."""

    @abstractmethod
    def _signal(self, number: int) -> None: ...

    def send(self, number: int) -> bool:
        """Whether the signal could be sent. A process that is gone counts as reached."""
        try:
            self._signal(number)
        except ProcessLookupError:
            pass
        except PermissionError:
            return False
        return True

    @abstractmethod
    def close(self) -> None: ...


class _ByDescriptor(HeldProcess):
    """Unlike an id, an open descriptor always means the same process."""

    def __init__(self, pid: int) -> None:
        super().__init__(pid)
        self._descriptor = os.pidfd_open(pid)
        self._loop: asyncio.AbstractEventLoop | None = None

    def call_on_death(self, callback: Callable[[], object]) -> None:
        def heard() -> None:
            self.call_nothing()
            callback()

        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._descriptor, heard)

    def call_nothing(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._descriptor)
            self._loop = None

    def _signal(self, number: int) -> None:
        signal.pidfd_send_signal(self._descriptor, number)

    def close(self) -> None:
        self.call_nothing()
        os.close(self._descriptor)


class _ByStartTime(HeldProcess):
    """Looks at the start time before each signal. Between the look and the signal the id could change hands."""

    def __init__(self, pid: int) -> None:
        super().__init__(pid)
        born_at = process_table.born_at(pid)
        if born_at is None:
            raise ProcessLookupError(f"process {pid} vanished")
        self._born_at = born_at
        self._timer: asyncio.Handle | None = None

    def call_on_death(self, callback: Callable[[], object]) -> None:
        loop = asyncio.get_running_loop()

        def look() -> None:
            if self._is_alive():
                self._timer = loop.call_later(_LOOK_S, look)
            else:
                self._timer = None
                callback()

        self._timer = loop.call_soon(look)

    def call_nothing(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _is_alive(self) -> bool:
        return any(process.born_at == self._born_at for process in process_table.processes([self.pid]))

    def _signal(self, number: int) -> None:
        if process_table.born_at(self.pid) != self._born_at:
            raise ProcessLookupError(self.pid)
        os.kill(self.pid, number)

    def close(self) -> None:
        self.call_nothing()


def hold(pid: int) -> HeldProcess:
    """Raises OSError if there is no such process, or no descriptor left."""
    return _ByDescriptor(pid) if HAS_PROC else _ByStartTime(pid)
