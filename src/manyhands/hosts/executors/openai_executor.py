"""Model calls: chat and embeddings on any server that speaks OpenAI's protocol, through its own client.

The client's retries are off, because the scheduler decides from the ending when to try again.
"""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import msgspec

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.attempt_steps import AttemptSteps, ProcessSettings
from manyhands.hosts.executors.executor import Ended, ProcessSpawned, Showed
from manyhands.hosts.executors.in_flight import InFlight
from manyhands.hosts.executors.openai_answer import (
    ModelAnswer,
    NotAnAnswer,
    chat_answer,
    embeddings_answer,
    judged,
    tokens_of,
)
from manyhands.hosts.executors.openai_errors import (
    budget_of,
    classify,
    classify_embedded,
    is_unknown_model,
    unreachable,
)
from manyhands.hosts.executors.openai_request import NothingToSend, chat_request, embeddings_request
from manyhands.hosts.executors.output_text import ANSWER_FILE, keep_result

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_CONNECT_S = 10.0
#: Of the models that a server has, so many are named.
_NAMED_MAX = 10
# Sent to a server that needs no key, because the client requires one.
_NO_KEY = "none"


class OpenAISettings(ProcessSettings, frozen=True, kw_only=True):
    """What an openai host is built from."""

    url: str
    model: str = ""
    api: Literal["chat", "embeddings"] = "chat"
    api_key_env: str = ""  # the environment variable that holds the key; "": the server needs no key
    system: str = ""
    stream: bool = False  # read answers as they are produced, which also measures the time to the first token
    timeout_s: float = 600.0  # for tasks without their own time-out


