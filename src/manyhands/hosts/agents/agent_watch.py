"""Watches one attempt of an agent, however it is driven: its conversation, its limits, and how it ends."""

import datetime
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.agents.adapter import LineMoment
from manyhands.hosts.agents.agent_events import AgentEvent, AgentSession, Closed, Does, Says
from manyhands.hosts.agents.agent_files import ERRORS_FILE
from manyhands.hosts.agents.agent_sessions import KeptSession, keep_session
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.agent_tally import AgentTally
from manyhands.hosts.agents.refusal_texts import refusal
from manyhands.hosts.agents.unclaimed_writes import UnclaimedWrites
from manyhands.hosts.executors.attempt_steps import LOG_FILE
from manyhands.hosts.executors.executor import Showed
from manyhands.hosts.executors.output_text import last_line, one_line, tail_of
from manyhands.readers.plain_file import open_plain


class AgentWatch:
    def __init__(
        self,
        settings: AgentSettings,
        order: StartAttempt,
        directory: Path,
        place: str,
        showed: Showed,
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
        self._settings = settings
        self._order = order
        self._directory = directory
        self._place = place
        self._showed = showed
        self._has_shown = False
        self.agent = agent
        self._resumes = resumes
        self._zone = _zone({**settings.env, **(order.task.env or {})}.get("TZ") or os.environ.get("TZ"))
        self._stopped_by = ""  # the limit that it reached
        self._was_silent = False
        self._doings = 0
        self._unclaimed = UnclaimedWrites(order.task, settings.workspace.absolute() / order.task.workspace, Path(place))

    def moment(self) -> LineMoment:
        return LineMoment(time.time(), self._zone)

    def was_silent(self) -> None:
        """It has been silent for as long as the host allows."""
        self._was_silent = True
        self._stop(f"silent for {_length(self._settings.idle_s)}")

    def heard(self, event: AgentEvent, tally: AgentTally) -> None:
        if isinstance(event, Does | Says) and not self._has_shown:  # its model has answered
            self._has_shown = True
            self._showed(self._order.attempt)
        match event:
            case AgentSession(id):
                self.began = True
                before = self.resumed
                tokens = (before.tokens_in, before.tokens_out, before.cost) if before is not None else (0, 0, 0.0)
                keep_session(KeptSession(id, self.agent, self._place, *tokens), self._directory)
            case Does():
                self.began = True
                self._doings += 1
                for file in self._unclaimed.of(event):
                    self.remark(f"writes {file}, which its task does not claim")
            case Says():
                self.began = self.began or not self._resumes
        limits = self._settings.limits
        if limits.tokens is not None and tally.used.tokens_in + tally.used.tokens_out > limits.tokens:
            self._stop(f"reached its limit of {limits.tokens:,} tokens")
        if limits.cost is not None and tally.used.cost is not None and tally.used.cost > limits.cost:
            self._stop(f"reached its limit of {limits.cost:g} in cost")
        if limits.turns is not None and self._doings > limits.turns:
            self._stop(f"reached its limit of {limits.turns} turns")

    def has_forgotten(self, ending: Ending) -> bool:
        """Whether the program knows nothing any more of the conversation that it was to resume."""
        return self.resumed is not None and not self.began and _is_failure(ending)

    def ending(self, process: Ending, tally: AgentTally) -> Ending:
        """`process` says how what drove it ended."""
        self.denied = tally.denied
        self._take_off_earlier(tally)
        if self._stopped_by and process.kind is not EndingKind.DONE:
            ending = tally.ending(replace(process, kind=EndingKind.CANCELLED), time.time(), self._zone)
            kind = EndingKind.TIMED_OUT if self._was_silent else EndingKind.FAILED
            return replace(ending, kind=kind, detail=self._stopped_by, permanent=not self._was_silent)
        ending = tally.ending(process, time.time(), self._zone)
        if tally.closed is None and not self.began and _is_failure(ending) and ending.exit_code:
            return self._never_began(ending)
        return ending

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
            total = KeptSession(tally.session, self.agent, self._place, used.tokens_in, used.tokens_out)
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
