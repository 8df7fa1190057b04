"""Reranking and classification in the forms of infinity and TEI."""

from typing import Any

from starlette.responses import Response

from manyhands.worker.http.bodies import (
    BadBody,
    Body,
    all_failed,
    app_of,
    as_json,
    flag_field,
    number_field,
    priority_of,
    text_field,
    trouble_told,
)
from manyhands.worker.http.embedding import inputs_of
from manyhands.worker.http.models_named import model_for
from manyhands.worker.loop.text_requests import TextRequests
from manyhands.worker.values.item_answers import ItemAnswer, Trouble


class Ranking:
    def __init__(self, texts: TextRequests) -> None:
        self._texts = texts

    async def rerank(self, body: Body) -> Response:
        """Infinity, Cohere and Jina send `documents`. TEI sends `texts` and expects a bare list as the answer."""
        model = model_for(self._texts.engine, body, "rerank")
        query = text_field(body, "query")
        is_tei = "documents" not in body
        documents = inputs_of(body, "texts" if is_tei else "documents")
        texts = [each.get("text") if isinstance(each, dict) else each for each in documents]
        answers = await self._answers(body, model, [(query, text) for text in texts])
        troubles = [answer for answer in answers if isinstance(answer, Trouble)]
        if len(troubles) == len(answers):
            return all_failed(troubles)
        raw = bool(flag_field(body, "raw_scores"))
        score = "score" if is_tei else "relevance_score"
        rows: list[dict[str, Any]] = []
        for place, answer in enumerate(answers):
            row: dict[str, Any] = {"index": place, score: None}
            if isinstance(answer, Trouble):
                row["error"] = trouble_told(answer)
            else:
                row[score] = float(answer.output[0]) if raw else _sigmoid(float(answer.output[0]))
            if flag_field(body, "return_documents") or flag_field(body, "return_text"):
                row["text" if is_tei else "document"] = texts[place]
            rows.append(row)
        rows.sort(key=lambda row: (row[score] is None, -(row[score] or 0.0)))
        rows = rows[: number_field(body, "top_n")]
        tokens = sum(answer.tokens for answer in answers if isinstance(answer, ItemAnswer))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return as_json(rows if is_tei else {"object": "rerank", "model": model, "results": rows, "usage": usage})

    async def classify(self, body: Body) -> Response:
        model = model_for(self._texts.engine, body, "classify", "rerank")
        labels = self._texts.engine.description(model).labels
        answers = await self._answers(body, model, inputs_of(body, "input"))
        troubles = [answer for answer in answers if isinstance(answer, Trouble)]
        if len(troubles) == len(answers):
            return all_failed(troubles)
        rows = [_labelled(answer, labels) for answer in answers]
        tokens = sum(answer.tokens for answer in answers if isinstance(answer, ItemAnswer))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return as_json({"object": "classify", "model": model, "data": rows, "usage": usage})

    async def _answers(self, body: Body, model: str, inputs: list[Any]) -> list[ItemAnswer | Trouble]:
        if any(isinstance(each, list) for each in inputs):
            raise BadBody("tokens can only be embedded; send texts instead")
        cut = flag_field(body, "truncate")
        return await self._texts.answers(model, inputs, cut=cut, app=app_of(body), priority=priority_of(body))


def _labelled(answer: ItemAnswer | Trouble, labels: tuple[str, ...]) -> Any:
    """Every label with its probability, the most likely first."""
    import numpy as np

    if isinstance(answer, Trouble):
        return {"error": trouble_told(answer)}
    if len(labels) == 1:
        return [{"label": labels[0], "score": _sigmoid(float(answer.output[0]))}]
    shares = np.exp(answer.output - answer.output.max())
    shares /= shares.sum()
    order = np.argsort(-shares, kind="stable")
    return [{"label": labels[place], "score": float(shares[place])} for place in order]


def _sigmoid(value: float) -> float:
    import math

    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))
