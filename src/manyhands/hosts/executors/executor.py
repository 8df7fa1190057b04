"""What every executor promises; held for each by tests/hosts/executors/test_executor_contract.py.

- Built from its host's settings and the two callbacks, inside the loop it lives in. All is called in that loop.
- `start` never blocks and never raises: whatever goes wrong is an `Ending`.
- Every started attempt reports exactly one ending, whether it is stopped or not; a stopped one is `cancelled`,
  and what that is called (timed out, preempted) is the scheduler's to say.
- `stop` is idempotent; when the ending has been reported nothing of the attempt is alive any more.
- Each process made for an attempt is reported and held at a gate until `release`: first the one that does the
  work, where there is one, then that of its `check`. The latest one reported stands for the attempt.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending
from manyhands.core.values.host import ProcessHandle

#: Told of an attempt's process before it runs: (attempt, process).
Spawned = Callable[[int, ProcessHandle], None]
#: Told when an attempt has put out something for the first time, where that is seen.
Showed = Callable[[int], None]
#: Told of an attempt's ending, once: (attempt, ending).
Ended = Callable[[int, Ending], None]


class Executor(Protocol):
    def start(self, order: StartAttempt, directory: str) -> None:
        """Begin the attempt; its output and other files go into `directory` (made when first needed).

        A string: most functions write no files, and a Path costs a tenth of what such an attempt does.
        """

    def release(self, attempt: int) -> None:
        """The attempt's process is on record: let it run."""

    def stop(self, attempt: int) -> None:
        """Stop the attempt and everything it started; its ending follows."""

    async def close(self) -> None:
        """Stop what is still in flight and let go of all resources."""


@runtime_checkable
class Adopts(Executor, Protocol):
    """An executor whose attempts outlive their dispatcher."""

    def adopt(self, attempt: int, directory: str) -> bool:
        """It was in flight under a dispatcher that died. True: its ending follows, once nothing of it is alive."""
