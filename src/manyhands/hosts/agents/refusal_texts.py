"""What an agent's error means. Its sentence is read only if the agent gives no status or kind."""

import datetime
import json
import re
from collections.abc import Mapping
from typing import Any

from manyhands.hosts.agents.agent_events import AgentRefusal, RefusalKind
from manyhands.hosts.executors.output_text import one_line
from manyhands.hosts.executors.reset_times import wait_in_text, wait_until

_BUSY_STATUSES = frozenset({408, 409, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
#: How Claude Code tells a short limit of requests from one that lasts for hours.
_NOT_CLOSED = "not your usage limit"
_CONTEXT_STATUSES = (None, 400, 413, 422)
_CLOSED = re.compile(
    r"usage[ _]limit|hit your( \w+)? limit|daily (quota|limit)|weekly limit|monthly limit|(per|_per_)[ _]?day\b"
    r"|five.hour limit|limit (will )?reset",
    re.I,
)
_BILLING = re.compile(
    r"credit balance|billing|insufficient[_ ](quota|credits?|balance|funds)|exceeded your current quota|quota exceeded"
    r"|payment required|purchase",
    re.I,
)
_CONTEXT = re.compile(
    r"context_length_exceeded|context (length|window)|prompt is too long|maximum number of tokens|too many tokens"
    r"|ContextOverflow|token limit",
    re.I,
)
_AUTH = re.compile(
    r"unauthori[sz]ed|unauthenticated|invalid (api|x-api).?key|incorrect api key|api key not valid|authentication[_ ]"
    r"|not logged in|please (run /)?log ?in|OAuth token",
    re.I,
)
_RATE = re.compile(r"rate.?limit|too many requests|resource has been exhausted|RESOURCE_EXHAUSTED", re.I)
_UNREACHABLE = re.compile(r"ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|connection (was )?refused|cannot connect to host", re.I)
_BUSY = re.compile(
    r"overloaded|at capacity|high demand|stream disconnected|terminated|other side closed|ECONNRESET|ETIMEDOUT"
    r"|EPIPE|socket hang up|peer closed|incomplete chunked|connection (was )?(error|reset|closed)"
    r"|network error|fetch failed|timed? ?out|internal (server )?error|service unavailable|server (had an|is) \w+",
    re.I,
)
_USAGE = re.compile(r"unknown (option|flag|argument)|unexpected argument|unrecognized (option|argument)", re.I)
_STATUS = re.compile(r"(?:status(?: code)?:?|error:?|\(|^)\s*([45]\d\d)\b", re.I)
_TEXT_MAX = 4000
_API_ERROR = "[API Error:"


def refusal(
    text: str,
    now: float,
    *,
    status: int | None = None,
    zone: datetime.tzinfo | None = None,
    until: object = None,
    retry_after: object = None,
    limit: str = "",
    kind: RefusalKind | None = None,
) -> AgentRefusal:
    """Judges by status and kind if the program gives them, otherwise by its words. A limit with a known end closes."""
    text = text[:_TEXT_MAX]
    told = _told(text)
    status = status if status is not None else told[0]
    wait_s = wait_until(until, now)
    if wait_s is None and isinstance(retry_after, int | float | str):
        wait_s = _seconds(retry_after)
    says = one_line(told[1] or text)
    if kind is None:
        kind = _kind_of(f"{text} {told[1]}", status)
    if wait_s is None and kind in (RefusalKind.RATE, RefusalKind.CLOSED, RefusalKind.BUSY, RefusalKind.BILLING):
        wait_s = wait_in_text(told[1] or text, now, zone)
    if kind is RefusalKind.RATE and until is not None and wait_s is not None:
        kind = RefusalKind.CLOSED
    return AgentRefusal(kind, says, wait_s, limit or _limit_in(text))


def _kind_of(words: str, status: int | None) -> RefusalKind:
    words = words.replace(_NOT_CLOSED, "")
    # With any other status, too many tokens are too many in a minute.
    if status in _CONTEXT_STATUSES and _CONTEXT.search(words):
        return RefusalKind.PERMANENT
    if status in (None, 402, 403, 429):
        if _CLOSED.search(words):
            return RefusalKind.CLOSED
        if status == 402 or _BILLING.search(words):
            return RefusalKind.BILLING
    if status == 400 and re.search(r"credit balance|billing", words, re.I):
        return RefusalKind.BILLING
    if status in (401, 403):
        return RefusalKind.AUTH
    if status == 429:
        return RefusalKind.RATE
    if status in _BUSY_STATUSES or (status is not None and status >= 500):
        return RefusalKind.BUSY
    if status is not None:
        return RefusalKind.PERMANENT
    for pattern, kind in (
        (_AUTH, RefusalKind.AUTH),
        (_RATE, RefusalKind.RATE),
        (_USAGE, RefusalKind.PERMANENT),
        (_UNREACHABLE, RefusalKind.UNREACHABLE),
        (_BUSY, RefusalKind.BUSY),
    ):
        if pattern.search(words):
            return kind
    return RefusalKind.FAILED


def _told(text: str) -> tuple[int | None, str]:
    """The status and the message of an error that is, or holds, JSON. Otherwise its words."""
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end:
        try:
            body: Any = json.loads(text[begin : end + 1])
        except (ValueError, RecursionError):
            body = None
        error = body.get("error", body) if isinstance(body, dict) else None
        if isinstance(error, dict):
            code = error.get("code", error.get("status"))
            status = code if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600 else None
            message = error.get("message")
            return status, message if isinstance(message, str) else ""
    found = _STATUS.search(text)
    return (int(found[1]) if found else None), ""


def _seconds(value: float | str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= 86_400 else None


def _limit_in(text: str) -> str:
    found = re.search(r"\b(five.hour|5.hour|daily|weekly|monthly|usage)[ _](?:usage )?(limit|quota)", text, re.I)
    return f"{found[1].lower()} {found[2].lower()}" if found else ""


def api_error(text: str) -> str | None:
    """What stands in `[API Error: …]`. After it such programs give advice, which is not the reason."""
    text = text.strip()
    if not text.startswith(_API_ERROR):
        return None
    error, bracket, rest = text[len(_API_ERROR) :].rpartition("]")
    return (error if bracket else rest).strip()


def number(fields: Mapping[str, Any], name: str) -> int:
    """A count of tokens. Anything that is not such a number counts as 0."""
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**53 else 0


def money(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 2**53 else None


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
