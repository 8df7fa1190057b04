"""What every executor promises. tests/hosts/executors/test_executor_contract.py checks each of them.

- An executor is built from its host's settings and the two callbacks, inside its event loop. All calls are made there.
- `start` never blocks and never raises: every failure is an `Ending`.
- Every started attempt reports exactly one ending, whether it is stopped or not. A stopped attempt is `cancelled`;
  the scheduler decides whether that means timed out or preempted.
- `stop` is idempotent. Once the ending has been reported, nothing of the attempt is alive.
- Each process made for an attempt is reported and held at a gate until `release`: first the one that does the
  work, if there is one, then that of its `check`. The latest one reported represents the attempt.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending
from manyhands.core.values.host import ProcessHandle
from manyhands.core.values.question import Question

#: Called with an attempt's process before it runs: (attempt, process).
ProcessSpawned = Callable[[int, ProcessHandle], None]
#: Told when an attempt has put out something for the first time, where that is seen.
Showed = Callable[[int], None]
#: Told when an attempt is refused by what it asks and asks again by itself, where that is seen.
Retried = Callable[[int], None]
#: Told what an attempt asks a person while it runs: (attempt, question).
Asked = Callable[[int, Question], None]
#: Told of an attempt's ending, once: (attempt, ending).
Ended = Callable[[int, Ending], None]


class Executor(Protocol):
    def start(self, order: StartAttempt, directory: str) -> None:
        """Begin the attempt; its output and other files go into `directory` (made when first needed).

        The directory is a string: most functions write no files, and a Path costs a tenth of such an attempt's time.
        """

    def release(self, attempt: int) -> None:
        """Let the attempt's process run, because it is on record now."""

    def stop(self, attempt: int) -> None:
        """Stop the attempt and everything it started; its ending follows."""

    async def close(self) -> None:
        """Stop what is still in flight and release all resources."""


@runtime_checkable
class TakesWork(Executor, Protocol):
    """An executor whose attempts are in the hands of agents that came for them."""

    def hand_in(self, attempt: int, ending: Ending) -> None:
        """The agent has ended its work like this. The attempt's ending follows when its task's check has passed."""


@runtime_checkable
class Adopts(Executor, Protocol):
    """An executor whose attempts outlive their dispatcher."""

    def adopt(self, attempt: int, directory: str) -> bool:
        """Take over an attempt of a dispatcher that died. True: its ending follows, once nothing of it is alive."""


@runtime_checkable
class Answers(Executor, Protocol):
    """An executor whose attempts may ask a person something and wait for the answer."""

    def answer(self, attempt: int, words: str) -> None:
        """Pass on what a person has answered. The attempt may have ended meanwhile."""
