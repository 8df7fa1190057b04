"""What a dispatcher finds after another one died: processes that it cannot kill, and a clock that was set back."""

import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from manyhands.assembly import open_session
from manyhands.core import events as ev
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import Host, ProcessHandle, Width
from manyhands.core.values.task import NO_CLAIMS, Task
from manyhands.engine.clock import Clock
from manyhands.engine.session import Surroundings, dispatching_on
from manyhands.engine.store.memory_store import MemoryStore
from manyhands.engine.store.sqlite.sqlite_store import open_journal, open_reader
from manyhands.sources.config.config_reading import load_config

HOSTS = (Host("local", width=Width(1, 1, 1)),)
TASK = Task("a", kind="shell", run=("true",), claims=NO_CLAIMS)


def left_behind() -> MemoryStore:
    """The journal of a leader that died with one attempt in flight."""
    store = MemoryStore()
    with closing(store.open_journal()) as journal:
        journal.append(
            [
                ev.HostsConfigured(1.0, HOSTS),
                ev.RunOpened(1.0, "r"),
                ev.TasksSubmitted(1.0, "r", (TASK,)),
                ev.AttemptStarted(1.0, 1, "r", "a", "local"),
                ev.AttemptSpawned(1.0, 1, ProcessHandle(7, 0.5, "another machine")),
            ]
        )
    return store


@pytest.mark.parametrize(
    ("strangers_s", "is_here", "is_lost"), [(3600.0, False, False), (3600.0, True, True), (0.0, False, True)]
)
async def test_an_attempt_on_another_machine_is_lost_only_when_it_is_surely_dead(
    tmp_path: Path, strangers_s: float, is_here: bool, is_lost: bool
) -> None:
    async def reclaimed(processes: object) -> None: ...

    surroundings = Surroundings(reclaim=reclaimed, is_here=lambda process: is_here)
    with closing(left_behind().open_journal()) as journal:
        journal.strangers_s = strangers_s
        configured = ev.HostsConfigured(0.0, HOSTS)
        async with dispatching_on(
            journal, tmp_path, configured, lambda *_: {}, all_runs_go_on=False, surroundings=surroundings
        ) as dispatcher:
            ended = (dispatcher.book.runs["r"].records["a"].history or [])[0].ending
            assert (ended is not None and ended.kind is EndingKind.LOST) == is_lost


async def test_nothing_that_a_dead_dispatcher_left_lives_when_its_claims_are_free(tmp_path: Path) -> None:
    store, reclaimed = left_behind(), []

    async def reclaim(processes: Iterable[tuple[ProcessHandle, str]]) -> None:
        events = [event for _, event in store.open_reader().read()]
        assert not any(isinstance(event, ev.AttemptEnded) for event in events), "its claims are free already"
        reclaimed.extend(process for process, _ in processes)

    with closing(store.open_journal()) as journal:
        configured, surroundings = ev.HostsConfigured(0.0, HOSTS), Surroundings(reclaim=reclaim)
        async with dispatching_on(
            journal, tmp_path, configured, lambda *_: {}, all_runs_go_on=False, surroundings=surroundings
        ) as dispatcher:
            assert reclaimed == [ProcessHandle(7, 0.5, "another machine")]
            assert not dispatcher.book.running


async def test_the_journal_never_goes_back_in_time_over_a_restart(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "manyhands.toml").write_text('[hosts.local]\ntype = "shell"\n')
    config = load_config(tmp_path, environ={})
    ahead = time.time() + 7200
    with closing(open_journal(config.store_directory)) as journal:
        journal.append([ev.RunOpened(ahead, "r")])
    async with open_session(config) as dispatcher:
        await dispatcher.submit(ev.RunDrained(dispatcher.clock.now(), "r"))
    with closing(open_reader(config.store_directory)) as reader:
        times = [event.at for _, event in reader.read()]
    assert times == sorted(times)
    assert times[-1] >= ahead
    assert any("ahead of this machine's clock" in line for line in caplog.messages)


def test_a_clock_goes_on_from_the_later_of_the_two() -> None:
    assert Clock(100.0, wall=lambda: 50.0, steady=lambda: 7.0).now() == 100.0
    assert Clock(50.0, wall=lambda: 100.0, steady=lambda: 7.0).now() == 100.0
