"""What a task sends to a model server: its prompt, its own request fields, and how its last attempt ended."""

from typing import Any, assert_never

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind


class NothingToSend(Exception):
    """The task has neither a prompt nor a message, or nothing to embed."""


def chat_request(order: StartAttempt, model: str, system: str) -> dict[str, Any]:
    fields = _fields(order, model)
    messages = list(fields.pop("messages", ()))
    if system and not any(message.get("role") == "system" for message in messages):
        messages.insert(0, {"role": "system", "content": system})
    if order.task.prompt:
        messages.append({"role": "user", "content": order.task.prompt})
    if not any(message.get("role") != "system" for message in messages):
        raise NothingToSend
    if order.last is not None and _can_learn_from(order.last.kind):
        messages += _reflection(order.last)
    return {**fields, "messages": messages}


def embeddings_request(order: StartAttempt, model: str) -> dict[str, Any]:
    fields = _fields(order, model)
    fields.setdefault("input", order.task.prompt)
    if not fields["input"]:
        raise NothingToSend
    return {"encoding_format": "float", **fields}


def _fields(order: StartAttempt, model: str) -> dict[str, Any]:
    fields = {"model": model, **(order.task.args or {})}
    # The host's setting decides about streaming. An answer to a task that says otherwise could not be read.
    fields.pop("stream", None)
    fields.pop("stream_options", None)
    return fields


def _can_learn_from(kind: EndingKind) -> bool:
    """Whether the model can learn anything from its last attempt."""
    match kind:
        case EndingKind.DONE | EndingKind.FAILED | EndingKind.TIMED_OUT:
            return True
        case EndingKind.OVERLOADED | EndingKind.LOST:
            return False  # no answer of the model arrived
        case EndingKind.CANCELLED | EndingKind.PREEMPTED:
            return False  # we stopped it
        case _:
            assert_never(kind)


def _reflection(last: Ending) -> list[dict[str, str]]:
    told = f"Your last attempt at this ended as `{last.kind}`: {last.detail or 'no reason given'}"
    if last.tail:
        told += f"\nThe last lines of output were:\n{last.tail}"
    messages = [{"role": "user", "content": f"{told}\nTry again, and avoid that."}]
    if last.result:
        messages.insert(0, {"role": "assistant", "content": last.result})
    return messages
