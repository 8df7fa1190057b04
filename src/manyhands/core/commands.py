"""What the core wants done, as plain values. A command is carried out only when its cause is on disk."""

from msgspec import Struct

from manyhands.core.values.ending import Ending
from manyhands.core.values.provenance import Origin, Purpose
from manyhands.core.values.question import Guidance
from manyhands.core.values.task import Task


class Command(Struct, frozen=True, gc=False):
    pass


class StartAttempt(Command, frozen=True):
    attempt: int
    run: str
    task: Task
    number: int  # 1 for the first attempt of the task
    host: str
    last: Ending | None = None  # how the attempt before ended; this attempt is told
    origin: Origin = Origin.PLAN  # of the task
    guidance: Guidance | None = None  # what people have said about the task
    purpose: Purpose = Purpose.PLAN  # of its run


class ReleaseAttempt(Command, frozen=True):
    """Its process is on disk: let it through the gate."""

    attempt: int


class HandIn(Command, frozen=True):
    """The agent that held the attempt has finished its work: check it, and end the attempt like this."""

    attempt: int
    ending: Ending


class StopAttempt(Command, frozen=True):
    attempt: int


class AnswerAttempt(Command, frozen=True):
    """A person has answered what the attempt asked."""

    attempt: int
    words: str


class WakeAt(Command, frozen=True):
    at: float


class RunEnded(Command, frozen=True):
    """Every task of the run has ended, or the run is drained and nothing is in flight."""

    run: str


AnyCommand = StartAttempt | ReleaseAttempt | HandIn | StopAttempt | AnswerAttempt | WakeAt | RunEnded
