"""Many submit at once to one leader: each task is recorded once, and those of one submitter in its order."""

import asyncio
import os
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from manyhands.core.events import CancelAsked, RunOpened, TasksSubmitted
from manyhands.core.values.task import Task, TaskState
from manyhands.engine.session import dispatching
from manyhands.engine.store.store_opening import make, open_reader, open_requests

SUBMITTERS = 4
TASKS = 2500 if os.environ.get("MANYHANDS_SOAK") else 150

SUBMITTER = """
import sys
from manyhands.core.events import TasksSubmitted
from manyhands.core.values.task import Task
from manyhands.engine.store.store_opening import open_requests
url, name, count = sys.argv[1:]
requests = open_requests(url)
for number in range(int(count)):
    requests.ask(TasksSubmitted(0.0, "r", (Task(id=f"{name}-{number}", deferred=True),)))
"""


async def wait_until(condition: object, patience_s: float = 120.0) -> None:
    deadline = asyncio.get_running_loop().time() + patience_s
    while not condition():  # type: ignore[operator]
        assert asyncio.get_running_loop().time() < deadline, "waited too long"
        await asyncio.sleep(0.01)


@pytest.mark.slow
async def test_tasks_of_several_submitters_are_each_recorded_once_and_in_order(
    postgres_url: str, tmp_path: Path
) -> None:
    make(postgres_url)
    with closing(open_requests(postgres_url)) as requests:
        requests.ask(RunOpened(0.0, "r"))
    async with dispatching(
        tmp_path, "power", (), (), lambda *_: {}, store=postgres_url, all_runs_go_on=True
    ) as dispatcher:
        submitters = [
            await asyncio.create_subprocess_exec(sys.executable, "-c", SUBMITTER, postgres_url, str(n), str(TASKS))
            for n in range(SUBMITTERS)
        ]
        assert [await submitter.wait() for submitter in submitters] == [0] * SUBMITTERS
        await wait_until(lambda: len(dispatcher.book.runs["r"].records) == SUBMITTERS * TASKS)
    with closing(open_reader(postgres_url)) as reader:
        events = [event for _, event in reader.read() if isinstance(event, TasksSubmitted)]
        assert reader.requests() == []
    recorded = [task.id for event in events for task in event.tasks]
    assert set(Counter(recorded).values()) == {1}
    for name in range(SUBMITTERS):
        mine = [id for id in recorded if id.startswith(f"{name}-")]
        assert mine == [f"{name}-{number}" for number in range(TASKS)]


async def test_a_cancel_from_elsewhere_reaches_the_leader_without_polling(postgres_url: str, tmp_path: Path) -> None:
    async with dispatching(tmp_path, "power", (), (), lambda *_: {}, store=postgres_url) as dispatcher:
        now = dispatcher.clock.now()
        await dispatcher.submit(RunOpened(now, "r"), TasksSubmitted(now, "r", (Task(id="a", deferred=True),)))
        with closing(await asyncio.to_thread(open_requests, postgres_url)) as requests:
            await asyncio.to_thread(requests.ask, CancelAsked(now, "r", "a"))
            assert requests.heard
        await wait_until(lambda: dispatcher.book.runs["r"].records["a"].state is TaskState.CANCELLED)
