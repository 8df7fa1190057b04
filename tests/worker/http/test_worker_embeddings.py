"""Embeddings over HTTP by a real worker with a real model."""

import base64
import math
import struct

import pytest

from worker.http.live_worker import Worker

#: All tests use the same worker process.
pytestmark = pytest.mark.xdist_group("model-worker")


def cosine(one: list[float], other: list[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))


def test_texts_that_mean_the_same_are_near_each_other(worker: Worker) -> None:
    cat, kitten, tax = (row["embedding"] for row in worker.embed("a cat sat", "a kitten was sitting", "tax law"))
    assert len(cat) == 384
    assert cosine(cat, cat) > 0.999999
    assert cosine(cat, kitten) > 0.5 > cosine(cat, tax)


def test_a_text_a_list_and_tokens_are_taken(worker: Worker) -> None:
    text = worker.post("/v1/embeddings", {"model": "minilm", "input": "hello world"}).json()
    tokens = worker.post("/v1/embeddings", {"model": "minilm", "input": [101, 7592, 2088, 102]}).json()
    lists = worker.post("/v1/embeddings", {"model": "minilm", "input": [[101, 7592, 2088, 102]]}).json()
    assert text["usage"] == {"prompt_tokens": 4, "total_tokens": 4}
    assert text["data"] == tokens["data"] == lists["data"]


def test_base64_is_the_same_numbers(worker: Worker) -> None:
    (plain,) = worker.embed("hello world")
    (coded,) = worker.embed("hello world", encoding_format="base64")
    numbers = struct.unpack("<384f", base64.b64decode(coded["embedding"]))
    assert list(numbers) == plain["embedding"]


def test_fewer_dimensions_are_of_length_one_again(worker: Worker) -> None:
    (short,) = worker.embed("hello world", dimensions=64)
    (whole,) = worker.embed("hello world")
    assert len(short["embedding"]) == 64
    assert math.isclose(sum(number * number for number in short["embedding"]), 1, rel_tol=1e-5)
    assert cosine(short["embedding"], whole["embedding"][:64]) > 0.999999
    answer = worker.post("/v1/embeddings", {"model": "minilm", "input": "x", "dimensions": 385})
    assert answer.status_code == 400
    assert "384 dimensions" in answer.json()["error"]["message"]


def test_a_poison_item_fails_exactly_itself(worker: Worker) -> None:
    poison = ["\ud800 half", "", "word " * 200_000, 7, None, ["no", "tokens"], [99_999_999], "   "]
    inputs = ["good", *poison, "good"]
    rows = worker.post("/v1/embeddings", content=_json({"model": "minilm", "input": inputs})).json()["data"]
    assert [row["error"]["code"] for row in rows[1:-1]] == [
        "not_text",
        "empty",
        "too_long",
        "not_text",
        "not_text",
        "bad_token",
        "bad_token",
        "empty",
    ]
    assert [row["embedding"] for row in rows[1:-1]] == [None] * len(poison)
    assert rows[0]["embedding"] == rows[-1]["embedding"] is not None
    assert worker.http.get("/health").status_code == 200


def test_bytes_that_are_no_text_fail_only_their_item(worker: Worker) -> None:
    body = b'{"model": "minilm", "input": ["good", "b\xff\xfed"]}'
    good, bad = worker.post("/v1/embeddings", content=body).json()["data"]
    assert good["embedding"]
    assert bad["error"]["code"] == "not_text"


def test_an_over_long_text_is_refused_or_cut_as_asked(worker: Worker) -> None:
    long = "word " * 300
    answer = worker.post("/v1/embeddings", {"model": "minilm", "input": long})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "the text has 302 tokens, at most 256 are allowed; `truncate` cuts it"
    (cut,) = worker.embed(long, truncate=True)
    (exact,) = worker.embed("word " * 254)
    assert cosine(cut["embedding"], exact["embedding"]) > 0.999999


def _json(value: object) -> bytes:
    import json

    return json.dumps(value).encode()
