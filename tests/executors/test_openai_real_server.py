"""Model calls on a real server: what a made-up one cannot show of tokens, queueing and hanging up."""

import asyncio
from pathlib import Path

import pytest

from llama_server import LlamaServer
from manyhands.core.commands import StartAttempt
from manyhands.core.model import Ending, EndingKind, Task
from manyhands.executors.openai import OpenAIExecutor, OpenAISettings
from manyhands.probes.llamacpp import LlamacppProbe


class Attempts:
    """An executor on the real server, and the endings of what it is given."""

    def __init__(self, server: LlamaServer, directory: Path, stream: bool) -> None:
        settings = OpenAISettings(url=server.url, model=server.model, stream=stream, workspace=directory)
        self.executor = OpenAIExecutor(settings, lambda attempt, process: None, self._ended)
        self._directory = directory
        self._ending_of: dict[int, asyncio.Future[Ending]] = {}

    def start(self, attempt: int, tokens: int) -> asyncio.Future[Ending]:
        task = Task(
            f"t{attempt}",
            prompt=f"say something about {attempt}",
            args={"max_tokens": tokens, "ignore_eos": True},
        )
        self._ending_of[attempt] = asyncio.get_running_loop().create_future()
        order = StartAttempt(attempt, "run", task, 1, "llama")
        self.executor.start(order, self._directory / str(attempt))
        return self._ending_of[attempt]

    def _ended(self, attempt: int, ending: Ending) -> None:
        self._ending_of[attempt].set_result(ending)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_chat_on_a_real_server_ends_done_with_its_tokens_counted(
    llama_server: LlamaServer, tmp_path: Path, stream: bool
) -> None:
    attempts = Attempts(llama_server, tmp_path, stream)
    async with asyncio.timeout(30):
        ending = await attempts.start(1, tokens=24)
    assert ending.kind is EndingKind.DONE, ending.detail
    assert ending.tokens_out == 24
    assert ending.tokens_in > 0
    assert ending.result
    assert (ending.ttft_s is not None) == stream
    await attempts.executor.close()


async def test_more_attempts_than_slots_wait_at_the_server_and_all_end_done(
    llama_server: LlamaServer, tmp_path: Path
) -> None:
    attempts = Attempts(llama_server, tmp_path, stream=False)
    async with asyncio.timeout(30):
        endings = await asyncio.gather(*(attempts.start(number, tokens=16) for number in range(3 * llama_server.slots)))
    assert [ending.kind for ending in endings] == [EndingKind.DONE] * len(endings)
    assert {ending.tokens_out for ending in endings} == {16}
    await attempts.executor.close()


async def test_a_stopped_attempt_leaves_the_server_when_its_answer_is_streamed(
    llama_server: LlamaServer, tmp_path: Path
) -> None:
    probe = LlamacppProbe(llama_server.url)

    async def until_running(expected: int) -> None:
        async with asyncio.timeout(30):
            running = None
            while running != expected:
                reading = await probe.read(0.0)
                running = reading.running if reading is not None else None

    await until_running(0)
    attempts = Attempts(llama_server, tmp_path, stream=True)
    ended = attempts.start(1, tokens=1900)
    await until_running(1)
    attempts.executor.stop(1)
    async with asyncio.timeout(10):
        assert (await ended).kind is EndingKind.CANCELLED
    await until_running(0)
    await attempts.executor.close()
    await probe.close()
