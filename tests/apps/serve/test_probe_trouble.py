"""A probe that cannot read its host is told: in the log whenever that changes, and by `manyhands host`."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from surfaces.cli.console import Console

#: A card behind a program: it fails until it is there, and says each time that it was asked.
PROGRAM = "#!/bin/sh\necho x >> asked\n[ -e card ] && cat card\n"


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes every connection and never answers, so that a task stays in flight."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


@pytest.mark.slow
def test_trouble_is_told_once_for_each_change(console: Console, silent: str) -> None:
    console.config(f'[hosts.box]\ntype = "openai"\nurl = "{silent}"\nmodel = "m"\nprobe = {{ run = ["./smi"] }}\n')
    console.write("plan.jsonl", json.dumps({"id": "t", "prompt": "hello", "claims": {}}) + "\n")
    live = console.start("serve", "--plan", "plan.jsonl", "--port", "0")
    live.wait_for("action=probe")
    assert "cannot be started" in _told(live.err)[0]
    assert "probe: `./smi` cannot be started" in console.run("host").out
    console.write("smi", PROGRAM).chmod(0o755)
    live.wait_until(lambda: _times(console.directory) >= 3, "three readings")
    assert "failed with exit 1" in console.run("host", "-o", "json").json[0]["probe_trouble"]
    console.write("card.new", "6000, 8192, 50\n").rename(console.directory / "card")
    live.wait_for("it answers again")
    assert "probe:" not in console.run("host").out
    live.process.terminate()
    live.end()
    assert [("cannot be" in line, "exit 1" in line, "again" in line) for line in _told(live.err)] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]


def _told(log: str) -> list[str]:
    return [line for line in log.splitlines() if "action=probe" in line]


def _times(directory: Path) -> int:
    file = directory / "asked"
    return len(file.read_text().split()) if file.exists() else 0
