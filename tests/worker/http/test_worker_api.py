"""The worker's other answers: chat, reranking, classification, refusals, and which requests are answered at all."""

import concurrent.futures
import math
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import openai
import pytest

from manyhands.worker.http.bodies import refused
from manyhands.worker.values.item_answers import Busy, Stuck, TooMuch
from worker.http.live_worker import Worker, at_work
from worker.tiny_encoders import write_bert

TOKEN = "a-token-for-the-tests"
HELLO = 7592  # the token of MiniLM's tokenizer

#: All tests use the same worker process.
pytestmark = pytest.mark.xdist_group("model-worker")


def chat(**fields: object) -> dict[str, object]:
    return {"model": "random", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 6, **fields}


def test_openais_own_client_is_answered(worker: Worker) -> None:
    client = openai.OpenAI(base_url=f"{worker.url}/v1", api_key="none", max_retries=0)
    assert [model.id for model in client.models.list()] == ["minilm", "random"]
    before = worker.figure("tokens_total", "random")
    whole = client.chat.completions.create(**chat())  # type: ignore[call-overload]
    assert (whole.model, whole.usage.completion_tokens) == ("random", 6)
    pieces = list(client.chat.completions.create(**chat(stream=True)))  # type: ignore[call-overload]
    assert pieces[-1].choices[0].finish_reason == "length"
    assert len([piece for piece in pieces if piece.choices[0].delta.content]) >= 1
    asked = 2 * (whole.usage.prompt_tokens + 6)
    assert 2 * 6 < worker.figure("tokens_total", "random") - before <= asked, "cached tokens are not computed"
    vectors = client.embeddings.create(model="minilm", input=["one", "two"])  # the client asks for base64 by itself
    assert [len(row.embedding) for row in vectors.data] == [384, 384]


def test_a_real_small_model_talks(smollm: Path, tmp_path: Path) -> None:
    with at_work([f"smol={smollm}"], tmp_path, "--threads", "1") as worker:
        ask = [{"role": "user", "content": "What is the capital of France? Answer in one word."}]
        answer = worker.post("/v1/chat/completions", chat(model="smol", messages=ask, max_tokens=12, temperature=0))
        assert "Paris" in answer.json()["choices"][0]["message"]["content"]


def test_what_is_wrong_with_a_request_is_said_with_its_status(worker: Worker) -> None:
    def refusal(path: str, body: object) -> tuple[int, str]:
        answer = worker.post(path, body)
        return answer.status_code, answer.json()["error"]["message"]

    assert refusal("/v1/embeddings", {"model": "nope", "input": "x"}) == (
        404,
        "there is no model `nope`; this worker hosts `minilm`, `random`",
    )
    assert refusal("/v1/embeddings", {"model": "random", "input": "x"})[0] == 400
    assert refusal("/v1/embeddings", {"input": []}) == (400, "`input` is empty")
    assert refusal("/v1/embeddings", {}) == (400, "`input` is missing")
    assert refusal("/v1/embeddings", ["x"]) == (400, "the request must be a JSON object")
    assert refusal("/v1/embeddings", {"input": "x", "encoding_format": "int8"})[0] == 400
    assert refusal("/v1/embeddings", {"input": ["x"] * 5000})[0] == 413
    assert refusal("/v1/chat/completions", chat(messages=[]))[0] == 400
    assert refusal("/v1/chat/completions", chat(messages=[{"role": "user", "content": "hi " * 9000}]))[0] == 400
    assert worker.post("/v1/embeddings", content=b"{").status_code == 400
    assert worker.http.get("/health").status_code == 200


def test_a_full_queue_is_429_with_a_time_to_come_back() -> None:
    """This checks only the response. The engine decides when the queue is full, and its own tests check that."""
    answer = refused(Busy("8192 items wait for `minilm`", 2.2))
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "3")
    assert refused(TooMuch("the request has 5000 items")).status_code == 413
    assert refused(Stuck("batches that do not end: 1")).status_code == 503


