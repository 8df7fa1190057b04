"""Embeddings in the forms of OpenAI and TEI. Images are taken in the form of infinity."""

import base64
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
from manyhands.worker.http.models_named import model_for
from manyhands.worker.loop.text_requests import TextRequests
from manyhands.worker.values.item_answers import ItemAnswer, Trouble, WrongTask


class Embedding:
    def __init__(self, texts: TextRequests) -> None:
        self._texts = texts

    async def openai(self, body: Body) -> Response:
        """`POST /v1/embeddings`."""
        model = model_for(self._texts.engine, body, "embed")
        coding = text_field(body, "encoding_format", "float")
        if coding not in ("float", "base64"):
            raise BadBody('`encoding_format` must be "float" or "base64"')
        dimensions = self._dimensions(body, model)
        answers = await self._answers(body, "input", model, text_field(body, "modality", "text"))
        troubles = [answer for answer in answers if isinstance(answer, Trouble)]
        if len(troubles) == len(answers):
            return all_failed(troubles)
        rows = [_row(place, answer, coding, dimensions) for place, answer in enumerate(answers)]
        tokens = sum(answer.tokens for answer in answers if isinstance(answer, ItemAnswer))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return as_json({"object": "list", "model": model, "data": rows, "usage": usage})

    async def tei(self, body: Body) -> Response:
        """`POST /embed`: the answer is a bare list of vectors, so every item must succeed."""
        model = model_for(self._texts.engine, body, "embed")
        answers = await self._answers(body, "inputs", model)
        troubles = [answer for answer in answers if isinstance(answer, Trouble)]
        if troubles:
            return all_failed(troubles)
        return as_json([answer.output.tolist() for answer in answers if isinstance(answer, ItemAnswer)])

    async def _answers(self, body: Body, field: str, model: str, modality: str = "text") -> list[ItemAnswer | Trouble]:
        inputs = inputs_of(body, field)
        if modality == "image":
            return await self._texts.images(model, inputs, app=app_of(body), priority=priority_of(body))
        if modality != "text":
            raise BadBody('`modality` must be "text" or "image"')
        cut = flag_field(body, "truncate")
        return await self._texts.answers(model, inputs, cut=cut, app=app_of(body), priority=priority_of(body))

    def _dimensions(self, body: Body, model: str) -> int | None:
        wanted, width = number_field(body, "dimensions"), self._texts.engine.description(model).width
        if wanted is not None and wanted > width:
            raise WrongTask(f"model `{model}` has {width} dimensions, so `dimensions` = {wanted} is too large")
        return wanted


def inputs_of(body: Body, field: str) -> list[Any]:
    """The inputs as a list. The field holds a text, texts, tokens or lists of tokens."""
    if field not in body:
        raise BadBody(f"`{field}` is missing")
    given = body[field]
    if isinstance(given, list) and given and all(type(each) is int for each in given):
        return [given]
    inputs = given if isinstance(given, list) else [given]
    if not inputs:
        raise BadBody(f"`{field}` is empty")
    return inputs


def _row(place: int, answer: ItemAnswer | Trouble, coding: str, dimensions: int | None) -> dict[str, Any]:
    row: dict[str, Any] = {"object": "embedding", "index": place, "embedding": None}
    if isinstance(answer, Trouble):
        return row | {"error": trouble_told(answer)}
    vector = answer.output
    if dimensions is not None and dimensions < len(vector):
        vector = vector[:dimensions]
        vector = vector / max(float((vector * vector).sum()) ** 0.5, 1e-12)
    coded = base64.b64encode(vector.astype("<f4").tobytes()).decode() if coding == "base64" else vector.tolist()
    return row | {"embedding": coded}
