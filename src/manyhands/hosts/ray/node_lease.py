"""Keeps the attempts of a carrier alive while Ray says that its node is alive, and no longer.

Every renewal asks Ray first, and counts from before it was asked. So once Ray has declared a node dead, no renewal
can begin there. When the length of a lease has passed after that, none of its attempts is alive: the guard, a process
beside the carrier, has killed them, even if the carrier was killed, stopped or cut off.
"""

import os
import threading
import time
from collections.abc import Callable

from manyhands.hosts.executors.attempt_guard import AttemptGuard

#: Renewals within one lease. One late answer then does no harm.
_ASKED_WITHIN_LEASE = 5


class Lease:
    def __init__(
        self, mark: str, lease_s: float, node_lives: Callable[[], bool | None], idle: Callable[[], bool]
    ) -> None:
        """`node_lives` returns None if it cannot tell. The process ends when it is `idle` or its lease expires."""
        self._guard = AttemptGuard(mark)
        self._lease_s = lease_s
        self._node_lives = node_lives
        self._idle = idle
        self._until = _now() + lease_s
        self._guard.keep_until(self._until)
        threading.Thread(target=self._keep, name="lease", daemon=True).start()

    @property
    def has_run_out(self) -> bool:
        """Whether the guard kills or has killed the attempts: then they did not end by themselves."""
        return _now() >= self._until

    def _keep(self) -> None:
        while True:
            asked_at = _now()
            lives = self._node_lives()
            if lives and not self.has_run_out:  # an expired lease is not renewed
                self._until = asked_at + self._lease_s
                self._guard.keep_until(self._until)
            if lives is False or self.has_run_out or self._idle():
                # Not an exception: nothing here may continue. The guard sees its pipe close and kills the attempts.
                os._exit(1)
            time.sleep(self._lease_s / _ASKED_WITHIN_LEASE)


def _now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)
