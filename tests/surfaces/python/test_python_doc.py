"""Every example of docs/python.md runs as a program of its own, against a model server on loopback."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

DOC = Path(__file__).parents[3] / "docs" / "python.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", DOC.read_text(), re.MULTILINE | re.DOTALL)
PRINTED = [
    "['Rome', 'Rome', 'Rome']",
    "['Rome', 'Rome', 'Rome']",
    "[2, 4] 1",
    "[{'letters': 5}, {'letters': 4}, {'letters': 4}]",
    "['hello', 'world']",
]


class SaysRome(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Rome"}}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), SaysRome)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def test_there_is_an_answer_for_every_example() -> None:
    assert len(EXAMPLES) == len(PRINTED)


@pytest.mark.parametrize(("code", "printed"), [*zip(EXAMPLES, PRINTED, strict=False)], ids=range(len(EXAMPLES)))
def test_an_example_prints_what_it_should(code: str, printed: str, model_url: str, tmp_path: Path) -> None:
    env = {**os.environ, "OPENAI_BASE_URL": model_url, "OPENAI_API_KEY": "none"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.strip() == printed, done.stderr