@pytest.fixture(scope="module")
def judges(minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    folder, tokenizer = tmp_path_factory.mktemp("judges"), minilm / "tokenizer.json"
    models = [
        f"rank={write_bert(folder / 'rank', tokenizer, ['relevant'])}",
        f"mood={write_bert(folder / 'mood', tokenizer, ['sad', 'glad', 'mad'])}",
        f"numb={write_bert(folder / 'numb', tokenizer, nan_token=HELLO)}",
    ]
    environment = os.environ | {"WORKER_TOKEN": TOKEN}
    with at_work(models, folder, "--token-env", "WORKER_TOKEN", env=environment, token=TOKEN) as worker:
        yield worker


def test_documents_are_ranked_by_a_query_as_infinity_and_tei_have_it(judges: Worker) -> None:
    documents = ["one", "a longer one", "", "another"]
    answer = judges.post("/v1/rerank", {"query": "which", "documents": documents, "return_documents": True}).json()
    scores = [row["relevance_score"] for row in answer["results"]]
    assert scores[-1] is None
    assert answer["results"][-1]["error"]["code"] == "empty"
    assert scores[:3] == sorted(scores[:3], reverse=True)
    assert all(0 < score < 1 for score in scores[:3])
    assert {row["document"] for row in answer["results"]} == set(documents)
    bare = judges.post("/rerank", {"query": "which", "texts": documents[:2]}).json()
    assert {row["index"]: row["score"] for row in bare} == {
        row["index"]: row["relevance_score"] for row in answer["results"] if row["index"] < 2
    }
    best = judges.post("/v1/rerank", {"query": "which", "documents": documents, "top_n": 1}).json()["results"]
    assert [row["index"] for row in best] == [answer["results"][0]["index"]]


def test_texts_are_classified_with_the_share_of_every_label(judges: Worker) -> None:
    one, bad, two = judges.post("/classify", {"model": "mood", "input": ["hello", 5, "bye"]}).json()["data"]
    assert bad["error"]["code"] == "not_text"
    for row in (one, two):
        assert {each["label"] for each in row} == {"sad", "glad", "mad"}
        assert sum(each["score"] for each in row) == pytest.approx(1)


def test_a_text_of_which_the_model_makes_no_numbers_fails_alone(judges: Worker) -> None:
    body = {"model": "numb", "input": ["one", "well hello there", "another one"]}
    one, numb, another = judges.post("/v1/embeddings", body).json()["data"]
    assert numb["embedding"] is None
    assert numb["error"]["code"] == "not_finite"
    assert all(math.isfinite(number) for row in (one, another) for number in row["embedding"])
    assert judges.http.get("/health").status_code == 200


def test_only_those_with_the_token_are_answered(judges: Worker) -> None:
    assert httpx.get(f"{judges.url}/v1/models").status_code == 401
    assert httpx.get(f"{judges.url}/v1/models", headers={"authorization": "Bearer wrong"}).status_code == 401
    assert httpx.get(f"{judges.url}/health").status_code == 200
    assert judges.http.get("/v1/models").status_code == 200


def test_without_a_token_only_loopback_names_are_answered(worker: Worker) -> None:
    assert httpx.get(f"{worker.url}/v1/models", headers={"host": "evil.example"}).status_code == 403


def test_beyond_loopback_a_token_is_needed(minilm: Path, tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match=r"cannot serve on `0\.0\.0\.0` without a token"),
        at_work([f"minilm={minilm}"], tmp_path, "--address", "0.0.0.0"),
    ):
        pass


def test_a_stopping_worker_answers_what_it_took(minilm: Path, tmp_path: Path) -> None:
    with at_work([f"minilm={minilm}"], tmp_path, "--threads", "1") as worker:
        body = {"model": "minilm", "input": [f"text number {number}" for number in range(60)]}
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(worker.post, "/v1/embeddings", body)
            while not worker.figure("in_flight", "minilm") and not asked.done():
                pass
            worker.process.send_signal(signal.SIGTERM)
            assert len(asked.result().json()["data"]) == 60
        assert worker.process.wait(60) == 0


def test_who_hangs_up_is_not_computed_for(worker: Worker) -> None:
    before = worker.figure("items_total", "minilm")
    body = b'{"model": "minilm", "input": [' + b",".join(b'"text %d"' % number for number in range(2000)) + b"]}"
    address = httpx.URL(worker.url)
    with socket.create_connection((address.host, address.port)) as caller:
        head = f"POST /v1/embeddings HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n\r\n"
        caller.sendall(head.encode() + body)
        while not worker.figure("waiting", "minilm") and worker.figure("items_total", "minilm") < before + 2000:
            pass
    while worker.figure("waiting", "minilm") or worker.figure("in_flight", "minilm"):
        pass
    assert worker.figure("items_total", "minilm") < before + 2000
