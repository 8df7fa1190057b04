"""Watches one attempt of an agent, however it is driven: its conversation, its limits, and how it ends."""

import datetime
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.question import Question
from manyhands.hosts.agents.adapter import LineMoment
from manyhands.hosts.agents.agent_events import AgentEvent, AgentSession, Closed, Does, Retrying, Says
from manyhands.hosts.agents.agent_files import ERRORS_FILE
from manyhands.hosts.agents.agent_life import AgentLife
from manyhands.hosts.agents.agent_sessions import KeptSession, keep_session
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.agent_tally import AgentTally
from manyhands.hosts.agents.attempt_bounds import bounds_of, reached
from manyhands.hosts.agents.refusal_texts import refusal
from manyhands.hosts.agents.unclaimed_writes import UnclaimedWrites
from manyhands.hosts.executors.attempt_steps import LOG_FILE
from manyhands.hosts.executors.executor import Retried, Showed
from manyhands.hosts.executors.output_text import ANSWER_FILE, keep_result, last_line, one_line, tail_of
from manyhands.readers.plain_file import open_plain

#: A single retry happens on a good day too.
_RETRIES_OF_LOAD = 2
_RETRIES_TOLD_EVERY_S = 30.0
#: How many times as long it may be silent while a tool runs.
_SILENT_TOOL = 4


async def _nobody(attempt: int, question: Question) -> None:
    return None


class AgentCalls(NamedTuple):
    """Whom an attempt tells what happens to it."""

    showed: Showed
    retried: Retried
    is_asking: Callable[[int], bool] = lambda attempt: False  # whether it waits for a person's answer
    ask: Callable[[int, Question], Awaitable[str | None]] = _nobody  # what a person answers; None: nobody will


