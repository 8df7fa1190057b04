"""The live loop on real commands: what it acknowledges is on disk, and its journal replays to its state."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from manyhands.assembly import open_session
from manyhands.core import snapshot
from manyhands.core.commands import StartAttempt
from manyhands.core.events import (
    AnyEvent,
    AttemptEnded,
    CancelAsked,
    DeferAsked,
    ResumeAsked,
    RetryAsked,
    RunResumed,
)
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.host import Host, Width
from manyhands.core.values.task import NO_CLAIMS, Claims, Task, TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.recovery import rebuild
from manyhands.engine.run_opening import opening
from manyhands.engine.session import dispatching
from manyhands.engine.store.sqlite.sqlite_store import open_journal, open_reader, open_requests
from manyhands.errors import StoreBroken
from manyhands.hosts.executors.executor import Ended
from manyhands.sources.config.config_reading import load_config

CONFIG = """
[hosts.pinned]
type = "shell"
kinds = ["shell"]
width = 3
[hosts.adaptive]
type = "shell"
kinds = ["shell", "free"]
[hosts.functions]
type = "python"
kinds = ["python"]
width = 2
[[rules]]
kind = "free"
after = "python"
left = 1
[store]
durability = "crash"
"""


def shell(id: str, script: str, **fields: object) -> Task:
    return Task(id, **{"kind": "shell", "run": ("sh", "-c", script), "claims": NO_CLAIMS, **fields})  # type: ignore[arg-type]


def mixed_tasks() -> list[Task]:
    return [
        *(shell(f"good-{n}", "exit 0") for n in range(6)),
        *(shell(f"writer-{n}", "exit 0", claims=Claims(write=("src/**",))) for n in range(3)),
        *(shell(f"free-{n}", "exit 0", kind="free") for n in range(3)),
        shell("flaky", "[ $MANYHANDS_ATTEMPT_NUMBER = 2 ]"),
        shell("bad", "echo no; exit 3", attempts=1),
        shell("skipped", "exit 0", needs=("bad",)),
        shell("slow", "sleep 1000", timeout=0.3, attempts=1),
        shell("stuck", "sleep 1000"),
        shell("put-off", "exit 0", deferred=True),
        *(Task(f"call-{n}", kind="python", call="asyncio:sleep", args={"delay": 0.01}) for n in range(4)),
    ]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "manyhands.toml").write_text(CONFIG)
    return tmp_path


def replayed(directory: Path) -> bytes:
    """The state that the events alone lead to, whatever snapshots there are."""
    scheduler = Scheduler()
    with closing(open_reader(directory)) as reader:
        scheduler.replay(event for _, event in reader.read())
    return snapshot.save(scheduler)


def reopened(directory: Path) -> bytes:
    scheduler = Scheduler()
    with closing(open_reader(directory)) as reader:
        rebuild(reader, scheduler)
    return snapshot.save(scheduler)


async def state_of(dispatcher: Dispatcher, run: str, task: str, state: TaskState) -> None:
    async with asyncio.timeout(90):
        while dispatcher.book.runs[run].records[task].state is not state:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def live_through(dispatcher: Dispatcher) -> None:
    """Failures, retries, a time-out, a cancel, a deferral: to the end of the run, and once more after it."""
    await dispatcher.submit(*opening("r", dispatcher.clock.now(), mixed_tasks(), concurrency=4))
    await state_of(dispatcher, "r", "stuck", TaskState.RUNNING)
    now = dispatcher.clock.now()
    await dispatcher.submit(CancelAsked(now, "r", "stuck"), ResumeAsked(now, "r", "put-off"))
    await dispatcher.wait_settled("r")
    now = dispatcher.clock.now()
    await dispatcher.submit(RetryAsked(now, "r", "bad"), DeferAsked(now, "r", "skipped"))
    await dispatcher.wait_settled("r")
    states = {id: str(record.state) for id, record in dispatcher.book.runs["r"].records.items()}
    expected = {"bad": "failed", "skipped": "skipped", "slow": "failed", "stuck": "cancelled"}
    assert states == dict.fromkeys(states, "done") | expected


async def test_the_journal_of_a_live_run_replays_to_the_same_bytes(workspace: Path) -> None:
    config = load_config(workspace)
    async with open_session(config) as dispatcher:
        await live_through(dispatcher)
        live = snapshot.save(dispatcher.scheduler)
    assert replayed(config.store_directory) == live
    assert reopened(config.store_directory) == live


async def test_a_journal_of_several_sessions_with_a_snapshot_between_replays_to_the_same_bytes(workspace: Path) -> None:
    config = load_config(workspace)
    async with open_session(config) as dispatcher:
        tasks = [shell("left", "sleep 1000"), *mixed_tasks()[:4]]
        await dispatcher.submit(*opening("s", dispatcher.clock.now(), tasks))
        await state_of(dispatcher, "s", "left", TaskState.RUNNING)
    with closing(open_journal(config.store_directory)) as journal:
        scheduler = Scheduler()
        rebuild(journal, scheduler)
        journal.save_snapshot(journal.last, snapshot.save(scheduler))
    async with open_session(config) as dispatcher:
        await live_through(dispatcher)
        run = dispatcher.book.runs["s"]
        assert run.counts[TaskState.RUNNING] == 0, "a run nobody asked for stays where it was"
        await dispatcher.submit(RunResumed(dispatcher.clock.now(), run.name))
        await state_of(dispatcher, "s", "left", TaskState.RUNNING)
        await dispatcher.submit(CancelAsked(dispatcher.clock.now(), "s"))
        await dispatcher.wait_settled("s")
        live = snapshot.save(dispatcher.scheduler)
    assert replayed(config.store_directory) == live
    assert reopened(config.store_directory) == live


async def test_what_is_acknowledged_is_on_disk_and_watchers_are_told_after_it_is(workspace: Path) -> None:
    config = load_config(workspace)

    def on_disk() -> list[AnyEvent]:
        with closing(open_reader(config.store_directory)) as reader:
            return [event for _, event in reader.read()]

    async with open_session(config) as dispatcher:
        told: list[AnyEvent] = []

        def recorded(batch: Sequence[AnyEvent]) -> None:
            told.extend(batch)
            assert on_disk()[-len(batch) :] == list(batch)

        before = len(on_disk())
        dispatcher.recorded.append(recorded)
        events = list(opening("r", dispatcher.clock.now(), [shell("a", "exit 0"), shell("b", "exit 1", attempts=1)]))
        await dispatcher.submit(*events)
        assert on_disk()[before : before + len(events)] == events
        await dispatcher.wait_settled("r")
        assert told == on_disk()[before:]
        assert [event.ending.kind for event in told if isinstance(event, AttemptEnded)].count("failed") == 1


async def test_a_request_left_before_the_start_is_answered_once(workspace: Path) -> None:
    config = load_config(workspace)
    async with open_session(config) as dispatcher:
        await dispatcher.submit(*opening("r", dispatcher.clock.now(), [shell("a", "exit 1", attempts=1)]))
        await dispatcher.wait_settled("r")
    with closing(open_requests(config.store_directory)) as requests:
        requests.ask(RetryAsked(0.0, "r", "a"))
    for _ in range(2):
        async with open_session(config) as dispatcher:
            run = dispatcher.book.runs["r"]
            await dispatcher.submit(RunResumed(dispatcher.clock.now(), run.name))
            await dispatcher.wait_settled("r")
            assert len(run.records["a"].history or ()) == 2
    with closing(open_reader(config.store_directory)) as reader:
        asked = [event for _, event in reader.read() if isinstance(event, RetryAsked)]
        assert (len(asked), reader.requests()) == (1, [])
    assert asked[0].at > 0.0, "it happened when it was answered"


async def test_an_error_of_the_journal_reaches_all_who_wait_and_stops_what_runs(workspace: Path) -> None:
    config = load_config(workspace)
    async with open_session(config) as dispatcher:
        tasks = [shell("held", "sleep 1000"), shell("next", "exit 0")]
        await dispatcher.submit(*opening("r", dispatcher.clock.now(), tasks))
        waiting = asyncio.create_task(dispatcher.wait_settled("r"))
        await state_of(dispatcher, "r", "next", TaskState.DONE)
        await dispatcher.submit()
        with closing(open_reader(config.store_directory)) as reader:
            acknowledged = [event for _, event in reader.read()]
        _make_unwritable(config.store_directory / "journal.db")
        with pytest.raises(StoreBroken, match="no room"):
            await dispatcher.submit(CancelAsked(dispatcher.clock.now(), "r", "held"))
        with pytest.raises(StoreBroken, match="no room"):
            await waiting
        with pytest.raises(StoreBroken, match="no room"):
            await dispatcher.submit()
        process = next(iter(dispatcher.book.running.values())).process
    assert process is not None
    assert not psutil.pid_exists(process.pid)
    with closing(open_reader(config.store_directory)) as reader:
        assert [event for _, event in reader.read()] == acknowledged


async def test_a_cancel_that_was_acknowledged_before_a_crash_is_a_cancel_after_it(workspace: Path) -> None:
    """The task that it needs was being stopped when the dispatcher died: its ending comes after the request."""
    config = load_config(workspace)
    async with open_session(config) as dispatcher:
        tasks = [
            shell("stubborn", "trap '' TERM; while :; do sleep 0.1; done"),
            shell("next", "true", needs=("stubborn",)),
        ]
        await dispatcher.submit(*opening("r", dispatcher.clock.now(), tasks))
        await state_of(dispatcher, "r", "stubborn", TaskState.RUNNING)
        await dispatcher.submit(CancelAsked(dispatcher.clock.now(), "r", "stubborn"))
        assert dispatcher.book.runs["r"].records["stubborn"].state is TaskState.RUNNING, "it is still being stopped"
    with closing(open_requests(config.store_directory)) as requests:
        requests.ask(CancelAsked(0.0, "r", "next"))
    async with open_session(config) as dispatcher:
        await dispatcher.submit()
        states = {id: str(record.state) for id, record in dispatcher.book.runs["r"].records.items()}
        assert states == {"stubborn": "cancelled", "next": "cancelled"}


class OddExecutor:
    """Breaks its promises: it raises, or says what no journal can hold."""

    def __init__(self, ended: Ended) -> None:
        self._ended = ended

    def start(self, order: StartAttempt, directory: str) -> None:
        match order.task.id:
            case "raises":
                raise RuntimeError("odd")
            case "odd-text":
                self._ended(order.attempt, Ending(EndingKind.DONE, "\ud800"))
            case _:
                self._ended(order.attempt, DONE)

    def release(self, attempt: int) -> None: ...

    def stop(self, attempt: int) -> None: ...

    async def close(self) -> None: ...


async def test_a_task_on_which_the_dispatcher_fails_is_set_aside_after_the_second_time(tmp_path: Path) -> None:
    tasks = [Task(id, run=("true",), claims=NO_CLAIMS, attempts=5) for id in ("raises", "odd-text", "sound")]
    executors = lambda identity, spawned, ended, showed, retried, asked: {"odd": OddExecutor(ended)}  # noqa: E731
    hosts = (Host("odd", takes=("run",), width=Width(start=3, max=3)),)
    async with dispatching(tmp_path, "crash", hosts, (), executors) as dispatcher:
        await dispatcher.submit(*opening("r", dispatcher.clock.now(), tasks))
        await dispatcher.wait_settled("r")
        records = dispatcher.book.runs["r"].records
        assert [str(record.state) for record in records.values()] == ["needs_person", "needs_person", "done"]
        for id, why in (
            ("raises", "could not start it: RuntimeError: odd"),
            ("odd-text", "could not record its ending"),
        ):
            ending = records[id].last_ending
            assert ending is not None
            assert why in ending.detail
            assert (len(records[id].history or ()), ending.needs_person) == (2, True)


def _make_unwritable(file: Path) -> None:
    """From now on every insertion is refused by the database itself."""
    with closing(sqlite3.connect(file)) as connection:
        refuse = "CREATE TRIGGER full BEFORE INSERT ON batch BEGIN SELECT RAISE(ABORT, 'no room'); END"
        connection.execute(refuse)
        connection.commit()
