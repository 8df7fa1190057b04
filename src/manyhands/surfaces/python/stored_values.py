"""Values of a program as they are stored: plain JSON, and back again to the type that a function states."""

import inspect
import typing
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from manyhands.hosts.executors.function import CannotSucceed


class CannotStore(CannotSucceed):
    """A function returned something that no file can keep."""


def stored(value: object) -> str:
    """The value as JSON. Raises CannotStore if it is more than plain data."""
    if value is None:
        return ""
    try:
        return _ENCODER.encode(value).decode()
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise CannotStore(
            f"its result cannot be stored: {error}; return text, numbers, lists, dicts, dataclasses or pydantic models"
        ) from None


def loaded(text: str, stated: Any) -> Any:
    """What was stored, as the stated type if it fits that, and else as plain data."""
    if not text:
        return None
    decoder = _decoder(stated)
    if decoder is not None:
        try:
            return decoder.decode(text)
        except msgspec.ValidationError:
            pass
    return msgspec.json.decode(text)


def stated_result(function: Callable[..., Any]) -> Any:
    """The type that the function says it returns; Any if it says nothing."""
    try:
        hints = typing.get_type_hints(inspect.unwrap(function))
    except Exception:  # a name that only the type checker knows
        return Any
    return hints.get("return", Any)


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):  # pydantic, and the answers of the clients that are built on it
        return value.model_dump(mode="json")
    if hasattr(value, "tolist"):  # numbers and arrays of numpy
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is not plain data")


def _made(kind: type, value: Any) -> Any:
    if hasattr(kind, "model_validate"):
        return kind.model_validate(value)
    raise msgspec.ValidationError(f"a {kind.__name__} cannot be made from plain data")


_ENCODER = msgspec.json.Encoder(enc_hook=_plain, order="deterministic")


@lru_cache(maxsize=256)
def _decoder(stated: Any) -> msgspec.json.Decoder[Any] | None:
    if stated is Any or stated is object:
        return None
    try:
        return msgspec.json.Decoder(stated, dec_hook=_made)
    except (TypeError, RuntimeError):  # a type that nothing is made from
        return None
