"""What `manyhands top` sees and may ask for. A store on disk and an address both provide it."""

import enum
from typing import Protocol

from msgspec import Struct

from manyhands.surfaces.verbs.host_verbs import HostRow
from manyhands.surfaces.verbs.run_verbs import RunRow
from manyhands.surfaces.verbs.task_verbs import TaskList

#: More tasks than this are not listed; the filter finds the others.
TASKS_MAX = 200
#: Of so many running attempts the last line is shown.
CARDS_MAX = 8


class Card(Struct, frozen=True):
    """An attempt that runs now."""

    task: str
    host: str
    for_s: float
    line: str  # the last one it printed


class TopSight(Struct, frozen=True):
    """Everything that one screen shows."""

    run: RunRow
    hosts: list[HostRow]
    tasks: TaskList  # those that match the filter
    cards: list[Card]
    waits_for_person: int  # items in the inbox
    is_dispatching: bool


class TaskAct(enum.StrEnum):
    CANCEL = "cancel"
    RETRY = "retry"
    DEFER = "defer"
    RESUME = "resume"
    APPROVE = "approve"  # work that waits for a person's approval lands


class TopSource(Protocol):
    """Its methods may take a while and are called from threads, one at a time."""

    place: str  # for people: where this is from

    def look(self, run: str | None, text: str) -> TopSight: ...

    def log(self, run: str, task: str) -> str:
        """The last lines that the latest attempt printed."""

    def ask_task(self, run: str, task: str, act: TaskAct) -> str: ...

    def ask_run(self, run: str, pauses: bool) -> str: ...

    def ask_host(self, host: str, pauses: bool) -> str: ...

    def ask_width(self, host: str, width: int | None) -> str:
        """None: the clutch decides again."""
