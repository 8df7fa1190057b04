"""Keeps the attempts of a carrier alive for as long as Ray says that its node is, and no longer.

Every renewal asks Ray first, and counts from before it was asked. So once Ray has called a node dead, no renewal
can begin there, and when a lease's length has passed after that nothing of its attempts is alive: the guard, a
process beside the carrier, has killed them, though the carrier was killed, stopped or cut off.
"""

import os
import threading
import time
from collections.abc import Callable

from manyhands.hosts.executors.attempt_guard import AttemptGuard

#: Asked so many times within one lease: one answer that is late costs nothing.
_ASKED_WITHIN_LEASE = 5


class Lease:
    def __init__(
        self, mark: str, lease_s: float, node_lives: Callable[[], bool | None], idle: Callable[[], bool]
    ) -> None:
        """`node_lives` says None if it cannot tell. The process ends when `idle`, or when its lease does."""
        self._guard = AttemptGuard(mark)
        self._lease_s = lease_s
        self._node_lives = node_lives
        self._idle = idle
        self._until = _now() + lease_s
        self._guard.keep_until(self._until)
        threading.Thread(target=self._keep, name="lease", daemon=True).start()

    @property
    def has_run_out(self) -> bool:
        """The guard kills, or has killed: whatever ends now did not end by itself."""
        return _now() >= self._until

    def _keep(self) -> None:
        while True:
            asked_at = _now()
            lives = self._node_lives()
            if lives and not self.has_run_out:  # once it has, it is not renewed
                self._until = asked_at + self._lease_s
                self._guard.keep_until(self._until)
            if lives is False or self.has_run_out or self._idle():
                # Not an exception: nothing here may go on. The guard sees its pipe close and kills the attempts.
                os._exit(1)
            time.sleep(self._lease_s / _ASKED_WITHIN_LEASE)


def _now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)
