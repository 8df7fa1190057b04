"""Items as tasks: each is known by its content, so that it is found again when the same items are mapped again."""

import pickle
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any, TypeVar

from msgspec import Struct

from manyhands.core.values.task import PROGRAM, Task
from manyhands.errors import UsageError
from manyhands.hosts.executors.output_text import one_line
from manyhands.readers.name_rules import is_good_name
from manyhands.surfaces.python.stored_values import CannotStore, stored

MappedItem = TypeVar("MappedItem")

#: Enough that no two items of any map are taken for each other.
_KEY_CHARACTERS = 20
_TITLE_CHARACTERS_MAX = 80


class CallSettings(Struct, frozen=True):
    """How the calls of a function are made, as `@manyhands.task` states it."""

    host: str = "functions"
    attempts: int = 3
    timeout: float | None = None


def label_of(function: Callable[..., Any]) -> str:
    """The function's name, as the kind of its tasks and the name of its runs."""
    name = getattr(function, "__name__", "") or type(function).__name__
    return name if is_good_name(name) and not set(name) & set("*?[<") else "function"


def tasks_of_items(
    items: Iterable[MappedItem],
    label: str,
    settings: CallSettings,
    key: Callable[[MappedItem], object] | None = None,
) -> dict[str, tuple[MappedItem, Task]]:
    """id → the item and its task, in the order of the items."""
    found: dict[str, tuple[MappedItem, Task]] = {}
    times: Counter[str] = Counter()
    for place, item in enumerate(items):
        id = _id(item, place, key)
        times[id] += 1
        if times[id] > 1:  # equal items are called one by one
            id = f"{id}-{times[id]}"
        found[id] = (
            item,
            Task(
                id,
                kind=label,
                title=_title(item),
                call=PROGRAM + label,
                host=settings.host,
                attempts=settings.attempts,
                timeout=settings.timeout,
            ),
        )
    return found


def _id(item: MappedItem, place: int, key: Callable[[MappedItem], object] | None) -> str:
    if key is not None:
        name = str(key(item))
        return name if is_good_name(name) else _hashed(name.encode())
    try:
        return _hashed(b"json:" + stored(item).encode())
    except CannotStore:
        pass
    try:
        return _hashed(b"pickle:" + pickle.dumps(item, protocol=4))
    except Exception:
        raise UsageError(
            f"item {place} is a {type(item).__name__}, which cannot be told from others by its content",
            "pass `key=`, a function that gives each item a name",
        ) from None


def _hashed(content: bytes) -> str:
    return sha256(content).hexdigest()[:_KEY_CHARACTERS]


def _title(item: object) -> str:
    try:
        text = item if isinstance(item, str) else reprlib.repr(item)
    except Exception:  # of a class of the program
        return ""
    return one_line(text[:_TITLE_CHARACTERS_MAX])
