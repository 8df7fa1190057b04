"""Backlogs of one name, on the same hosts: each has a run of its own, and finds it again."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from apps.serve.at_work import AtWork, beads_of, hosts, issue_task, plan_of, serving, shell, write_issues, write_plan
from manyhands.apps.serve.beads_rules import BeadsRules
from manyhands.apps.serve.issue_backlog import IssueBacklog
from manyhands.apps.serve.live_backlog import LiveBacklog
from manyhands.core.values.task import TaskState
from manyhands.errors import UsageError
from manyhands.sources.queues.postgres_table import PostgresTable
from manyhands.sources.trackers.markdown_tracker import MarkdownTracker
from sources.beads.backlog_files import row

WHO = 'echo "$MANYHANDS_RUN" >> ran.txt'
_TASK = replace(issue_task(), run=("sh", "-c", WHO))


def _plans(directory: Path) -> list[LiveBacklog]:
    for place in (directory / "a", directory / "b"):
        place.mkdir()
        write_plan(place, [shell("t", WHO)], "nightly.jsonl")
    return _plans_again(directory)


def _plans_again(directory: Path) -> list[LiveBacklog]:
    return [plan_of(directory / place, "nightly.jsonl") for place in ("a", "b")]


def _projects(directory: Path) -> list[LiveBacklog]:
    for place in (directory / "a" / "shop", directory / "b" / "shop"):
        place.mkdir(parents=True)
        write_issues(place, row("t"))
    return _projects_again(directory)


def _projects_again(directory: Path) -> list[LiveBacklog]:
    return [beads_of(directory / place / "shop", _TASK) for place in ("a", "b")]


def _files(directory: Path) -> list[LiveBacklog]:
    for place in (directory / "a" / "tasks", directory / "b" / "tasks"):
        place.mkdir(parents=True)
        (place / "t.md").write_text("# One\n")
    return _files_again(directory)


def _files_again(directory: Path) -> list[LiveBacklog]:
    return [
        IssueBacklog(MarkdownTracker(directory / place / "tasks"), 1.0, BeadsRules(_TASK), directory / ".manyhands")
        for place in ("a", "b")
    ]


_KINDS = {"plans": (_plans, _plans_again), "beads": (_projects, _projects_again), "markdown": (_files, _files_again)}


@pytest.mark.parametrize("kind", _KINDS)
async def test_backlogs_of_one_name_have_a_run_each(tmp_path: Path, kind: str) -> None:
    make, again = _KINDS[kind]
    hosts(tmp_path, 2)
    async with serving(tmp_path, *make(tmp_path)) as work:
        await work.until(lambda: _ended(work) == 2, "both tasks to end")
        first = _runs(work)
        assert len(first) == 2
    assert sorted(work.ran()) == sorted(first.values())
    # In another order, and with a third one that is new.
    name = next(iter(first.values())).rpartition("-")[0]
    (tmp_path / "c").mkdir()
    write_plan(tmp_path / "c", [shell("t", WHO)], f"{name}.jsonl")
    third = plan_of(tmp_path / "c", f"{name}.jsonl")
    async with serving(tmp_path, third, *reversed(again(tmp_path))) as work:
        await work.until(lambda: _ended(work) == 3, "the new task to end")
        later = _runs(work)
        assert first.items() <= later.items()
    assert sorted(work.ran()) == sorted(later.values()), "each task ran once, in the run of its own backlog"


def _runs(work: AtWork) -> dict[str, str]:
    return {run.source: run.name for run in work.dispatcher.book.runs.values()}


def _ended(work: AtWork) -> int:
    return sum(run.counts[TaskState.DONE] for run in work.dispatcher.book.runs.values())


async def test_one_backlog_given_twice_is_refused(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    (tmp_path / "shop").mkdir()
    write_issues(tmp_path / "shop", row("t"))
    with pytest.raises(UsageError, match="is given twice"):
        async with serving(tmp_path, beads_of(tmp_path / "shop"), beads_of(tmp_path / "shop" / ".beads")):
            pass


def test_tables_on_two_servers_of_one_machine_are_two_backlogs() -> None:
    where = {PostgresTable(f"postgresql://me@box{port}/jobs", "work", 300.0).where for port in ("", ":5432", ":5433")}
    assert where == {"postgresql://box/jobs#work", "postgresql://box:5433/jobs#work"}
