"""What an exception of someone else's client says about the server it called: has it too much, or is it asked wrongly?

Clients are recognised by the shape of their errors: openai, anthropic, litellm, httpx, requests, aiohttp and urllib all
carry a status and headers. None of them is imported for it.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.openai_errors import classify, named_causes, retry_after
from manyhands.hosts.executors.output_text import named

#: Names of exception classes of clients that waited in vain for an answer.
_WAITED_IN_VAIN = frozenset({"APITimeoutError", "ReadTimeout", "WriteTimeout", "PoolTimeout", "ServerTimeoutError"})


def ending_of_refusal(error: BaseException) -> Ending | None:
    """The ending of a call that a server refused; None if the error tells of no server."""
    for cause in named_causes(error):
        if (ending := _ending(cause)) is not None:
            return ending
    return None


def _ending(error: BaseException) -> Ending | None:
    status, headers, body = _answer_of(error)
    if status is None:
        wait_s = _seconds(getattr(error, "retry_after", None))
        if wait_s is not None:
            return Ending(EndingKind.OVERLOADED, retry_after_s=wait_s)
        if any(kind.__name__ in _WAITED_IN_VAIN for kind in type(error).__mro__):
            return Ending(EndingKind.OVERLOADED)
        return None
    ending = classify(status, headers, body, where="its server", key_env="")
    if ending.needs_person:
        # The key is the program's own: nobody else can put it right while the program waits.
        return replace(ending, kind=EndingKind.FAILED, permanent=True, needs_person=False)
    wait_s = retry_after(headers)
    may_pass = not ending.permanent and wait_s is not None
    return replace(ending, kind=EndingKind.OVERLOADED, retry_after_s=wait_s) if may_pass else ending


def _answer_of(error: BaseException) -> tuple[int | None, Mapping[str, str], object]:
    response = getattr(error, "response", None)
    for holder, name in ((error, "status_code"), (response, "status_code"), (error, "status"), (error, "code")):
        status = getattr(holder, name, None)
        if isinstance(status, int) and not isinstance(status, bool) and 400 <= status < 600:
            return status, _headers(error, response), getattr(error, "body", None) or named(error)
    return None, {}, None


def _headers(error: BaseException, response: Any) -> Mapping[str, str]:
    for holder in (response, error):
        headers = getattr(holder, "headers", None)
        if headers is None:
            continue
        try:
            return {str(name): str(value) for name, value in headers.items()}
        except Exception:  # an attribute of that name in a class that we do not know
            continue
    return {}


def _seconds(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return retry_after({"retry-after": str(float(value))})
    return None
