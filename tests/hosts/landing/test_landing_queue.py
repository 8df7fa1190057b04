"""One landing at a time in a repository, across processes; whoever waits for its turn can still be stopped."""

import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hosts.landing.project import Project, sh, states, until
from manyhands.core.events import CancelAsked
from manyhands.engine.dispatcher import Dispatcher
from manyhands.hosts.landing.landing_queue import LOCK_FILE


@asynccontextmanager
async def landing_elsewhere(project: Project) -> AsyncIterator[None]:
    """As another process that is just landing something."""
    descriptor = os.open(project.directory / ".git" / LOCK_FILE, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


async def until_committed(project: Project, *branches: str) -> None:
    """Their work is done and waits for its turn."""
    base = project.git("rev-parse", "main")
    await until(lambda: all(_tip(project, branch) not in ("", base) for branch in branches))


def _tip(project: Project, branch: str) -> str:
    return project.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")


async def test_nothing_lands_while_another_process_does(project: Project) -> None:
    async def look(dispatcher: Dispatcher) -> None:
        async with landing_elsewhere(project):
            await until_committed(project, "manyhands/plan-1/a.1", "manyhands/plan-1/b.1")
            assert project.subjects() == []
            assert len(dispatcher.book.running) == 2

    run = await project.run(sh("a", "touch a"), sh("b", "touch b"), meanwhile=look)
    assert states(run) == {"a": "done", "b": "done"}
    assert len(project.subjects()) == 2


async def test_an_attempt_stopped_while_it_waits_does_not_land_and_its_work_stays_on_its_branch(
    project: Project,
) -> None:
    async def cancel(dispatcher: Dispatcher) -> None:
        async with landing_elsewhere(project):
            await until_committed(project, "manyhands/plan-1/a.1")
            await dispatcher.submit(CancelAsked(dispatcher.clock.now(), "plan-1", "a", "enough"))
            await until(lambda: not dispatcher.book.runs["plan-1"].in_flight)

    run = await project.run(sh("a", "echo made > a"), meanwhile=cancel)
    assert states(run) == {"a": "cancelled"}
    assert (project.subjects(), project.worktrees()) == ([], [])
    assert project.git("show", "manyhands/plan-1/a.1:a") == "made"
