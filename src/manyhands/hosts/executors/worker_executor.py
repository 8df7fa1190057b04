"""Runs attempts on a model worker. The model that a task names decides whether it answers, embeds or judges."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.errors import HostUnreachable
from manyhands.hosts.executors.attempt_steps import AttemptSteps, ProcessSettings
from manyhands.hosts.executors.executor import Ended, ProcessSpawned
from manyhands.hosts.executors.in_flight import InFlight
from manyhands.hosts.executors.openai_answer import tokens_of
from manyhands.hosts.executors.openai_errors import classify, unreachable
from manyhands.hosts.executors.openai_executor import OpenAIExecutor, OpenAISettings
from manyhands.hosts.executors.output_text import keep_result
from manyhands.hosts.executors.worker_process import RunningWorker, WorkerProcess, command_of, token_in

JUDGE_WITHIN_S = 600.0


class WorkerHostSettings(ProcessSettings, frozen=True, kw_only=True):
    """What a worker host is built from."""

    url: str = ""  # of a worker that already runs; "": one is started
    config_file: str = ""  # the file with its [models.…] tables
    models: tuple[str, ...] = ()  # names of those it loads; all if empty
    model: str = ""  # for tasks that name no model
    api_key_env: str = ""
    system: str = ""
    threads: int = 0
    device: str = "auto"


class WorkerExecutor:
    def __init__(self, settings: WorkerHostSettings, spawned: ProcessSpawned, ended: Ended) -> None:
        self._settings = settings
        self._spawned = spawned
        self._steps = AttemptSteps(settings, spawned)
        self._in_flight = InFlight(ended, settings.grace_s)
        command = command_of(settings.config_file, settings.models, settings.threads, settings.device)
        self._token = token_in(settings.api_key_env)
        self.process = WorkerProcess(settings.url, [] if settings.url else command, self._token)
        #: One for each address and kind of model: a worker that was restarted has another address.
        self._models: dict[tuple[str, str], OpenAIExecutor] = {}
        self._carried_by: dict[int, tuple[OpenAIExecutor, asyncio.Future[Ending]]] = {}

    def start(self, order: StartAttempt, directory: str) -> None:
        self._in_flight.start(order.attempt, self._carry(order, directory))

    def release(self, attempt: int) -> None:
        if attempt in self._carried_by:
            self._carried_by[attempt][0].release(attempt)
        self._steps.release(attempt)

    def stop(self, attempt: int) -> None:
        self._in_flight.stop(attempt)

    async def close(self) -> None:
        await self._in_flight.close()
        for executor in self._models.values():
            await executor.close()
        await self.process.close()

    async def _carry(self, order: StartAttempt, directory: str) -> Ending:
        try:
            up = await self.process.up()
        except HostUnreachable as error:
            return Ending(EndingKind.OVERLOADED, error.message, unreachable=True)
        model = (order.task.args or {}).get("model") or self._settings.model
        if not model and len(up.task_of) == 1:
            model = next(iter(up.task_of))
        if model not in up.task_of:
            names = ", ".join(f"`{name}`" for name in up.task_of)
            what = f"names model `{model}` in its `args`" if model else "names no `model` in its `args`"
            return _hopeless(f"task `{order.task.id}` {what}; host `{order.host}` has {names}")
        args = {**(order.task.args or {}), "model": model}
        order = msgspec.structs.replace(order, task=msgspec.structs.replace(order.task, args=args))
        if up.task_of[model] in ("rerank", "classify"):
            return await self._judged(order, Path(directory), up)
        return await self._passed_on(order, directory, up, "chat" if up.task_of[model] == "generate" else "embeddings")

    async def _passed_on(self, order: StartAttempt, directory: str, up: RunningWorker, api: Any) -> Ending:
        executor = self._models.get((up.url, api))
        if executor is None:
            settings = OpenAISettings(
                workspace=self._settings.workspace,
                journal=self._settings.journal,
                grace_s=self._settings.grace_s,
                url=f"{up.url}/v1",
                api=api,
                api_key_env=self._settings.api_key_env,
                system=self._settings.system,
                stream=True,  # a stopped attempt then frees its slot at once
            )
            executor = self._models[up.url, api] = OpenAIExecutor(settings, self._spawned, self._ended)
        ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self._carried_by[order.attempt] = (executor, ending)
        executor.start(order, directory)
        try:
            return await asyncio.shield(ending)
        except asyncio.CancelledError:
            executor.stop(order.attempt)
            return await ending
        finally:
            del self._carried_by[order.attempt]

    def _ended(self, attempt: int, ending: Ending) -> None:
        self._carried_by[attempt][1].set_result(ending)

    async def _judged(self, order: StartAttempt, directory: Path, up: RunningWorker) -> Ending:
        """Rerank (`args.documents` by the prompt) or classify (the prompt, or `args.input`)."""
        import httpx

        args = order.task.args or {}
        path, field = ("rerank", "query") if up.task_of[args["model"]] == "rerank" else ("classify", "input")
        where = f"{up.url}/{path}"
        headers = {"authorization": f"Bearer {self._token}"} if self._token else {}
        try:
            async with httpx.AsyncClient(timeout=order.task.timeout or JUDGE_WITHIN_S, headers=headers) as http:
                answer = await http.post(where, json={field: order.task.prompt, **args})
        except httpx.HTTPError as error:
            return unreachable(error, where)
        if answer.status_code != 200:
            key_env = self._settings.api_key_env
            return classify(answer.status_code, answer.headers, _decoded(answer.content), where=where, key_env=key_env)
        body = answer.json()
        result = keep_result(json.dumps(body.get("results", body.get("data"))), directory, "result.json", always=True)
        ending = Ending(EndingKind.DONE, tokens_in=tokens_of(body.get("usage"))[0], result=result)
        return await self._steps.checked(ending, order, directory, directory.absolute() / "result.json")  # noqa: ASYNC240


def _hopeless(detail: str) -> Ending:
    return Ending(EndingKind.FAILED, detail, permanent=True)


def _decoded(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return content.decode(errors="replace")
