"""A backlog with a schedule opens a run at each of its times: never twice for one, and never beside an unfinished run.

The clock is the test's own, and nothing sleeps.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from apps.serve.at_work import hosts, shell, write_plan
from manyhands.apps.serve.desk import Desk
from manyhands.apps.serve.plan_backlog import PlanBacklog
from manyhands.assembly import open_session
from manyhands.core.events import RetryAsked
from manyhands.core.values.task import TaskState
from manyhands.engine.clock import Clock
from manyhands.engine.dispatcher import Dispatcher
from manyhands.sources.config.config_reading import load_config
from manyhands.sources.config.cron import parse_schedule


class Hand:
    """Sets the clock of a dispatcher, which stands still meanwhile. The year is later than any real one."""

    at = 0.0

    def clock(self) -> Clock:
        return Clock(wall=lambda: 0.0, steady=lambda: self.at)


def at(text: str) -> float:
    return datetime.fromisoformat(f"{text}+00:00").timestamp()


class Night:
    """One life of a service that has one backlog, due at two o'clock."""

    def __init__(self, dispatcher: Dispatcher, directory: Path, said: list[str]) -> None:
        self.dispatcher, self.hand, self.said = dispatcher, Hand(), said
        dispatcher.clock = self.hand.clock()
        backlog = PlanBacklog(directory / "plan.jsonl", schedule=parse_schedule("0 2 * * *"))
        self.desk = Desk(backlog, dispatcher, lambda action, text, **_: said.append(f"{action}: {text}"), list)

    async def at(self, text: str) -> list[str]:
        """The runs after the desk has looked at that time."""
        self.hand.at = at(text)
        await self.desk.compare()
        return list(self.dispatcher.book.runs)

    async def ended(self) -> None:
        await self.dispatcher.wait_settled(self.desk.run)


@asynccontextmanager
async def a_night(directory: Path, begins: str) -> AsyncIterator[Night]:
    async with open_session(load_config(directory, environ={})) as dispatcher:
        night = Night(dispatcher, directory, [])
        try:
            await night.at(begins)
            yield night
        finally:
            night.desk.close()


