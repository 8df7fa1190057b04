"""A directory of its own in which `manyhands` is typed, as a real process, and what came of it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from manyhands.core.book import Book
from manyhands.surfaces.verbs.store_view import open_book

#: Longer than anything here takes on a loaded machine: a hang fails instead of hanging.
PATIENCE_S = 180.0


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def ids(self) -> list[str]:
        return self.out.splitlines()


def wait_until(condition: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    deadline = time.monotonic() + patience_s
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {patience_s:g} s for {what}"
        time.sleep(0.01)
    return found


class Live:
    """A running `manyhands`. Its messages go to a file, so that they can be read while it runs."""

    def __init__(self, process: subprocess.Popen[bytes], out: Path, err: Path) -> None:
        self.process = process
        self._out, self._err = out, err

    @property
    def err(self) -> str:
        return self._err.read_text()

    def wait_for(self, text: str) -> None:
        self.wait_until(lambda: text in self.err, f"`{text}`")

    def wait_until(self, condition: Callable[[], Any], what: str) -> None:
        """Waits only while it runs: what a dead process would have done never comes."""
        wait_until(lambda: condition() or self.process.poll() is not None, what)
        assert condition(), f"it ended without {what}: {self.err}"

    def interrupt(self) -> None:
        """Ctrl-C, as a terminal sends it: to the whole process group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> Done:
        code = self.process.wait(PATIENCE_S)
        return Done(code, self._out.read_text(), self.err)


class Console:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.env = {**os.environ, "COLUMNS": "100"}
        self._started: list[subprocess.Popen[bytes]] = []

    @property
    def store(self) -> Path:
        return self.directory / ".manyhands"

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.directory / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def config(self, text: str) -> None:
        self.write("manyhands.toml", text)

    def plan(self, tasks: Iterable[dict[str, Any]], name: str = "plan.jsonl") -> None:
        """Tasks that claim nothing unless they say so."""
        self.write(name, "".join(json.dumps({"claims": {}, **task}) + "\n" for task in tasks))

    def run(self, *arguments: str, **env: str) -> Done:
        return self._finish(argv(arguments), env)

    def python(self, script: str, **env: str) -> Done:
        """Several commands in one process, where starting one for each would take most of the time."""
        return self._finish([sys.executable, "-c", script], env)

    def _finish(self, command: list[str], env: dict[str, str]) -> Done:
        done = subprocess.run(
            command,
            cwd=self.directory,
            env={**self.env, **env},
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *arguments: str, **env: str) -> Live:
        place = self.directory / f"console-{len(self._started)}"
        place.mkdir()
        with (place / "out").open("wb") as out, (place / "err").open("wb") as err:
            process = subprocess.Popen(
                argv(arguments),
                cwd=self.directory,
                env={**self.env, **env},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        self._started.append(process)
        return Live(process, place / "out", place / "err")

    def book(self) -> Book:
        """What the journal says, for looking at many things without a process for each."""
        return open_book(self.store)

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.terminate()
                process.wait(PATIENCE_S)


def argv(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "manyhands", *arguments]


def sh(id: str, script: str, *arguments: str, **fields: Any) -> dict[str, Any]:
    """A task that runs a line of shell."""
    return {"id": id, "kind": "shell", "run": ["sh", "-c", script, *arguments], **fields}


def shell_host(width: int, name: str = "local", **fields: Any) -> str:
    lines = [f"[hosts.{name}]", 'type = "shell"', f"width = {width}"]
    lines += [f"{field} = {json.dumps(value)}" for field, value in fields.items()]
    return "\n".join(lines) + "\n"


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    console = Console(tmp_path)
    yield console
    console.close()
