"""Model calls against a real llama.cpp server: its own answers, streams and refusals."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hosts.executors.desk import Desk
from llama_server import LlamaServer
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import Task
from manyhands.hosts.executors.openai_executor import OpenAIExecutor, OpenAISettings

pytestmark = pytest.mark.xdist_group("llama")


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
async def desk(request: pytest.FixtureRequest, llama_server: LlamaServer, tmp_path: Path) -> AsyncIterator[Desk]:
    settings = OpenAISettings(workspace=tmp_path, url=llama_server.url, model=llama_server.model, stream=request.param)
    made = Desk(lambda s, e: OpenAIExecutor(settings, s, e), tmp_path / "attempts", settings.journal)
    yield made
    await made.executor.close()


def ask(prompt: str, **args: Any) -> Task:
    return Task("t", prompt=prompt, args={"max_tokens": 16, "temperature": 0.0, **args})


async def test_it_answers_and_counts_its_tokens(desk: Desk) -> None:
    ending = await desk.run(ask("tell me"))
    assert ending.kind is EndingKind.DONE, ending
    assert ending.tokens_in > 0
    assert 0 < ending.tokens_out <= 16
    assert ending.result


async def test_a_prompt_longer_than_its_context_fails_for_good(desk: Desk) -> None:
    ending = await desk.run(ask("tell me " * 800))
    assert ending.kind is EndingKind.FAILED
    assert ending.permanent
    assert ending.detail.startswith("longer than the model's context")


async def test_several_answer_at_once(desk: Desk) -> None:
    attempts = [desk.start(ask(f"tell me of {number}")) for number in range(8)]
    assert {(await desk.ending(attempt)).kind for attempt in attempts} == {EndingKind.DONE}
