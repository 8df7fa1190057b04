"""Model calls over real HTTP: what is sent, what an answer is worth, and what a refusal means."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hosts.executors.desk import Desk
from hosts.executors.model_server import ModelServer, Reply, says, stream_of, streams
from manyhands.core.values.ending import Budget, Ending, EndingKind, Overload
from manyhands.core.values.task import Task
from manyhands.hosts.executors.openai_executor import OpenAIExecutor, OpenAISettings

KEY = "sk-very-secret-1234"
EMBEDDED = Reply(
    {"object": "list", "data": [{"index": 0, "embedding": [0.5, -1]}], "usage": {"prompt_tokens": 3}},
)


class Line:
    """A server and an executor that calls it."""

    def __init__(self, server: ModelServer, tmp_path: Path) -> None:
        self.server = server
        self._tmp_path = tmp_path
        self._desks: list[Desk] = []
        self.desk = self.call_with()

    def call_with(self, **settings: Any) -> Desk:
        (self._tmp_path / "workspace").mkdir(exist_ok=True)
        settings = {"url": self.server.url, "model": "a-model", **settings}
        made = OpenAISettings(workspace=self._tmp_path / "workspace", **settings)
        place = self._tmp_path / f"attempts-{len(self._desks)}"
        self._desks.append(Desk(lambda s, e: OpenAIExecutor(made, s, e), place, made.journal))
        return self._desks[-1]

    async def answer(self, reply: Reply, **settings: Any) -> Ending:
        """How an attempt ends that is answered so."""
        self.server.otherwise = reply
        desk = self.call_with(**settings) if settings else self.desk
        return await desk.run(Task("t", prompt="hello"))

    async def close(self) -> None:
        for desk in self._desks:
            await desk.executor.close()
        await self.server.stop()


@pytest.fixture
async def line(tmp_path: Path) -> AsyncIterator[Line]:
    server = ModelServer()
    await server.start()
    made = Line(server, tmp_path)
    yield made
    await made.close()


def error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


# What is sent, and what comes of it


async def test_a_prompt_is_sent_and_its_answer_kept_with_its_tokens(line: Line) -> None:
    ending = await line.answer(says("forty-two"))
    assert ending == Ending(EndingKind.DONE, tokens_in=7, tokens_out=11, result="forty-two")
    assert (line.desk.directory(1) / "result.txt").read_text() == "forty-two"
    assert line.server.asked == [{"model": "a-model", "messages": [{"role": "user", "content": "hello"}]}]


async def test_the_tasks_args_are_fields_of_the_request_known_or_not(line: Line) -> None:
    args = {
        "temperature": 0.1,
        "model": "another",
        "min_p": 0.05,
        "stream": True,
        "messages": [{"role": "user", "content": "before"}],
    }
    desk = line.call_with(system="be brief")
    assert (await desk.run(Task("t", prompt="hello", args=args))).kind is EndingKind.DONE
    assert line.server.asked == [
        {
            "model": "another",
            "temperature": 0.1,
            "min_p": 0.05,
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "before"},
                {"role": "user", "content": "hello"},
            ],
        }
    ]


async def test_the_next_attempt_is_told_what_came_of_the_last_answer(line: Line) -> None:
    last = Ending(EndingKind.FAILED, "check failed (exit 1): 2 wrong", tail="case 7\n2 wrong\n", result="my answer")
    await line.desk.run(Task("t", prompt="hello"), 2, last)
    first, answered, told = line.server.asked[0]["messages"]
    assert first == {"role": "user", "content": "hello"}
    assert answered == {"role": "assistant", "content": "my answer"}
    assert told["role"] == "user"
    for part in ("`failed`", "check failed (exit 1): 2 wrong", "case 7\n2 wrong\n"):
        assert part in told["content"]


async def test_an_overload_is_none_of_the_models_business(line: Line) -> None:
    await line.desk.run(Task("t", prompt="hello"), 2, Ending(EndingKind.OVERLOADED, "busy"))
    assert len(line.server.asked[0]["messages"]) == 1


async def test_embeddings_come_as_json(line: Line) -> None:
    line.server.otherwise = EMBEDDED
    desk = line.call_with(api="embeddings")
    ending = await desk.run(Task("t", args={"input": ["a", "b"], "dimensions": 2}))
    assert ending == Ending(EndingKind.DONE, tokens_in=3, result="[[0.5, -1]]")
    assert json.loads((desk.directory(1) / "result.json").read_text()) == [[0.5, -1]]
    assert line.server.asked[0] == {
        "model": "a-model",
        "input": ["a", "b"],
        "dimensions": 2,
        "encoding_format": "float",
    }
    assert (await desk.run(Task("t", prompt="of the prompt"))).kind is EndingKind.DONE
    assert line.server.asked[1]["input"] == "of the prompt"


async def test_a_long_answer_is_bounded_and_whole_in_its_file(line: Line) -> None:
    ending = await line.answer(says("word " * 10_000))
    assert len(ending.result) == 32_000
    assert len((line.desk.directory(1) / "result.txt").read_text()) == 50_000


async def test_a_check_reads_the_answer(line: Line) -> None:
    line.server.otherwise = says("print(1)")
    task = Task("t", prompt="hello", check=("sh", "-c", 'echo "got: $(cat "$MANYHANDS_RESULT_FILE")"; exit 1'))
    ending = await line.desk.run(task)
    assert (ending.kind, ending.detail) == (EndingKind.FAILED, "check failed (exit 1): got: print(1)")
    assert (ending.result, ending.tokens_out) == ("print(1)", 11), "paid for, and the next attempt sees it"


@pytest.mark.parametrize("odd", [-1, 2**80, True, "7", None])
async def test_tokens_that_make_no_sense_are_unknown(line: Line, odd: object) -> None:
    reply = says("well")
    reply.body["usage"] = {"prompt_tokens": odd, "completion_tokens": 11}
    ending = await line.answer(reply)
    assert (ending.kind, ending.tokens_in, ending.tokens_out) == (EndingKind.DONE, 0, 11)


async def test_a_streamed_answer_tells_the_time_to_its_first_token(line: Line) -> None:
    ending = await line.answer(streams("for", "ty", "-two", gap_s=0.1), stream=True)
    assert (ending.kind, ending.result) == (EndingKind.DONE, "forty-two")
    assert (ending.tokens_in, ending.tokens_out) == (7, 11)
    assert ending.ttft_s is not None
    assert 0.1 <= ending.ttft_s < 5
    assert line.server.asked[0]["stream"] is True
    assert line.server.asked[0]["stream_options"] == {"include_usage": True}


async def test_an_error_in_the_midst_of_a_stream_is_told_apart(line: Line) -> None:
    begun = {"id": "x", "choices": [{"index": 0, "delta": {"content": "for"}, "finish_reason": None}]}
    busy = await line.answer(stream_of(begun, error("overloaded", code=503)), stream=True)
    assert busy.kind is EndingKind.OVERLOADED
    broken = await line.answer(stream_of(begun, error("kernel panic")), stream=True)
    assert (broken.kind, broken.permanent) == (EndingKind.FAILED, False)


async def test_calls_are_in_flight_together(line: Line) -> None:
    """Seven calls of 0.2 s each: the server counts seven at once."""
    await line.answer(says("warm"))
    line.server.otherwise = says("slow", after_s=0.2)
    line.server.peak = 0
    attempts = [line.desk.start(Task(f"t{number}", prompt="hello")) for number in range(7)]
    await line.desk.until(lambda: len(line.desk.reported) == 8)
    assert {line.desk.endings(attempt)[0].result for attempt in attempts} == {"slow"}
    assert line.server.peak == 7


async def test_stopping_a_call_hangs_up(line: Line) -> None:
    line.server.otherwise = Reply(hangs=True)
    attempt = line.desk.start(Task("t", prompt="hello"))
    await line.desk.until(lambda: line.server.now == 1)
    line.desk.executor.stop(attempt)
    assert (await line.desk.ending(attempt)).kind is EndingKind.CANCELLED
    await line.desk.until(lambda: line.server.now == 0)


# What an answer is worth


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        (Reply({"choices": []}), "it has no `choices`"),
        (Reply({}), "it has no `choices`"),
        (Reply(error("something broke")), "something broke"),
        (Reply(b"<html>maintenance</html>"), "expected a JSON object, got <html>maintenance</html>"),
        (Reply(b""), "expected a JSON object, got nothing"),
        (says(""), "the model gave an empty answer"),
        (says("", "length"), "the model gave an empty answer; it had used up its token limit"),
        (says("partly", "content_filter"), "content filter"),
        (says("Error: upstream model crashed"), "the model answered with an error: Error: upstream model crashed"),
        (says("ERROR 1234 failed to generate"), "answered with an error"),
        (says("[error]: no"), "answered with an error"),
        (says('{"error": {"message": "no"}}'), "answered with an error"),
    ],
)
async def test_what_only_looks_like_an_answer_is_not_done(line: Line, reply: Reply, detail: str) -> None:
    ending = await line.answer(reply)
    assert ending.kind is EndingKind.FAILED
    assert detail in ending.detail
    assert not ending.permanent


@pytest.mark.parametrize(
    "text",
    [
        "Errors should never pass silently.",
        "Error handling in Python:\n\n1. try\n2. except",
        "Terror: a history",
        '{"error": null, "result": 4}',
        "The log says: Error: disk full",
    ],
)
async def test_an_answer_about_errors_is_an_answer(line: Line, text: str) -> None:
    assert (await line.answer(says(text))).kind is EndingKind.DONE


async def test_an_answer_cut_at_its_limit_is_done_and_says_so(line: Line) -> None:
    ending = await line.answer(says("once upon a", "length"))
    assert (ending.kind, ending.detail) == (EndingKind.DONE, "the answer was cut off at its token limit")


async def test_a_call_of_a_tool_is_an_answer(line: Line) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f"}}]}
    ending = await line.answer(Reply({"choices": [{"message": message, "finish_reason": "tool_calls"}]}))
    assert ending.kind is EndingKind.DONE
    assert json.loads(ending.result)[0]["function"] == {"name": "f"}


# What a refusal means


OVERLOADED, RATE, QUOTA, PERMANENT, FAILED = "overloaded", "rate", "quota", "permanent", "failed"
PERSON = "needs a person"


def meaning(ending: Ending) -> str:
    if ending.kind is EndingKind.OVERLOADED:
        if ending.needs_person:
            return PERSON
        return QUOTA if ending.quota else RATE if ending.rate_limited else OVERLOADED
    assert ending.kind is EndingKind.FAILED
    return PERMANENT if ending.permanent else FAILED


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (429, error("slow down", code="rate_limit_exceeded"), RATE),
        (429, error("You exceeded your current quota", code="insufficient_quota"), QUOTA),
        (429, error("Rate limit reached on tokens per day (TPD)"), QUOTA),
        (402, error("payment required"), QUOTA),
        (503, error("Loading model", type="unavailable_error", code=503), OVERLOADED),
        (529, error("Overloaded", type="overloaded_error"), OVERLOADED),
        (502, b"<html>Bad Gateway</html>", OVERLOADED),
        (504, b"", OVERLOADED),
        (500, error("server busy, please try again. maximum pending requests exceeded"), OVERLOADED),
        (500, error("CUDA out of memory"), OVERLOADED),
        (500, error("internal error"), FAILED),
        (400, error("This model's maximum context length is 8192 tokens", code="context_length_exceeded"), PERMANENT),
        (400, error("the request exceeds the available context size", type="exceed_context_size_error"), PERMANENT),
        (401, error("Incorrect API key"), PERSON),
        (403, error("not yours"), PERMANENT),
        (404, error("model 'a-model' not found, try pulling it first"), PERMANENT),
        (422, error("bad field"), PERMANENT),
        (409, error("conflict"), FAILED),
        (200, error("too fast", code=429), RATE),
    ],
)
async def test_refusals_are_told_apart(line: Line, status: int, body: Any, expected: str) -> None:
    ending = await line.answer(Reply(body, status))
    assert meaning(ending) == expected, ending
    assert line.server.url in ending.detail
    assert len(line.server.asked) == 1, "when to try again is not the client's to decide"


async def test_a_context_that_is_too_long_says_so(line: Line) -> None:
    ending = await line.answer(Reply(error("prompt is too long: 9 > 8"), 400))
    assert ending.detail.startswith("longer than the model's context: 400")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "7"}, 7.0), ({"retry-after-ms": "250", "retry-after": "9"}, 0.25), ({}, None)],
)
async def test_when_to_come_back_is_kept(line: Line, headers: dict[str, str], seconds: float | None) -> None:
    ending = await line.answer(Reply(error("slow down"), 429, headers))
    assert ending.retry_after_s == seconds


async def test_a_server_that_is_not_there_is_waited_for(line: Line) -> None:
    await line.server.stop()
    ending = await line.answer(says(""))
    assert meaning(ending) == OVERLOADED
    assert ending.detail.startswith(f"cannot reach {line.server.url}: connection refused; is the server started")
    assert ending.overload is Overload.UNREACHABLE


async def test_a_lost_connection_is_waited_for(line: Line) -> None:
    ending = await line.answer(says("forty-two", cut=True))
    assert meaning(ending) == OVERLOADED
    assert f"cannot reach {line.server.url}: " in ending.detail


async def test_a_server_that_says_nothing_is_given_up(line: Line) -> None:
    ending = await line.answer(Reply(hangs=True), timeout_s=0.2)
    assert meaning(ending) == OVERLOADED
    assert ending.detail == f"no answer from {line.server.url} in time"
    assert ending.overload is Overload.LOAD  # it took the connection


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/v1", "127.0.0.1:1/v1"])
async def test_an_address_that_cannot_be_called_fails_for_good(line: Line, url: str) -> None:
    ending = await line.answer(says(""), url=url)
    assert meaning(ending) == PERMANENT
    assert "correct the `url` of the host" in ending.detail


# Secrets


async def test_the_key_goes_to_the_server_and_nowhere_else(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    monkeypatch.setenv("OPENAI_ORG_ID", "our-organization")
    refused = Reply(error(f"Incorrect API key provided: {KEY}"), 401)
    ending = await line.answer(refused, api_key_env="MY_KEY")
    assert line.server.headers[0]["authorization"] == f"bearer {KEY}"
    assert "openai-organization" not in line.server.headers[0]
    assert "MY_KEY" in ending.detail
    assert KEY not in str(ending)


async def test_a_password_in_the_address_is_not_told(line: Line) -> None:
    url = line.server.url.replace("127.0.0.1", "me:pass-word@127.0.0.1")
    ending = await line.answer(Reply(error("no"), 500), url=url)
    assert "pass-word" not in ending.detail
    assert line.server.url in ending.detail


async def test_a_key_that_is_not_set_is_asked_for_by_name(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    ending = await line.answer(says("fine"), api_key_env="MY_KEY")
    assert meaning(ending) == PERSON
    assert "the environment variable MY_KEY is not set" in ending.detail
    assert line.server.asked == []


async def test_rate_limits_that_the_server_states_come_with_the_ending(line: Line) -> None:
    stated = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-limit-tokens": "90000",
        "x-ratelimit-remaining-tokens": "88000",
    }
    ending = await line.answer(says("fine", headers=stated))
    assert ending.budget == Budget(60.0, 59.0, 90_000.0, 88_000.0)
    assert (await line.answer(says("fine"))).budget is None


async def test_a_server_that_does_not_stream_is_understood_when_asked_to(line: Line) -> None:
    ending = await line.answer(says("all at once"), stream=True)
    assert (ending.kind, ending.result, ending.tokens_out) == (EndingKind.DONE, "all at once", 11)
