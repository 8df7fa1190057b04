"""`@manyhands.task`: how the calls of a function are made, said where the function is."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from manyhands.durations import DURATION_HINT, parse_duration
from manyhands.errors import UsageError
from manyhands.surfaces.python.item_tasks import CallSettings

F = TypeVar("F", bound=Callable[..., Any])

_ATTRIBUTE = "__manyhands_task__"
_PLAIN = CallSettings()


@overload
def task(function: F, /) -> F: ...
@overload
def task(*, host: str = ..., attempts: int = ..., timeout: float | str | None = ...) -> Callable[[F], F]: ...
def task(
    function: F | None = None,
    /,
    *,
    host: str = _PLAIN.host,
    attempts: int = _PLAIN.attempts,
    timeout: float | str | None = None,
) -> F | Callable[[F], F]:
    """Say how `engine.map` calls this function. It can still be called as before.

    `host` names what it uses: functions of one host share a width. It is tried `attempts` times, and one attempt may
    take as long as `timeout`: seconds, or text such as "2m".
    """
    if attempts < 1:
        raise UsageError(f"`attempts` must be at least 1, got {attempts}", "leave it out for 3")
    seconds = parse_duration(timeout) if isinstance(timeout, str) else timeout
    if timeout is not None and not (seconds or 0.0) > 0.0:
        raise UsageError(f"`timeout` must be a length of time above 0, got {timeout!r}", DURATION_HINT)
    settings = CallSettings(host, attempts, seconds)

    def mark(marked: F) -> F:
        setattr(marked, _ATTRIBUTE, settings)
        return marked

    return mark if function is None else mark(function)


def settings_of(function: Callable[..., Any]) -> CallSettings:
    found = getattr(function, _ATTRIBUTE, _PLAIN)
    return found if isinstance(found, CallSettings) else _PLAIN
