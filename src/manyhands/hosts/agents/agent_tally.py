"""What an agent has done so far, and the ending that follows from it once its process is gone."""

import datetime
from typing import assert_never

from msgspec.structs import replace

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.agents.agent_events import (
    AgentEvent,
    AgentRefusal,
    AgentSession,
    Closed,
    Denied,
    Does,
    RefusalKind,
    Retrying,
    Returned,
    Says,
    Used,
)
from manyhands.hosts.executors.output_text import keep_short, one_line

_DAY_S = 86_400.0


class AgentTally:
    def __init__(self) -> None:
        self.session = ""
        self.answer = ""  # the last thing it said, as a whole
        self.used = Used()
        self.closed: Closed | None = None
        self.denied: list[str] = []
        self.retries = 0
        self.retries_in_a_row = 0  # since its model last answered
        self.touched: dict[str, None] = {}  # files of its tools, in order
        self.last_tool: Does | None = None
        self.tools_running = 0
        self._is_whole = True

    def note(self, event: AgentEvent) -> None:
        match event:
            case AgentSession(id):
                self.session = id
            case Says(text, whole):
                self.retries_in_a_row = 0
                self.answer = text if whole or self._is_whole else self.answer + text
                self._is_whole = whole
            case Does():
                self.retries_in_a_row = 0
                self.touched |= dict.fromkeys(event.files)
                self.last_tool = event
                self.tools_running += event.runs
                self._is_whole = True
            case Returned():
                self.tools_running = max(0, self.tools_running - 1)
            case Retrying():
                self.retries += 1
                self.retries_in_a_row += 1
            case Used():
                self.used = event if event.is_total else _sum(self.used, event)
            case Denied(what):
                self.denied.append(what)
            case Closed():
                self.closed = event

    def ending(self, process: Ending, now: float, zone: datetime.tzinfo | None = None) -> Ending:
        """`process` tells how its process ended. Done requires a good closing event: exit code 0 is not enough."""
        used = {"tokens_in": self.used.tokens_in, "tokens_out": self.used.tokens_out, "cost": self.used.cost}
        ending = replace(process, session=self.session, **used)
        if _was_stopped(process):
            return ending
        refused = self.closed.refusal if self.closed is not None else None
        if refused is not None:
            return _refused(ending, refused, now, zone)
        if self.closed is None and process.kind is EndingKind.DONE:
            return replace(
                ending, kind=EndingKind.FAILED, detail="it exited with code 0 but never said that it was done"
            )
        if process.kind is not EndingKind.DONE:
            return ending
        return replace(ending, result=keep_short(self.answer))


def _was_stopped(process: Ending) -> bool:
    """The program did not finish by itself, so what it said before does not count."""
    match process.kind:
        case EndingKind.DONE:
            return False
        case EndingKind.CANCELLED:
            return True
        case EndingKind.FAILED | EndingKind.OVERLOADED | EndingKind.TIMED_OUT | EndingKind.PREEMPTED | EndingKind.LOST:
            return process.exit_code is None
        case kind:
            assert_never(kind)


def _refused(ending: Ending, refused: AgentRefusal, now: float, zone: datetime.tzinfo | None) -> Ending:
    wait_s, says = refused.wait_s, one_line(refused.text)
    overloaded = replace(ending, kind=EndingKind.OVERLOADED, detail=says, retry_after_s=wait_s, permanent=False)
    match refused.kind:
        case RefusalKind.CLOSED:
            return replace(overloaded, quota=True, detail=_closed_until(refused, now, zone))
        case RefusalKind.RATE:
            return replace(overloaded, rate_limited=True, detail=f"rate limited: {says}")
        case RefusalKind.BUSY:
            return overloaded
        case RefusalKind.UNREACHABLE:
            return replace(overloaded, unreachable=True)
        case RefusalKind.BILLING:
            return replace(overloaded, quota=True, needs_person=True, detail=f"the account cannot pay: {says}")
        case RefusalKind.AUTH:
            return replace(overloaded, needs_person=True, detail=f"cannot authenticate: {says}")
        case RefusalKind.PERMANENT | RefusalKind.LIMIT:
            return replace(ending, kind=EndingKind.FAILED, detail=says, permanent=True)
        case RefusalKind.FAILED:
            return replace(ending, kind=EndingKind.FAILED, detail=says)


def _closed_until(refused: AgentRefusal, now: float, zone: datetime.tzinfo | None) -> str:
    if refused.wait_s is None:
        return f"closed ({refused.limit or one_line(refused.text)})"
    moment = datetime.datetime.fromtimestamp(now + refused.wait_s, zone)
    form = "%H:%M" if refused.wait_s < _DAY_S else "%b %d, %H:%M"
    return f"closed until {moment.strftime(form)} ({refused.limit or one_line(refused.text)})"


def _sum(before: Used, step: Used) -> Used:
    costs = [cost for cost in (before.cost, step.cost) if cost is not None]
    return Used(
        before.tokens_in + step.tokens_in,
        before.cached + step.cached,
        before.tokens_out + step.tokens_out,
        sum(costs) if costs else None,
    )