class OpenAIExecutor:
    def __init__(
        self, settings: OpenAISettings, spawned: ProcessSpawned, ended: Ended, showed: Showed = lambda attempt: None
    ) -> None:
        self._settings = settings
        self._showed = showed
        self._steps = AttemptSteps(settings, spawned)
        self._in_flight = InFlight(ended, settings.grace_s)
        self._client: AsyncOpenAI | None = None
        self._loading: asyncio.Task[Any] | None = None
        self._key = os.environ.get(settings.api_key_env, "").strip() if settings.api_key_env else _NO_KEY
        parts = urlsplit(settings.url)
        self._where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def start(self, order: StartAttempt, directory: str) -> None:
        self._in_flight.start(order.attempt, self._carry(order, Path(directory)))

    def release(self, attempt: int) -> None:
        self._steps.release(attempt)

    def stop(self, attempt: int) -> None:
        self._in_flight.stop(attempt)

    async def close(self) -> None:
        await self._in_flight.close()
        if self._client is not None:
            await self._client.close()

    async def _carry(self, order: StartAttempt, directory: Path) -> Ending:
        if not self._key:
            name = self._settings.api_key_env
            detail = f"the environment variable {name} is not set; it holds the key of host `{order.host}`"
            return Ending(EndingKind.OVERLOADED, detail, needs_person=True)
        try:
            answer = await self._answer(order)
        except NothingToSend:
            return _hopeless(f"task `{order.task.id}` has no `prompt`, which model host `{order.host}` needs")
        except NotAnAnswer as error:
            ending = classify_embedded(error.error, where=self._where, key_env=self._settings.api_key_env)
            return self._without_key(ending)
        except Exception as error:
            return self._without_key(await self._with_models(self._ending_of(error), error))
        ending = judged(answer)
        name = "result.json" if self._settings.api == "embeddings" else ANSWER_FILE
        result = keep_result(answer.text, directory, name, always=True)
        ending = msgspec.structs.replace(ending, result=result)
        return await self._steps.checked(ending, order, directory, directory.absolute() / name)  # noqa: ASYNC240

    async def _answer(self, order: StartAttempt) -> ModelAnswer:
        settings = self._settings
        if settings.api == "embeddings":
            request = embeddings_request(order, settings.model)
        else:
            request = chat_request(order, settings.model, settings.system)
        client = await self._connected()
        # A task's own time-out stops it. Until then its answer may take any time.
        wait_s = settings.timeout_s if order.task.timeout is None else None
        timeout = _openai().Timeout(wait_s, connect=_CONNECT_S, pool=None)
        if settings.api == "embeddings":
            create: Any = client.embeddings.with_raw_response.create
            body = {name: request.pop(name) for name in ("model", "input")}
            raw = await create(**body, encoding_format="float", extra_body=request, timeout=timeout)
            return embeddings_answer(_decoded(raw.content))._replace(budget=budget_of(raw.headers))
        body = {name: request.pop(name) for name in ("model", "messages")}
        if settings.stream:
            return await self._streamed(order.attempt, client, body, request, timeout)
        create = client.chat.completions.with_raw_response.create
        raw = await create(**body, extra_body=request, timeout=timeout)
        return chat_answer(_decoded(raw.content))._replace(budget=budget_of(raw.headers))

    async def _streamed(self, attempt: int, client: "AsyncOpenAI", body: Any, extra: Any, patience: Any) -> ModelAnswer:
        create: Any = client.chat.completions.create
        began = time.monotonic()
        answer = ModelAnswer("")
        pieces: list[str] = []
        options = {"stream_options": {"include_usage": True}, **extra}
        async with await create(**body, stream=True, extra_body=options, timeout=patience) as chunks:
            headers = chunks.response.headers
            if headers.get("content-type", "").startswith("application/json"):  # a server that does not stream
                return chat_answer(_decoded(await chunks.response.aread()))._replace(budget=budget_of(headers))
            async for chunk in chunks:
                if chunk.usage is not None:
                    tokens_in, tokens_out = tokens_of(chunk.usage.model_dump())
                    answer = answer._replace(tokens_in=tokens_in, tokens_out=tokens_out)
                if not chunk.choices:
                    continue
                choice = chunk.choices[0]
                if choice.delta is not None and choice.delta.content:
                    if not pieces:
                        answer = answer._replace(ttft_s=time.monotonic() - began)
                        self._showed(attempt)
                    pieces.append(choice.delta.content)
                if choice.finish_reason:
                    answer = answer._replace(finish_reason=choice.finish_reason)
        return answer._replace(text="".join(pieces), budget=budget_of(headers))

    async def _connected(self) -> "AsyncOpenAI":
        if self._client is None:
            if self._loading is None:
                self._loading = asyncio.create_task(asyncio.to_thread(_openai))  # the import takes most of a second
            await asyncio.shield(self._loading)
        if self._client is None:
            openai = _openai()
            # Each call has its own connection. Some servers silently close a connection after a streamed answer;
            # the next call on it would look like an overload.
            unkept = type(openai.DEFAULT_CONNECTION_LIMITS)(max_connections=None, max_keepalive_connections=0)
            http = openai.DefaultAsyncHttpxClient(limits=unkept)
            self._client = openai.AsyncOpenAI(
                base_url=self._settings.url, api_key=self._key, max_retries=0, http_client=http
            )
            if not (urlsplit(self._settings.url).hostname or "").endswith("openai.com"):
                # The key comes from the environment and must not appear anywhere else.
                self._client.organization = self._client.project = None
        return self._client

    def _ending_of(self, error: Exception) -> Ending:
        openai = _openai()
        if isinstance(error, openai.APIStatusError):
            return classify(
                error.status_code,
                error.response.headers,
                error.body,
                where=self._where,
                key_env=self._settings.api_key_env,
            )
        if isinstance(error, openai.APIError) and error.body is not None:  # in the middle of a stream
            return classify_embedded(error.body, where=self._where, key_env=self._settings.api_key_env)
        return unreachable(error, self._where)

    async def _with_models(self, ending: Ending, error: Exception) -> Ending:
        """If the server does not know the model, its refusal is told with the models that it has."""
        openai = _openai()
        if not isinstance(error, openai.APIStatusError) or not is_unknown_model(error.status_code, error.body):
            return ending
        try:
            client = await self._connected()
            listed = await client.models.list(timeout=_CONNECT_S)
        except openai.OpenAIError:
            return ending
        names = sorted(model.id for model in listed.data)
        there = (
            f"it has {', '.join(names[:_NAMED_MAX])}{' …' if len(names) > _NAMED_MAX else ''}"
            if names
            else "it has none"
        )
        return msgspec.structs.replace(ending, detail=f"{ending.detail}; {there}: correct the `model` of the host")

    def _without_key(self, ending: Ending) -> Ending:
        if self._key == _NO_KEY or self._key not in ending.detail:
            return ending
        return msgspec.structs.replace(ending, detail=ending.detail.replace(self._key, "…"))


def _hopeless(detail: str) -> Ending:
    return Ending(EndingKind.FAILED, detail, permanent=True)


def _decoded(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return content.decode(errors="replace")


async def load_client() -> None:
    """Import the client before the first attempt. That takes a second, longer on a busy machine.

    Attempts that wait for the import would all leave at once, and the clutch would have taken them for sent: the width
    would have grown on evidence that does not exist.
    """
    await asyncio.to_thread(_openai)


def _openai() -> Any:
    import openai

    return openai
