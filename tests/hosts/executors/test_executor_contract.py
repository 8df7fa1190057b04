"""What every executor promises (manyhands/hosts/executors/executor.py), held for each with real work."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from hosts.executors.stages import EXECUTORS, WITH_PROCESSES, Stage, raise_stage
from manyhands.core.values.ending import Ending, EndingKind

CHECK_HANGS = ("sh", "-c", 'touch "$1"; exec sleep 1000', "sh")


@pytest.fixture(params=EXECUTORS)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async for raised in _raised(request.param, tmp_path):
        yield raised


@pytest.fixture(params=WITH_PROCESSES)
async def process_stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async for raised in _raised(request.param, tmp_path):
        yield raised


async def _raised(name: str, tmp_path: Path) -> AsyncIterator[Stage]:
    before = _children()
    stage = await raise_stage(name, tmp_path)
    yield stage
    await stage.close()
    attempts = [attempt for attempt, _ in stage.desk.reported]
    assert len(attempts) == len(set(attempts)), "an attempt ended twice"
    assert stage.desk.alive() == []
    assert _children() <= before


def _children() -> set[int]:
    """Our own children only: a database server that other tests share forks its cleaners whenever it likes."""
    return {child.pid for child in psutil.Process().children()}


async def test_what_works_ends_done_once(stage: Stage) -> None:
    ending = await stage.desk.run(stage.works())
    assert ending.kind is EndingKind.DONE


async def test_what_fails_ends_failed_and_says_why(stage: Stage) -> None:
    ending = await stage.desk.run(stage.fails())
    assert ending.kind is EndingKind.FAILED
    assert "broken" in ending.detail
    assert not ending.permanent


async def test_a_task_of_another_form_is_refused_for_good(stage: Stage) -> None:
    ending = await stage.desk.run(stage.misfit())
    assert ending.kind is EndingKind.FAILED
    assert ending.permanent
    assert "`misfit`" in ending.detail


async def test_what_is_stopped_ends_cancelled_and_leaves_nothing(stage: Stage) -> None:
    attempt = stage.desk.start(stage.hangs())
    await stage.desk.until(stage.running)
    stage.desk.executor.stop(attempt)
    assert (await stage.desk.ending(attempt)).kind is EndingKind.CANCELLED
    assert stage.desk.alive() == []


async def test_what_is_stopped_before_it_began_still_ends(stage: Stage) -> None:
    attempt = stage.desk.start(stage.hangs())
    stage.desk.executor.stop(attempt)
    assert (await stage.desk.ending(attempt)).kind is EndingKind.CANCELLED
    assert stage.desk.alive() == []


async def test_stopping_twice_or_after_the_end_or_the_unknown_changes_nothing(stage: Stage) -> None:
    attempt = stage.desk.start(stage.hangs())
    await stage.desk.until(stage.running)
    for _ in range(3):
        stage.desk.executor.stop(attempt)
    await stage.desk.ending(attempt)
    stage.desk.executor.stop(attempt)
    stage.desk.executor.stop(4711)
    stage.desk.executor.release(attempt)
    stage.desk.executor.release(4711)
    assert (await stage.desk.run(stage.works())).kind is EndingKind.DONE
    assert len(stage.desk.endings(attempt)) == 1


async def test_a_check_that_passes_leaves_it_done(stage: Stage) -> None:
    ending = await stage.desk.run(stage.works(check=("sh", "-c", 'test "$MANYHANDS_TASK" = works')))
    assert ending.kind is EndingKind.DONE


async def test_a_check_that_fails_fails_the_attempt_and_shows_its_output(stage: Stage) -> None:
    ending = await stage.desk.run(stage.works(check=("sh", "-c", "echo one; echo 2 tests failed; exit 3")))
    assert ending.kind is EndingKind.FAILED
    assert ending.detail == "check failed (exit 3): 2 tests failed"
    assert ending.tail == "one\n2 tests failed\n"
    assert ending.exit_code == 3


async def test_a_failed_attempt_is_not_checked(stage: Stage) -> None:
    ending = await stage.desk.run(stage.fails(check=("touch", "checked")))
    assert ending.kind is EndingKind.FAILED
    assert not (stage.workspace / "checked").exists()


async def test_a_check_that_cannot_run_fails_for_good(stage: Stage) -> None:
    ending = await stage.desk.run(stage.works(check=("no-such-checker",)))
    assert ending.permanent
    assert ending.detail.startswith("check: command `no-such-checker` not found")
    assert "`check`" in ending.detail


async def test_a_check_waits_at_the_gate_until_it_is_on_record(stage: Stage) -> None:
    own = 1 if stage.name in WITH_PROCESSES else 0
    stage.desk.releases = False
    attempt = stage.desk.start(stage.works(check=("touch", "checked")))
    if own:
        await stage.desk.until_spawned(1)
        stage.desk.executor.release(attempt)
    _, handle = await stage.desk.until_spawned(own + 1)
    assert psutil.pid_exists(handle.pid)
    assert not (stage.workspace / "checked").exists()
    stage.desk.executor.release(attempt)
    assert (await stage.desk.ending(attempt)).kind is EndingKind.DONE
    assert (stage.workspace / "checked").exists()


async def test_a_check_can_be_stopped_at_its_gate(stage: Stage) -> None:
    own = 1 if stage.name in WITH_PROCESSES else 0
    stage.desk.releases = False
    attempt = stage.desk.start(stage.works(check=("touch", "checked")))
    if own:
        await stage.desk.until_spawned(1)
        stage.desk.executor.release(attempt)
    await stage.desk.until_spawned(own + 1)
    stage.desk.executor.stop(attempt)
    assert (await stage.desk.ending(attempt)).kind is EndingKind.CANCELLED
    assert not (stage.workspace / "checked").exists()


async def test_a_check_can_be_stopped_while_it_runs(stage: Stage) -> None:
    flag = stage.workspace / "checking"
    attempt = stage.desk.start(stage.works(check=(*CHECK_HANGS, str(flag))))
    await stage.desk.until(flag.exists)
    stage.desk.executor.stop(attempt)
    assert (await stage.desk.ending(attempt)).kind is EndingKind.CANCELLED
    assert stage.desk.alive() == []


async def test_a_check_is_told_how_the_last_attempt_ended(stage: Stage) -> None:
    told = 'test "$MANYHANDS_ATTEMPT_NUMBER $MANYHANDS_LAST_ENDING $MANYHANDS_LAST_DETAIL" = "2 failed too bad"'
    last = Ending(EndingKind.FAILED, "too bad")
    ending = await stage.desk.run(stage.works(check=("sh", "-c", told)), number=2, last=last)
    assert ending.kind is EndingKind.DONE, ending


async def test_many_at_once_all_end(stage: Stage) -> None:
    attempts = [stage.desk.start(stage.works()) for _ in range(stage.many)]
    endings = [await stage.desk.ending(attempt) for attempt in attempts]
    assert {ending.kind for ending in endings} == {EndingKind.DONE}


async def test_many_at_once_are_all_stopped_by_closing(stage: Stage) -> None:
    attempts = [stage.desk.start(stage.hangs()) for _ in range(stage.many)]
    await stage.desk.until(lambda: stage.running() == stage.many)
    await stage.close()
    assert sorted(attempt for attempt, _ in stage.desk.reported) == attempts
    assert {ending.kind for _, ending in stage.desk.reported} == {EndingKind.CANCELLED}
    assert stage.desk.alive() == []


async def test_what_is_started_after_closing_ends_too(stage: Stage) -> None:
    await stage.desk.executor.close()
    assert (await stage.desk.run(stage.works())).kind is EndingKind.CANCELLED


async def test_a_directory_that_cannot_be_made_is_an_ending(stage: Stage) -> None:
    stage.desk.directory(1).parent.mkdir(parents=True)
    stage.desk.directory(1).write_text("a file where the attempt's directory should be")
    ending = await stage.desk.run(stage.works(check=("true",)))
    assert ending.kind is EndingKind.FAILED


async def test_starting_does_not_block(stage: Stage) -> None:
    loop = asyncio.get_running_loop()
    before = loop.time()
    stage.desk.start(stage.works())
    assert loop.time() - before < 0.25, "a model client takes longer to load"


async def test_nothing_runs_before_its_process_is_on_record(process_stage: Stage) -> None:
    desk = process_stage.desk
    desk.releases = False
    attempt = desk.start(process_stage.hangs())
    told, handle = await desk.until_spawned()
    assert told == attempt
    assert psutil.Process(handle.pid).status() != psutil.STATUS_ZOMBIE
    await asyncio.sleep(0.2)  # that something does not happen can only be waited for
    assert not process_stage.running()
    desk.executor.release(attempt)
    await desk.until(process_stage.running)


async def test_what_is_stopped_at_the_gate_never_runs(process_stage: Stage) -> None:
    desk = process_stage.desk
    desk.releases = False
    attempt = desk.start(process_stage.hangs())
    await desk.until_spawned()
    desk.executor.stop(attempt)
    assert (await desk.ending(attempt)).kind is EndingKind.CANCELLED
    assert not process_stage.running()


async def test_a_working_directory_that_is_not_there_fails_for_good(process_stage: Stage) -> None:
    ending = await process_stage.desk.run(process_stage.works(cwd="nowhere"))
    assert ending.permanent
    assert str(process_stage.workspace / "nowhere") in ending.detail