async def test_each_time_opens_a_run_once(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    write_plan(tmp_path, [shell("t")])
    async with a_night(tmp_path, "2090-11-20T23:00") as night:
        assert await night.at("2090-11-21T01:59") == [], "it is not due yet"
        assert await night.at("2090-11-21T02:00") == ["plan-1"]
        await night.ended()
        assert await night.at("2090-11-21T02:00") == ["plan-1"]
        assert await night.at("2090-11-22T01:00") == ["plan-1"]
        assert await night.at("2090-11-22T02:01") == ["plan-1", "plan-2"]
        await night.ended()
        states = [[str(record.state) for record in run.records.values()] for run in night.dispatcher.book.runs.values()]
        assert states == [["done"], ["done"]]


async def test_an_edit_after_the_run_waits_for_the_next_one(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    write_plan(tmp_path, [shell("t")])
    async with a_night(tmp_path, "2090-11-20T23:00") as night:
        await night.at("2090-11-21T02:00")
        await night.ended()
        write_plan(tmp_path, [shell("t"), shell("new")])
        await night.at("2090-11-21T12:00")
        assert list(night.dispatcher.book.runs["plan-1"].records) == ["t"]
        await night.at("2090-11-22T02:00")
        assert list(night.dispatcher.book.runs["plan-2"].records) == ["t", "new"]
        await night.ended()


async def test_a_time_at_which_the_last_run_is_unfinished_is_left_out_and_said(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    write_plan(tmp_path, [shell("t", deferred=True)])
    async with a_night(tmp_path, "2090-11-20T23:00") as night:
        await night.at("2090-11-21T02:00")
        assert await night.at("2090-11-22T02:00") == ["plan-1"]
        assert await night.at("2090-11-22T02:01") == ["plan-1"]
        assert [line for line in night.said if line.startswith("left_out")] == [
            "left_out: no run is opened for 2090-11-22T02:00:00Z, because plan-1 is unfinished"
        ]
        write_plan(tmp_path, [shell("t")])
        await night.at("2090-11-22T12:00")
        await night.ended()
        assert night.dispatcher.book.runs["plan-1"].records["t"].state is TaskState.DONE, "edits reach an open run"
        assert await night.at("2090-11-22T12:01") == ["plan-1"], "what was left out does not come later"
        assert await night.at("2090-11-23T02:00") == ["plan-1", "plan-2"]
        await night.ended()


async def test_a_restart_neither_repeats_a_time_nor_loses_one(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    write_plan(tmp_path, [shell("t")])
    async with a_night(tmp_path, "2090-11-20T23:00"):
        pass  # it stops before it has opened anything
    async with a_night(tmp_path, "2090-11-21T02:30") as night:
        assert list(night.dispatcher.book.runs) == ["plan-1"], "it was due while nobody was there"
        await night.ended()
    async with a_night(tmp_path, "2090-11-21T03:00") as night:
        assert list(night.dispatcher.book.runs) == ["plan-1"]
    async with a_night(tmp_path, "2090-11-25T12:00") as night:
        assert list(night.dispatcher.book.runs) == ["plan-1", "plan-2"], "several missed times are made up for once"
        await night.ended()


async def test_a_restart_continues_an_unfinished_run_and_says_nothing_twice(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    write_plan(tmp_path, [shell("t", deferred=True)])
    async with a_night(tmp_path, "2090-11-20T23:00") as night:
        await night.at("2090-11-21T02:00")
        await night.at("2090-11-22T02:00")
    async with a_night(tmp_path, "2090-11-22T03:00") as night:
        assert night.desk.run == "plan-1"
        assert [line for line in night.said if line.startswith("left_out")] == []
        assert await night.at("2090-11-23T01:00") == ["plan-1"]


async def test_a_plan_that_cannot_be_read_at_its_time_is_opened_when_it_can(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    (tmp_path / "plan.jsonl").write_text("{")
    async with a_night(tmp_path, "2090-11-20T23:00") as night:
        assert await night.at("2090-11-21T02:00") == []
        write_plan(tmp_path, [shell("t")])
        assert await night.at("2090-11-21T02:05") == ["plan-1"]
        await night.ended()


async def test_a_time_and_its_run_are_on_disk_together(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    write_plan(tmp_path, [shell("t")])
    batches: list[list[str]] = []
    async with a_night(tmp_path, "2090-11-20T23:00") as night:
        night.dispatcher.recorded.append(lambda batch: batches.append([type(event).__name__ for event in batch]))
        await night.at("2090-11-21T02:00")
        await night.ended()
    opened = next(batch for batch in batches if "RunOpened" in batch)
    assert "ScheduleKept" in opened
    assert "TasksSubmitted" in opened


async def test_another_schedule_begins_anew(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    write_plan(tmp_path, [shell("t")])
    async with a_night(tmp_path, "2090-11-20T23:00") as night:
        night.desk.backlog.schedule = parse_schedule("0 9 * * *")
        assert await night.at("2090-11-21T12:00") == [], "it would have been due before it was the schedule"
        assert await night.at("2090-11-22T09:00") == ["plan-1"]
        await night.ended()


async def test_a_task_that_a_person_retries_after_the_run_is_run_again_in_it(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    write_plan(tmp_path, [shell("t", "test -e fixed", attempts=1)])
    async with a_night(tmp_path, "2090-11-20T23:00") as night:
        await night.at("2090-11-21T02:00")
        await night.ended()
        (tmp_path / "fixed").touch()
        await night.dispatcher.submit(RetryAsked(night.hand.at, "plan-1", "t"))
        await night.at("2090-11-21T12:00")
        await night.ended()
        assert night.dispatcher.book.runs["plan-1"].records["t"].state is TaskState.DONE
