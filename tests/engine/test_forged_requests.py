"""What a submitter may not ask for is set aside and named: it frees no claims, and ends no dispatcher."""

import asyncio
import logging
import math
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from manyhands.assembly import open_session
from manyhands.core import events as ev
from manyhands.core.values.ending import DONE
from manyhands.core.values.host import ProcessHandle
from manyhands.core.values.provenance import Origin, Purpose
from manyhands.core.values.task import NO_CLAIMS, Claims, Task, TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import opening
from manyhands.engine.store.contract import codec
from manyhands.engine.store.sqlite.sqlite_store import open_reader, open_requests
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.verbs.store_view import open_book

FORGED: dict[str, ev.AnyEvent] = {
    "an ending": ev.AttemptEnded(0.0, 1, DONE),
    "a start": ev.AttemptStarted(0.0, 7, "nobody", "nothing", "nowhere"),
    "a process": ev.AttemptSpawned(0.0, 1, ProcessHandle(1, 0.0)),
    "hosts": ev.HostsConfigured(0.0, ()),
    "a decision": ev.RetryDecided(0.0, "r", "held", 0.0),
    "an unknown run": ev.TasksSubmitted(0.0, "nobody", (Task("x", run=("true",)),)),
    "a step of a family": ev.TasksSubmitted(0.0, "r", (Task("x", run=("true",)),), Origin.STEP),
    "a bad id": ev.TasksSubmitted(0.0, "r", (Task("../../x", run=("true",)),), Origin.HAND),
    "a bad field": ev.TasksSubmitted(0.0, "r", (Task("x", run=("true",), attempts=0),), Origin.HAND),
    "a run of an eval": ev.RunOpened(0.0, "e-1", purpose=Purpose.TRIAL),
    "a run outside": ev.RunOpened(0.0, "../../r", purpose=Purpose.HAND),
    "a bound": ev.RunResumed(0.0, "r", concurrency=0),
    "a weight": ev.RunResumed(0.0, "r", weight=math.nan),
    "a width": ev.WidthSet(0.0, "local", -1),
    "a pause": ev.HostPaused(0.0, "local", until=math.nan),
    "a time": ev.CancelAsked(math.inf, "r"),
    "an end": ev.RunNoted(0.0, "r", {}, ends=True),
}

#: Rows that another program wrote, each with a checksum that is right.
UNREADABLE: dict[str, bytes] = {
    "nothing": b"",
    "no event": msgspec.msgpack.encode([]),
    "an unknown event": msgspec.msgpack.encode([{"type": "unheard-of", "at": 0.0}]),
    "nested": msgspec.msgpack.encode([{"type": "cancel", "at": 0.0, "run": "r", "unheard-of": "AAAA"}]).replace(
        b"\xa4AAAA", b"\x91" * 200_000 + b"\xc0"
    ),
    "invalid UTF-8": codec.encode([ev.CancelAsked(0.0, "r", "AAAA")]).replace(b"AAAA", b"\xff\xfe\xfd\xfc"),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "manyhands.toml").write_text(
        '[hosts.local]\ntype = "shell"\nwidth = 2\n[store]\ndurability = "crash"\n'
    )
    return tmp_path


async def is_sound(dispatcher: Dispatcher) -> bool:
    """It works on, and the attempt that runs has its claims."""
    await dispatcher.submit()
    record = dispatcher.book.runs["r"].records["held"]
    return record.state is TaskState.RUNNING and not dispatcher.book.runs["r"].draining


def held() -> list[Task]:
    return [Task("held", kind="shell", run=("sleep", "1000"), claims=Claims(write=("src/**",)))]


@pytest.mark.parametrize("what", FORGED)
async def test_what_cannot_be_asked_for_is_set_aside_and_named(
    workspace: Path, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = load_config(workspace).store_directory
    async with open_session(load_config(workspace)) as dispatcher:
        await dispatcher.submit(*opening("r", dispatcher.clock.now(), held()))
        while dispatcher.book.runs["r"].records["held"].state is not TaskState.RUNNING:
            await dispatcher.submit()
        before = dispatcher.last
        with caplog.at_level(logging.WARNING), closing(open_requests(store)) as requests:
            number = requests.ask(FORGED[what])
            async with asyncio.timeout(90):
                while not any(f"request {number} is set aside" in line for line in caplog.messages):
                    await dispatcher.submit()
        assert await is_sound(dispatcher)
        with closing(open_reader(store)) as reader:
            assert reader.requests() == []
            assert FORGED[what] not in [msgspec.structs.replace(event, at=0.0) for _, event in reader.read(before)]


async def test_a_forged_request_does_not_end_the_next_dispatcher_or_a_view(workspace: Path) -> None:
    config = load_config(workspace)
    async with open_session(config) as dispatcher:
        tasks = [Task("a", kind="shell", run=("true",), claims=NO_CLAIMS)]
        await dispatcher.submit(*opening("r", dispatcher.clock.now(), tasks))
        await dispatcher.wait_settled("r")
    with closing(open_requests(config.store_directory)) as requests:
        for event in FORGED.values():
            requests.ask(event)
        requests.ask(ev.RunOpened(0.0, "mine", purpose=Purpose.HAND))
        requests.ask(ev.TasksSubmitted(0.0, "mine", (Task("b", run=("true",), kind="shell"),), Origin.HAND))
    with closing(sqlite3.connect(config.store_directory / "journal.db")) as connection:  # as any program can
        for body in UNREADABLE.values():
            row = codec.checksum(body, 0), body
            connection.execute("INSERT INTO request (crc, body) VALUES (?, ?)", row)
        connection.commit()
    assert [*open_book(config.store_directory).runs["mine"].records] == ["b"]
    async with open_session(config) as dispatcher:
        await dispatcher.submit()
        assert [*dispatcher.book.runs] == ["r", "mine"]
        with closing(open_reader(config.store_directory)) as reader:
            assert reader.requests() == []
