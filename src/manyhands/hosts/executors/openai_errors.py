"""What a model server's refusal means for the attempt: wait (overloaded), give up (permanent), or try again.

It depends only on status, headers and body. `openai_executor.py` handles how they arrive.
"""

import datetime
import email.utils
import math
import os
import re
import time
from collections.abc import Mapping
from typing import Any

from manyhands.core.values.ending import Budget, Ending, EndingKind
from manyhands.hosts.executors.output_text import one_line

_RETRY_AFTER_MAX_S = 7 * 86_400.0  # a longer time is a mistake of the server
_BUSY_STATUSES = frozenset({408, 425, 502, 503, 504, 529})
_BUSY = re.compile(r"overloaded|loading model|server busy|out of memory|at capacity|try again later", re.I)
_QUOTA = re.compile(
    r"insufficient_quota|quota_exceeded|current quota|billing_hard_limit|insufficient (credits|balance|funds)"
    r"|credit balance|usage limit|(tokens|requests|limit) per (day|month)|per_day|daily limit|monthly limit",
    re.I,
)
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context (length|window|size)|prompt is too long|too many tokens"
    r"|maximum (number of )?tokens",
    re.I,
)
_NO_MODEL = re.compile(
    r"model_not_found|model\b.{0,120}\b(not found|does not exist|not exist|unknown|not available)", re.I | re.S
)
#: Most servers speak the protocol below a version: /v1, /v1beta/openai, /openai/deployments/…
_VERSION = re.compile(r"/v\d|/openai\b|/api\b", re.I)
_WRONG_URL = frozenset({"UnsupportedProtocol", "InvalidURL", "LocalProtocolError", "SSLCertVerificationError"})
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS_OF = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def classify(status: int, headers: Mapping[str, str], body: object, *, where: str, key_env: str) -> Ending:
    """The ending for an error answer with any status."""
    message, words = _message(body), _words(body)
    says = f"{status} from {where}: {one_line(message) or 'no reason given'}"
    retry_after_s = retry_after(headers)
    if status == 402 or _QUOTA.search(words):
        return Ending(EndingKind.OVERLOADED, f"quota used up: {says}", retry_after_s=retry_after_s, quota=True)
    if status == 429:
        return Ending(EndingKind.OVERLOADED, f"rate limited: {says}", retry_after_s=retry_after_s, rate_limited=True)
    if status in (400, 413, 422, 500) and _TOO_LONG.search(words):
        return Ending(EndingKind.FAILED, f"longer than the model's context: {says}", permanent=True)
    if status in _BUSY_STATUSES or (status >= 500 and _BUSY.search(words)):
        return Ending(EndingKind.OVERLOADED, f"busy: {says}", retry_after_s=retry_after_s)
    key = f"check the key in the environment variable {key_env}" if key_env else "set `api_key_env` of the host"
    if status == 401:  # no task of this host can fare better
        return Ending(EndingKind.OVERLOADED, f"cannot authenticate: {says}; {key}", needs_person=True)
    if status == 403:
        return Ending(EndingKind.FAILED, f"refused: {says}; {key}", permanent=True)
    if status in (404, 405) and not _names_model(words) and not _VERSION.search(where):
        says += f"; the `url` of the host has no version: did you mean `{where.rstrip('/')}/v1`?"
    return Ending(EndingKind.FAILED, says, permanent=400 <= status < 500 and status != 409)


def is_unknown_model(status: int, body: object) -> bool:
    return status in (400, 404) and _names_model(_words(body))


def _names_model(words: str) -> bool:
    return _NO_MODEL.search(words) is not None


def classify_embedded(error: object, *, where: str, key_env: str) -> Ending:
    """The ending for an error object inside an answer of status 200."""
    fields = error if isinstance(error, dict) else {}
    code = fields.get("code", fields.get("status"))
    status = int(code) if isinstance(code, int | str) and str(code).isdecimal() and 400 <= int(code) < 600 else 500
    return classify(status, {}, {"error": error}, where=where, key_env=key_env)


