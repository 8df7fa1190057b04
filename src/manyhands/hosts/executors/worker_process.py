"""The model worker of a host: one that already runs, or a process that we start when it is first needed.

Our process cannot outlive the dispatcher: it ends when our pipe to it closes, however the dispatcher ends.
"""

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from typing import IO, Any

import msgspec
from msgspec import Struct

from manyhands.errors import HostUnreachable
from manyhands.hosts.executors.output_text import last_line

STARTED_WITHIN_S = 120.0
STOPPED_WITHIN_S = 40.0


class WorkerStart(Struct, frozen=True, omit_defaults=True):
    """The one line that a worker writes to the process that started it: where it is, or why it is nowhere."""

    url: str = ""
    error: str = ""


class RunningWorker(Struct, frozen=True):
    url: str  # without /v1
    task_of: dict[str, str]  # model → embed, classify, rerank or generate


class WorkerProcess:
    def __init__(self, url: str, command: Sequence[str], token: str = "") -> None:
        self._url = url.removesuffix("/").removesuffix("/v1")
        self._command = command
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._process: asyncio.subprocess.Process | None = None
        self._log: IO[bytes] | None = None
        self._up: RunningWorker | None = None
        self._lock = asyncio.Lock()

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None and self._process.returncode is None else 0

    async def up(self) -> RunningWorker:
        """Wait until the worker is ready, or raise `HostUnreachable`. A worker that died is started again."""
        async with self._lock:
            if self._up is not None and (not self._command or self.pid):
                return self._up
            url = await self._started() if self._command else self._url
            self._up = RunningWorker(url, await self._tasks(url))
            return self._up

    async def close(self) -> None:
        process, self._process, self._up = self._process, None, None
        if process is not None and process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()
            try:
                async with asyncio.timeout(STOPPED_WITHIN_S):
                    await process.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if self._log is not None:
            self._log.close()

    async def _started(self) -> str:
        if self._log is not None:
            self._log.close()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - it stays open as long as the process runs
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "manyhands",
            "worker",
            *self._command,
            "--port",
            "0",
            "--with-parent",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,  # on Ctrl-C the dispatcher ends it, after its attempts
        )
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(STARTED_WITHIN_S):
                line = await self._process.stdout.readline()
        except TimeoutError:
            line = b""
        said = msgspec.json.decode(line, type=WorkerStart) if line else WorkerStart()
        if not said.url:
            await self._give_up(said.error)
        return said.url

    async def _give_up(self, error: str) -> None:
        assert self._process is not None
        assert self._log is not None
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        self._log.seek(0)
        says = self._log.read().decode(errors="replace")
        raise HostUnreachable(f"the model worker did not start: {error or last_line(says)}")

    async def _tasks(self, url: str) -> dict[str, str]:
        import httpx

        try:
            async with httpx.AsyncClient(timeout=30, headers=self._headers) as http:
                answer = await http.get(f"{url}/v1/models")
                answer.raise_for_status()
                rows: list[dict[str, Any]] = answer.json()["data"]
        except (httpx.HTTPError, ValueError, KeyError) as error:
            raise HostUnreachable(f"no model worker answers at {url}: {error or type(error).__name__}") from None
        return {row["id"]: row.get("task", "generate") for row in rows}


def command_of(config_file: str, only: Sequence[str], threads: int, device: str) -> list[str]:
    """The command line of the worker, as a person would type it."""
    command = ["--config", config_file] if config_file else []
    for name in only:
        command += ["--only", name]
    return [*command, "--threads", str(threads), "--device", device]


def token_in(variable: str) -> str:
    return os.environ.get(variable, "").strip() if variable else ""
