"""Functions that tasks name: finding them, and describing the outcome of a call as plain values.

The dispatcher and its worker processes share this module. Workers start faster the less it imports.
"""

import importlib
import importlib.util
import inspect
import json
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from manyhands.errors import Unavailable
from manyhands.hosts.executors.output_text import clean, keep_result, named, one_line, tail_of_text

if TYPE_CHECKING:
    from manyhands.core.values.ending import Ending

RESULT_FILE = "result.json"
_OUR_FRAMES = re.compile(rf"^{re.escape(str(Path(__file__).parent))}|importlib\b")


class Context(NamedTuple):
    """What a function learns about its attempt if it declares a parameter `context`."""

    task: str
    run: str
    attempt: int  # 1 for the first attempt of the task
    prompt: str
    last_ending: str  # how the attempt before this one ended; "" if there was none
    last_detail: str
    last_output: str
    directory: Path  # for files of this attempt; it may not exist yet


class Function(NamedTuple):
    call: Callable[..., Any]
    is_async: bool
    wants_context: bool


class FunctionOutcome(NamedTuple):
    """An ending, as plain values that can be sent between processes."""

    kind: str
    detail: str = ""
    permanent: bool = False
    tail: str = ""
    result: str = ""
    memory_bytes: int = 0
    retry_after_s: float | None = None
    rate_limited: bool = False
    quota: bool = False

    def ending(self) -> "Ending":
        from manyhands.core.values.ending import Ending, EndingKind

        return Ending(
            EndingKind(self.kind),
            self.detail,
            permanent=self.permanent,
            memory_bytes=self.memory_bytes,
            tail=self.tail,
            result=self.result,
            retry_after_s=self.retry_after_s,
            rate_limited=self.rate_limited,
            quota=self.quota,
        )


class CannotSucceed(Exception):
    """Calling the function again cannot help."""


class CannotResolve(CannotSucceed):
    """There is no such function, or its module does not load."""


def resolve(name: str) -> Function:
    module_name, _, path = name.partition(":")
    if not module_name or not path:
        raise CannotResolve(f"`{name}` is not of the form package.module:function")
    try:
        target: Any = importlib.import_module(module_name)
    except BaseException as error:  # a module may even exit
        raise CannotResolve(f"cannot import `{module_name}` of `{name}`: {named(error)}") from error
    for part in path.split("."):
        if not hasattr(target, part):
            raise CannotResolve(f"`{module_name}` has no `{part}`, which `{name}` names")
        target = getattr(target, part)
    if not callable(target):
        raise CannotResolve(f"`{name}` is not a function but a {type(target).__name__}")
    return function_of(target)


def function_of(target: Callable[..., Any]) -> Function:
    is_async = any(inspect.iscoroutinefunction(it) for it in (target, getattr(target, "__call__", None)))  # noqa: B004
    return Function(target, is_async, _declares_context(target))


def is_plainly_sync(name: str) -> bool:
    """Whether the source says `def`. Then only a worker loads the module, which may be slow or broken."""
    module_name, _, path = name.partition(":")
    try:
        spec = importlib.util.find_spec(module_name)
        if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
            return False
        source = Path(spec.origin).read_text(encoding="utf-8")
    except BaseException:  # `resolve` gives a better message for every error
        return False
    return re.search(rf"^def {re.escape(path)}\b", source, re.MULTILINE) is not None


def describe_error(error: BaseException) -> FunctionOutcome:
    if isinstance(error, CannotSucceed):
        tail = _traceback(error.__cause__) if error.__cause__ else ""
        return FunctionOutcome("failed", one_line(str(error)), permanent=True, tail=tail)
    tail = _traceback(error)
    asks_to_wait = isinstance(error, SystemExit) and error.code == Unavailable.exit_code
    if asks_to_wait or isinstance(error, Unavailable | MemoryError):  # waiting may help
        return FunctionOutcome("overloaded", one_line(named(error)), tail=tail)
    if type(error).__module__ != "builtins" or error.__cause__ is not None:
        # Imported only now: most functions fail in their own way, and workers start faster without it.
        from manyhands.hosts.executors.refused_calls import ending_of_refusal

        if (refusal := ending_of_refusal(error)) is not None:
            return FunctionOutcome(
                str(refusal.kind),
                one_line(named(error)),
                permanent=refusal.permanent,
                tail=tail,
                retry_after_s=refusal.retry_after_s,
                rate_limited=refusal.rate_limited,
                quota=refusal.quota,
            )
    return FunctionOutcome("failed", one_line(named(error)), permanent=_is_bad_call(error), tail=tail)


def describe_value(value: object, directory: Path, in_file: bool = False) -> FunctionOutcome:
    """A returned value as a result. If it is long or `in_file` is set, the full value also goes into a file."""
    if value is None and not in_file:
        return FunctionOutcome("done")
    text = _as_json(value)
    kept = keep_result(text, directory, RESULT_FILE, always=in_file)
    detail = f"the result has {len(text):,} characters; it is in {RESULT_FILE}" if len(text) > len(kept) else ""
    return FunctionOutcome("done", detail, result=kept)


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        import msgspec  # it can encode dates, dataclasses and more, but is slow to load

        return msgspec.json.encode(value).decode()
    except Exception:
        pass
    try:
        return clean(repr(value))
    except Exception:
        return f"<{type(value).__name__}>"


def _traceback(error: BaseException) -> str:
    """The last lines of the traceback, without our own frames that called or imported what failed."""
    frames = error.__traceback__
    while frames is not None and _OUR_FRAMES.search(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    return tail_of_text("".join(traceback.format_exception(type(error), error, frames)))


def _is_bad_call(error: BaseException) -> bool:
    """Whether the arguments do not fit the function: the error was raised by the call, not inside the function."""
    frames = error.__traceback__
    return isinstance(error, TypeError) and frames is not None and frames.tb_next is None


def _declares_context(target: Callable[..., Any]) -> bool:
    try:
        return "context" in inspect.signature(target).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