class AgentWatch:
    def __init__(
        self,
        settings: AgentSettings,
        order: StartAttempt,
        directory: Path,
        place: str,
        calls: AgentCalls,
        *,
        agent: str,
        resumes: bool,
    ) -> None:
        """`place` is where it works; `agent` is whose conversation it is, and whether it can be resumed."""
        self.began = False  # it has said something
        self.denied: list[str] = []
        self.resumed: KeptSession | None = None
        self.end: Callable[[], object] = lambda: None  # ends what drives it
        self.remark: Callable[[str], object] = lambda text: None  # to whoever reads along
        self.home = ""  # which it has for itself
        self._settings = settings
        self._order = order
        self._directory = directory
        self._place = place
        self._calls = calls
        self._has_shown = False
        self.agent = agent
        self._resumes = resumes
        self._zone = _zone({**settings.env, **(order.task.env or {})}.get("TZ") or os.environ.get("TZ"))
        self.limits = bounds_of(settings.limits, order.task.limits)
        self._live = AgentLife(directory, settings.idle_s)
        self._retry_told_at = -_RETRIES_TOLD_EVERY_S
        self._stopped_by = ""  # the limit that it reached
        self._was_silent = False
        self._asked_again = 0  # times without an answer, before it became silent
        self._doings = 0
        self._unclaimed = UnclaimedWrites(order.task, settings.workspace.absolute() / order.task.workspace, Path(place))

    def moment(self) -> LineMoment:
        return LineMoment(time.time(), self._zone)

    def may_be_silent_s(self, runs_tool: bool) -> float:
        """A tool that runs may wait for something. The programs bound their tools too, but not all of them."""
        return self._settings.idle_s * (_SILENT_TOOL if runs_tool else 1)

    def was_silent(self, tally: AgentTally, runs_tool: bool) -> None:
        """It has been silent for as long as it may be."""
        self._was_silent = True
        self._asked_again = tally.retries_in_a_row if tally.closed is None else 0
        of_tool = ", and so was its tool" if runs_tool else ""
        self._stop(f"silent for {_length(self.may_be_silent_s(runs_tool))}{of_tool}")

    def saw_life(self, at: float) -> None:
        """The moment of its last sign of life, by the monotonic clock."""
        self._live.saw(at)

    @property
    def is_asking(self) -> bool:
        return self._calls.is_asking(self._order.attempt)

    async def ask(self, question: Question) -> str | None:
        """What a person answers. None: nobody will."""
        return await self._calls.ask(self._order.attempt, question)

    def close(self) -> None:
        """The run has ended."""
        self._live.close()

    def heard(self, event: AgentEvent, tally: AgentTally) -> None:
        if not self._has_shown and isinstance(event, Does | Says):  # its model has answered
            self._has_shown = True
            self._calls.showed(self._order.attempt)
        match event:
            case AgentSession(id):
                self.began = True
                before = self.resumed
                tokens = (before.tokens_in, before.tokens_out, before.cost) if before is not None else (0, 0, 0.0)
                keep_session(KeptSession(id, self.agent, self._place, *tokens, home=self.home), self._directory)
            case Does():
                self.began = True
                self._doings += 1
                for file in self._unclaimed.of(event):
                    self.remark(f"writes {file}, which its task does not claim")
            case Says():
                self.began = self.began or not self._resumes
            case Retrying():
                self._note_retry(tally)
        self._live.heard(tally)
        if limit := reached(self.limits, tally, self._doings):
            self._stop(limit)

    def _note_retry(self, tally: AgentTally) -> None:
        """A program that asks again and again is refused for its load, long before it gives up and says so."""
        now = time.monotonic()
        if tally.retries >= _RETRIES_OF_LOAD and now - self._retry_told_at >= _RETRIES_TOLD_EVERY_S:
            self._retry_told_at = now
            self._calls.retried(self._order.attempt)

    def has_forgotten(self, ending: Ending) -> bool:
        """Whether the program knows nothing any more of the conversation that it was to resume."""
        return self.resumed is not None and not self.began and _is_failure(ending)

    def ending(self, process: Ending, tally: AgentTally) -> Ending:
        """`process` says how what drove it ended."""
        self.denied = tally.denied
        self._take_off_earlier(tally)
        if self._stopped_by and process.kind is not EndingKind.DONE:
            ending = tally.ending(replace(process, kind=EndingKind.CANCELLED), time.time(), self._zone)
            return self._as_stopped(ending)
        ending = tally.ending(process, time.time(), self._zone)
        if tally.closed is None and not self.began and _is_failure(ending) and ending.exit_code:
            return self._never_began(ending)
        if self._order.task.save and ending.kind is EndingKind.DONE:
            keep_result(tally.answer, self._directory, ANSWER_FILE, always=True)
        return ending

    def _as_stopped(self, ending: Ending) -> Ending:
        if not self._was_silent:
            return replace(ending, kind=EndingKind.FAILED, detail=self._stopped_by, permanent=True)
        if asked := self._asked_again:  # it was refused, and waits: its service is to blame, and not itself
            times = {1: "once", 2: "twice"}.get(asked, f"{asked} times")
            detail = f"asked again {times}, then {self._stopped_by}"
            return replace(ending, kind=EndingKind.OVERLOADED, detail=detail)
        return replace(ending, kind=EndingKind.TIMED_OUT, detail=self._stopped_by)

    def _stop(self, why: str) -> None:
        if not self._stopped_by:
            self._stopped_by = why
            self.end()

    def _never_began(self, ending: Ending) -> Ending:
        """Until the agent has done something, its standard error comes from itself and not from a tool."""
        errors = tail_of(self._directory / ERRORS_FILE)
        with suppress(OSError), open(open_plain(self._directory / LOG_FILE, os.O_WRONLY | os.O_APPEND), "ab") as log:
            log.write(errors.encode(errors="replace"))
        tally = AgentTally()
        tally.note(Closed(refusal(errors, time.time(), zone=self._zone)))
        told = tally.ending(ending, time.time(), self._zone)
        says = last_line(errors)
        return replace(told, detail=one_line(f"exit {ending.exit_code}: {says}" if says else ending.detail))

    def _take_off_earlier(self, tally: AgentTally) -> None:
        """Some programs include the earlier runs that this one resumed. Those were counted already."""
        used, before = tally.used, self.resumed
        if not tally.session:
            return
        if used.of_session:
            tokens = used.tokens_in, used.tokens_out
            total = KeptSession(tally.session, self.agent, self._place, *tokens, home=self.home)
            keep_session(total, self._directory)
        if used.of_session and before is not None and before.id == tally.session:
            tally.used = replace(
                used,
                tokens_in=max(0, used.tokens_in - before.tokens_in),
                tokens_out=max(0, used.tokens_out - before.tokens_out),
            )


def _is_failure(ending: Ending) -> bool:
    return ending.kind is EndingKind.FAILED


def _zone(name: str | None) -> datetime.tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _length(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 60 else f"{seconds:g} s"
