"""`manyhands doctor` reads each probe once: it shows what it read, or says what is in the way."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from surfaces.cli.console import Console, wait_until

GB = 10**9


class Box(BaseHTTPRequestHandler):
    """An Ollama server with one model, a part of which is in main memory."""

    def do_GET(self) -> None:
        loaded = {"name": "qwen3:4b", "size": 6 * GB, "size_vram": 4.5 * GB, "context_length": 8192}
        loaded["size_vram"] = int(4.5 * GB)
        pages = {
            "/v1/models": {"data": [{"id": "qwen3:4b"}]},
            "/api/ps": {"models": [loaded]},
        }
        raw = json.dumps(pages[self.path]).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def ollama() -> Iterator[str]:
    served = ThreadingHTTPServer(("127.0.0.1", 0), Box)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{served.server_address[1]}/v1"
    served.shutdown()
    served.server_close()


def _config(url: str, probe: str) -> str:
    return f'[hosts.box]\ntype = "openai"\nurl = "{url}"\nmodel = "qwen3:4b"\nprobe = {probe}\n'


def test_the_models_of_an_ollama_server_are_shown_with_their_memory(console: Console, ollama: str) -> None:
    console.config(_config(ollama, '"ollama"') + "memory_gb = 8\n")
    told = console.run("doctor")
    assert told.code == 0, told.out
    said = "probe of box: qwen3:4b, 6 GB, 4.5 GB of it on the device, context 8,192"
    assert said in told.out


def test_more_memory_used_than_the_config_says_there_is_is_wrong(console: Console, ollama: str) -> None:
    console.config(_config(ollama, '"ollama"') + "memory_gb = 4\n")
    told = console.run("doctor")
    assert told.code == 1
    assert "WRONG probe of box: its models take 4.5 GB of a device of 4 GB" in told.out
    assert "correct `memory_gb`" in told.out


@pytest.mark.parametrize(
    ("probe", "says"),
    [
        ('{ run = ["no-such"] }', "`no-such` cannot be started"),
        ('{ run = ["false"] }', "`false` failed with exit 1"),
        ('{ run = ["echo", "9000, 8192, 50"] }', "9,000 MiB used of 8,192 MiB"),
        ('{ run = ["echo", "hello"] }', "no memory in its answer"),
    ],
)
def test_a_probe_that_reads_nothing_is_wrong(console: Console, ollama: str, probe: str, says: str) -> None:
    console.config(_config(ollama, probe))
    told = console.run("doctor")
    assert told.code == 1
    assert f"WRONG probe of box: {says}" in told.out.replace("impossible answer: ", "")


def test_a_command_that_takes_longer_than_a_reading_is_waited_for(console: Console, ollama: str) -> None:
    console.config(_config(ollama, """{ run = ["sh", "-c", "sleep 2; echo '6000, 8192, 50'"] }"""))
    told = console.run("doctor")
    assert told.code == 0, told.out
    assert "probe of box: 6.29 of 8.59 GB used, 50% busy" in told.out


def test_a_token_that_the_other_side_does_not_take_is_wrong(console: Console, ollama: str) -> None:
    live = console.start("probe", "--serve", "--port", "0", "--token-env", "PROBE_TOKEN", PROBE_TOKEN="right")
    out = console.directory / "console-0" / "out"
    url = wait_until(lambda: "\n" in out.read_text() and out.read_text().split()[0], "its address")
    console.config(_config(ollama, f'{{ url = "{url}", token_env = "PROBE_TOKEN" }}'))
    assert console.run("doctor", PROBE_TOKEN="right").code == 0
    for token in ("wrong", ""):
        told = console.run("doctor", PROBE_TOKEN=token)
        assert told.code == 1
        assert "answered with status 401" in told.out or "PROBE_TOKEN is not set" in told.out
        assert "`PROBE_TOKEN`" in told.out or "export PROBE_TOKEN" in told.out
    live.process.terminate()
    live.end()