def unreachable(error: BaseException, where: str) -> Ending:
    """The ending for an answer that did not arrive, or arrived only in part."""
    causes = _causes(error)
    kinds = {kind.__name__ for cause in causes for kind in type(cause).__mro__}
    if kinds & _WRONG_URL:
        says = f"cannot use {where}: {one_line(_reason(causes))}; correct the `url` of the host"
        return Ending(EndingKind.FAILED, says, permanent=True)
    if kinds & {"APITimeoutError", "TimeoutException", "TimeoutError"}:
        says = f"no answer from {where} in time"  # one that takes the connection may be too busy to answer
        return Ending(EndingKind.OVERLOADED, says, unreachable="ConnectTimeout" in kinds)
    if kinds & {"APIConnectionError", "TransportError", "OSError"}:
        says = f"cannot reach {where}: {one_line(_reason(causes))}"
        hint = "is the server started, and is the `url` of the host right?"
        return Ending(EndingKind.OVERLOADED, f"{says}; {hint}", unreachable=True)
    return Ending(EndingKind.FAILED, f"{where}: {type(error).__name__}: {one_line(str(error))}")


def budget_of(headers: Mapping[str, str]) -> Budget | None:
    """The rate limits that the server sends with an answer, if any. They are per minute."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    stated = [
        _number(lower.get(f"x-ratelimit-{what}-{of}", ""))
        for of in ("requests", "tokens")
        for what in ("limit", "remaining")
    ]
    return Budget(*stated) if any(value is not None for value in stated) else None


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """After how many seconds to try again, if the server says so."""
    now = time.time() if now is None else now
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    milliseconds = _number(lower.get("retry-after-ms", ""))
    if milliseconds is not None:
        return _bounded(milliseconds / 1000)
    if "retry-after" in lower:
        wait_s = _wait_s(lower["retry-after"], now)
        if wait_s is not None:
            return _bounded(wait_s)
    resets = {
        name: wait_s
        for name, value in lower.items()
        if "ratelimit" in name and "reset" in name and (wait_s := _wait_s(value, now)) is not None
    }
    # A server may report several budgets. The one that is used up caused the refusal.
    used_up = [wait_s for name, wait_s in resets.items() if lower.get(name.replace("reset", "remaining")) == "0"]
    if used_up:
        return _bounded(max(used_up))
    return _bounded(min(resets.values())) if resets else None


def named_causes(error: BaseException) -> list[BaseException]:
    """The error, and what it was raised from on purpose."""
    causes = [error]
    while (cause := causes[-1].__cause__) is not None and cause not in causes:
        causes.append(cause)
    return causes


def _causes(error: BaseException) -> list[BaseException]:
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and cause not in causes:
        causes.append(cause)
    return causes


def _reason(causes: list[BaseException]) -> str:
    """The operating system's message if there is one, or else the message closest to the root cause."""
    for cause in reversed(causes):
        if isinstance(cause, OSError) and cause.errno is not None and cause.errno > 0:
            return os.strerror(cause.errno).lower()
    return next((text for cause in reversed(causes) if (text := str(cause))), type(causes[0]).__name__)


def _wait_s(value: str, now: float) -> float | None:
    """Seconds from a number, a length of time like `6m0.5s`, a point in time in seconds or ms, or a date."""
    number = _number(value)
    if number is not None:
        if number > 1e11:
            return number / 1000 - now
        return number - now if number > 1e9 else number
    if _DURATION.sub("", value) == "" and value:
        return sum(float(amount) * _SECONDS_OF[unit] for amount, unit in _DURATION.findall(value))
    for parse in (email.utils.parsedate_to_datetime, datetime.datetime.fromisoformat):
        try:
            date = parse(value)
        except (ValueError, TypeError):
            continue
        if date.tzinfo is None:
            date = date.replace(tzinfo=datetime.UTC)
        return date.timestamp() - now
    return None


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _bounded(wait_s: float) -> float:
    return min(max(wait_s, 0.0), _RETRY_AFTER_MAX_S)


def _error(body: object) -> Any:
    return body.get("error", body) if isinstance(body, dict) else body


def _message(body: object) -> str:
    error = _error(body)
    if isinstance(error, dict):
        told = error.get("message") or error.get("detail") or error.get("type") or error.get("code") or ""
        return told if isinstance(told, str) else str(told)
    return error if isinstance(error, str) else ""


def _words(body: object) -> str:
    """All fields that may name the cause: message, type and code."""
    error = _error(body)
    fields = error if isinstance(error, dict) else {}
    return " ".join([_message(body), *(str(fields.get(name, "")) for name in ("type", "code", "status"))])
