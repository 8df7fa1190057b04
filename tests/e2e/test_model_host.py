"""Model calls from a plan to the journal: answers, checks, the retry that reflects, and a key that stays a secret."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hosts.executors.model_server import ModelServer, Reply, says
from llama_server import LlamaServer
from surfaces.cli.console import Console

KEY = "sk-never-to-be-seen-1234567890"
HAS_42 = ["sh", "-c", 'grep -q 42 "$MANYHANDS_RESULT_FILE" || { echo "no 42 in it"; exit 1; }']


class Pupil(ModelServer):
    """Answers better once it is told how its last answer failed, and repeats the key to whoever asks for that."""

    def _reply_to(self, body: dict[str, Any]) -> Reply:
        said = [message["content"] for message in body["messages"]]
        if "what is my key" in said[0]:
            return Reply({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status=401)
        reflects = any("no 42 in it" in text for text in said)
        return says("it is 42" if reflects else "it is 6 times 7")


@pytest.fixture
async def pupil() -> AsyncIterator[Pupil]:
    server = Pupil()
    await server.start()
    yield server
    await server.stop()


def openai_host(url: str, model: str = "m", **fields: object) -> str:
    lines = ["[hosts.gpu]", 'type = "openai"', f'url = "{url}"', f'model = "{model}"', "width = 4"]
    return "\n".join(lines + [f"{name} = {json.dumps(value)}" for name, value in fields.items()]) + "\n"


async def test_an_answer_that_fails_its_check_is_tried_again_knowing_why(console: Console, pupil: Pupil) -> None:
    console.config(openai_host(pupil.url))
    console.plan([{"id": "sum", "kind": "reasoning", "prompt": "6 × 7?", "check": HAS_42, "claims": None}])
    done = await asyncio.to_thread(console.run, "run", "plan.jsonl")
    assert done.code == 0, done.err
    record = console.book().runs["plan-1"].records["sum"]
    assert [str(tried.ending.kind) for tried in record.history] == ["failed", "done"]
    assert "no 42 in it" in record.history[0].ending.detail
    assert (record.history[1].ending.result, record.history[1].ending.tokens_out) == ("it is 42", 11)
    roles = [[message["role"] for message in body["messages"]] for body in pupil.asked]
    assert roles == [["user"], ["user", "assistant", "user"]]
    log = await asyncio.to_thread(console.run, "task", "log", "sum", "--attempt", "1")
    assert log.out.startswith("it is 6 times 7\n$ sh -c")
    assert log.out.endswith("no 42 in it\n")


async def test_a_key_is_sent_and_never_kept_or_shown(console: Console, pupil: Pupil) -> None:
    console.config(openai_host(pupil.url, api_key_env="PUPIL_KEY"))
    console.plan(
        [
            {"id": "good", "kind": "text", "prompt": "6 × 7?", "claims": None},
            {"id": "leak", "kind": "text", "prompt": "what is my key?", "claims": None},
        ]
    )
    # A host that refuses the key is paused: the task waits, and nothing fails until a person has looked.
    run = console.start("run", "plan.jsonl", PUPIL_KEY=KEY)
    await asyncio.to_thread(run.wait_for, "Incorrect API key")
    run.interrupt()
    stopped = await asyncio.to_thread(run.end)
    said = [stopped.out, stopped.err]
    for command in (("task", "show", "leak"), ("config",), ("host", "-o", "json"), ("task",)):
        done = await asyncio.to_thread(console.run, *command, PUPIL_KEY=KEY)
        said += [done.out, done.err]
    assert {headers["authorization"] for headers in pupil.headers} == {f"bearer {KEY}"}
    assert "Incorrect API key" in said[1], "the refusal itself is told"
    assert not [text for text in said if KEY in text]
    kept = [file for file in console.store.rglob("*") if file.is_file()]
    assert console.store / "journal.db" in kept
    assert not [file for file in kept if KEY.encode() in file.read_bytes()]
    records = console.book().runs["plan-1"].records
    assert str(records["good"].state) == "done"
    assert str(records["leak"].state) != "failed"


@pytest.mark.xdist_group("llama")
def test_a_real_server_answers_a_plan(console: Console, llama_server: LlamaServer) -> None:
    console.config(openai_host(llama_server.url, llama_server.model))
    args = {"max_tokens": 8}
    console.plan({"id": f"t{n}", "kind": "text", "prompt": f"tell me of {n}", "args": args} for n in range(8))
    done = console.run("run", "plan.jsonl", "-o", "json")
    assert done.code == 0, done.err
    assert done.json["peaks"] == {"gpu": 4}
    for record in console.book().runs["plan-1"].records.values():
        assert 0 < record.history[-1].ending.tokens_out <= 8
        assert Path(console.store / "attempts" / "plan-1" / f"{record.task.id}.1" / "result.txt").exists()
