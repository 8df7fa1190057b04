"""Values on their way to people and agents: without secrets, and no longer than can be read."""

from collections.abc import Callable
from typing import Any

import msgspec

from manyhands.core.values.task import Task
from manyhands.engine.redaction import REDACTED


def fields_of(task: Task) -> dict[str, Any]:
    """As in a plan; of `env`, only the names are told."""
    fields: dict[str, Any] = msgspec.to_builtins(task)
    if task.env:
        fields["env"] = dict.fromkeys(task.env, REDACTED)
    return fields


def within(value: Any, redact: Callable[[str], str], characters_max: int) -> Any:
    """The same plain value with every text in it redacted and cut."""
    match value:
        case str():
            text = redact(value[: 2 * characters_max])
            return text if len(text) <= characters_max else text[: characters_max - 1] + "…"
        case dict():
            return {key: within(one, redact, characters_max) for key, one in value.items()}
        case list() | tuple():
            return [within(one, redact, characters_max) for one in value]
        case _:
            return value
