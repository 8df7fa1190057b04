"""Judges a model server's answer: a task whose answer is empty or only an error is not done."""

import json
import re
from typing import Any, NamedTuple

from manyhands.core.values.ending import Budget, Ending, EndingKind
from manyhands.hosts.executors.output_text import one_line
from manyhands.hosts.executors.usage import NUMBER_MAX

_ERROR_CHARACTERS_MAX = 500
_ERROR = re.compile(r"\W{0,3}(error|exception|internal server error)\b\W*[:\-–—]|\W{0,3}(ERROR|Traceback)\b", re.I)


class NotAnAnswer(Exception):
    """The server answered with status 200 but without an answer. `error` is what it sent instead."""

    def __init__(self, error: object) -> None:
        super().__init__(str(error))
        self.error = error


class ModelAnswer(NamedTuple):
    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    finish_reason: str = ""
    refusal: str = ""
    ttft_s: float | None = None
    budget: Budget | None = None


def chat_answer(body: object) -> ModelAnswer:
    body = _without_error(body)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise NotAnAnswer("it has no `choices`")
    message = choices[0].get("message")
    message = message if isinstance(message, dict) else {}
    calls = message.get("tool_calls")
    return ModelAnswer(
        _text(message.get("content")) or (json.dumps(calls) if calls else ""),
        *tokens_of(body.get("usage")),
        str(choices[0].get("finish_reason") or ""),
        _text(message.get("refusal")),
    )


def embeddings_answer(body: object) -> ModelAnswer:
    body = _without_error(body)
    rows = body.get("data")
    if not isinstance(rows, list) or not rows or not all(isinstance(r, dict) and r.get("embedding") for r in rows):
        raise NotAnAnswer("it has no embeddings")
    return ModelAnswer(json.dumps([row["embedding"] for row in rows]), tokens_of(body.get("usage"))[0])


def tokens_of(usage: object) -> tuple[int, int]:
    """Tokens in and out; 0 for values that make no sense. Some servers send -1 for unknown."""
    fields = usage if isinstance(usage, dict) else {}
    counts = (fields.get("prompt_tokens"), fields.get("completion_tokens"))
    tokens_in, tokens_out = (count if type(count) is int and 0 <= count <= NUMBER_MAX else 0 for count in counts)
    return tokens_in, tokens_out


def judged(answer: ModelAnswer) -> Ending:
    """Done or failed, with the tokens that were used in both cases. The result is added later."""
    detail = ""
    if answer.finish_reason == "content_filter":
        detail = "the server's content filter withheld the answer"
    elif answer.refusal:
        detail = f"the model refused: {one_line(answer.refusal)}"
    elif not answer.text.strip():
        why = "; it had used up its token limit" if answer.finish_reason == "length" else ""
        detail = f"the model gave an empty answer{why}"
    elif is_only_an_error(answer.text):
        detail = f"the model answered with an error: {one_line(answer.text)}"
    cut = "the answer was cut off at its token limit" if answer.finish_reason == "length" else ""
    return Ending(
        EndingKind.FAILED if detail else EndingKind.DONE,
        detail or cut,
        tokens_in=answer.tokens_in,
        tokens_out=answer.tokens_out,
        ttft_s=answer.ttft_s,
        budget=answer.budget,
    )


def is_only_an_error(text: str) -> bool:
    """Whether the text only reports an error: one short paragraph `Error: …`, or `{"error": …}`."""
    text = text.strip()
    if text.startswith("{") and '"error"' in text:
        try:
            return list(json.loads(text)) == ["error"]
        except (ValueError, RecursionError):
            return False
    return len(text) <= _ERROR_CHARACTERS_MAX and "\n\n" not in text and _ERROR.match(text) is not None


def _without_error(body: object) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise NotAnAnswer(f"expected a JSON object, got {one_line(str(body)) or 'nothing'}")
    if body.get("error"):
        raise NotAnAnswer(body["error"])
    return body


def _text(content: object) -> str:
    """Some servers send text in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
