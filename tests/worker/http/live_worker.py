"""A worker in a separate process, as users start it, reached over HTTP. It always ends with the tests."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from llama_server import cached_model

STOPPED_WITHIN_S = 60
ANSWER_WITHIN_S = 120


@dataclass
class Worker:
    url: str
    process: subprocess.Popen[str]
    http: httpx.Client

    def post(self, path: str, body: Any = None, content: bytes | None = None, **headers: str) -> httpx.Response:
        if content is not None:
            return self.http.post(path, content=content, headers=headers)
        return self.http.post(path, json=body, headers=headers)

    def embed(self, *texts: Any, **fields: Any) -> list[dict[str, Any]]:
        answer = self.post("/v1/embeddings", {"model": "minilm", "input": list(texts), **fields})
        assert answer.status_code == 200, answer.text
        rows: list[dict[str, Any]] = answer.json()["data"]
        return rows

    def figure(self, name: str, model: str) -> float:
        for line in self.http.get("/metrics").text.splitlines():
            if line.startswith(f'manyhands_worker_{name}{{model="{model}"}} '):
                return float(line.split()[-1])
        raise AssertionError(f"there is no metric {name} for {model}")


@contextmanager
def at_work(
    models: Sequence[str], directory: Path, *flags: str, env: Mapping[str, str] | None = None, token: str = ""
) -> Iterator[Worker]:
    command = [sys.executable, "-m", "manyhands", "worker", *models, "--port", "0", "--with-parent", *flags]
    with (directory / "worker.log").open("w+") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, cwd=directory, env=env
        )
        try:
            assert process.stdout is not None
            assert process.stdin is not None
            line = process.stdout.readline()
            url = json.loads(line).get("url") if line else None
            if not url:
                process.wait(STOPPED_WITHIN_S)
                log.seek(0)
                raise AssertionError(f"the worker ended with {process.returncode}: {log.read()}")
            headers = {"authorization": f"Bearer {token}"} if token else {}
            with httpx.Client(base_url=url, timeout=ANSWER_WITHIN_S, headers=headers) as http:
                yield Worker(url, process, http)
            process.stdin.close()
            process.wait(STOPPED_WITHIN_S)
        finally:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def worker(minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """MiniLM and a small random generator in one process, on one thread."""
    models = [f"minilm={minilm}", f"random={cached_model()}"]
    with at_work(models, tmp_path_factory.mktemp("worker"), "--threads", "1") as worker:
        yield worker
