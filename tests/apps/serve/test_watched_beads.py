"""A Beads backlog that others work on too: claimed, run, written back, and given up when someone else has it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from apps.serve.at_work import (
    HOLD,
    NEVER_S,
    AtWork,
    beads_of,
    edit_issue,
    hosts,
    issue_task,
    plan_of,
    read_issues,
    serving,
    shell,
    write_issues,
    write_plan,
)
from manyhands.apps.serve.beads_backlog import BeadsBacklog
from manyhands.apps.serve.beads_rules import BeadsRules
from manyhands.apps.serve.live_backlog import TaskVerdict
from manyhands.core.events import CancelAsked, DeferAsked, HostPaused, HostResumed, ResumeAsked, RetryAsked
from sources.beads.backlog_files import child, row, waiting

EDITS = 8


@pytest.fixture
def project(tmp_path: Path) -> Path:
    hosts(tmp_path, 1)
    return tmp_path


async def until_issue(work: AtWork, id: str, status: str) -> dict[str, object]:
    await work.until(lambda: read_issues(work.directory)[id]["status"] == status, f"issue {id} to be {status}")
    return read_issues(work.directory)[id]


async def test_a_new_p0_issue_starts_when_the_file_is_written(tmp_path: Path) -> None:
    hosts(tmp_path, 4)
    write_issues(tmp_path, row("p-first"))
    async with serving(tmp_path, beads_of(tmp_path), poll_s=NEVER_S) as work:
        await until_issue(work, "p-first", "closed")
        for n in range(EDITS):
            write_issues(tmp_path, *read_issues(tmp_path).values(), row(f"p-{n}", priority=0))
            await work.until(lambda n=n: work.started_at(f"p-{n}"), f"p-{n} to start")  # type: ignore[misc]
            await until_issue(work, f"p-{n}", "closed")


async def test_an_issue_is_claimed_before_it_runs_and_closed_with_what_it_said(project: Path) -> None:
    write_issues(project, row("p-1", notes="known before"))
    backlog = beads_of(project, issue_task(HOLD))
    async with serving(project, backlog) as work:
        await work.until(lambda: work.ran() == ["p-1"], "it to run")
        claimed = read_issues(project)["p-1"]
        assert (claimed["status"], claimed["assignee"]) == ("in_progress", backlog.holder)
        assert "closed_at" not in claimed
        work.go()
        closed = await until_issue(work, "p-1", "closed")
        assert closed["closed_at"] == closed["updated_at"]
        assert str(closed["notes"]).startswith("known before\n\nmanyhands ")
        assert "done with p-1" in str(closed["notes"])


async def test_an_issue_that_fails_is_blocked_with_the_error_and_goes_again_when_it_is_opened(project: Path) -> None:
    like = issue_task("[ -e repaired ] || { echo no luck; exit 3; }", attempts=1)
    write_issues(project, row("p-1"), waiting("p-2", "p-1"))
    async with serving(project, beads_of(project, like)) as work:
        blocked = await until_issue(work, "p-1", "blocked")
        assert "closed_at" not in blocked
        assert "no luck" in str(blocked["notes"])
        assert "exit" in str(blocked["notes"])
        await work.until_state("p-2", "skipped")
        assert read_issues(project)["p-2"]["status"] == "open"
        (project / "repaired").touch()
        edit_issue(project, "p-1", status="open", assignee=None)
        assert (await until_issue(work, "p-2", "closed"))["closed_at"]
        assert work.ran() == ["p-1", "p-1", "p-2"]


async def test_what_someone_else_closes_or_removes_is_cancelled_here_and_left_as_it_is(project: Path) -> None:
    write_issues(project, row("p-runs", priority=1), row("p-waits"), row("p-goes"), waiting("p-after", "p-waits"))
    async with serving(project, beads_of(project, issue_task(HOLD))) as work:
        await work.until(lambda: work.ran() == ["p-runs"], "it to run")
        rows = read_issues(project)
        write_issues(project, *(each for id, each in rows.items() if id != "p-goes"))
        await work.until_state("p-goes", "cancelled")
        rows = read_issues(project)
        for id in ("p-runs", "p-waits"):
            rows[id] |= {"status": "closed", "closed_at": "2026-11-01T00:00:00Z", "close_reason": "by hand"}
        write_issues(project, *rows.values())
        await work.until_state("p-runs", "cancelled")
        await work.until_state("p-waits", "cancelled")
        assert work.record("p-runs").cause.why == "in the backlog: it is closed"
        work.go()
        await until_issue(work, "p-after", "closed")  # what it waited for is done, by whomever
        assert read_issues(project)["p-runs"]["close_reason"] == "by hand"
        assert "p-goes" not in read_issues(project)
        assert "p-waits" not in work.ran()


class Overtaken(BeadsBacklog):
    """Someone else takes the issue in the very moment before we do."""

    def claim(self, tasks: Mapping[str, float]) -> list[TaskVerdict]:
        for id in tasks:
            if read_issues(self.place.directory.parent)[id]["status"] == "open" and id == "p-theirs":
                edit_issue(self.place.directory.parent, id, status="in_progress", assignee="bob")
        return super().claim(tasks)


async def test_a_claim_that_is_lost_cancels_here_and_runs_nothing(project: Path) -> None:
    write_issues(project, row("p-theirs", priority=0), row("p-ours"))
    async with serving(project, Overtaken(project, rules=BeadsRules(issue_task()), store=project)) as work:
        await until_issue(work, "p-ours", "closed")
        await work.until_state("p-theirs", "cancelled")
        assert "assigned to bob" in work.record("p-theirs").cause.why
        assert work.ran() == ["p-ours"]
        theirs = read_issues(project)["p-theirs"]
        assert (theirs["status"], theirs["assignee"]) == ("in_progress", "bob")


async def test_edits_are_taken_over_by_what_waits_and_reported_of_what_runs(project: Path) -> None:
    write_issues(project, row("p-1"), row("p-2"), row("p-3"))
    async with serving(project, beads_of(project, issue_task(HOLD))) as work:
        await work.until(lambda: work.ran() == ["p-1"], "it to run")
        edit_issue(project, "p-1", title="Something else")
        edit_issue(project, "p-3", priority=0, title="Urgent now")
        await work.until(lambda: any("note p-1: has changed while it runs" in line for line in work.said), "the word")
        await work.until(lambda: work.record("p-3").task.title == "Urgent now", "the edit")
        work.go()
        await until_issue(work, "p-2", "closed")
        assert work.ran() == ["p-1", "p-3", "p-2"]


async def test_a_person_cancels_and_defers_here_and_the_issues_say_so(project: Path) -> None:
    write_issues(project, row("p-0", priority=0), row("p-cancelled"), row("p-deferred"))
    async with serving(project, beads_of(project, issue_task(HOLD))) as work:
        await work.until(lambda: work.ran() == ["p-0"], "it to run")
        now, run = work.dispatcher.clock.now(), work.run.name
        await work.dispatcher.submit(CancelAsked(now, run, "p-cancelled"), DeferAsked(now, run, "p-deferred"))
        cancelled = await until_issue(work, "p-cancelled", "closed")
        assert "cancelled" in str(cancelled["close_reason"])
        assert cancelled["closed_at"]
        assert "closed_at" not in await until_issue(work, "p-deferred", "deferred")
        await work.dispatcher.submit(ResumeAsked(work.dispatcher.clock.now(), run, "p-deferred"))
        work.go()
        await until_issue(work, "p-deferred", "closed")
        assert work.ran() == ["p-0", "p-deferred"]


async def test_what_was_cancelled_deferred_or_failed_here_is_opened_when_a_person_wants_it_again(project: Path) -> None:
    like = issue_task(f"{HOLD}; [ -e repaired ] || exit 3", attempts=1)
    write_issues(project, row("p-failed", priority=0), row("p-cancelled"), row("p-deferred"), row("p-theirs"))
    backlog = beads_of(project, like)
    async with serving(project, backlog) as work:
        await work.until(lambda: work.ran() == ["p-failed"], "it to run")
        now, run = work.dispatcher.clock.now(), work.run.name
        await work.dispatcher.submit(CancelAsked(now, run, "p-cancelled"), DeferAsked(now, run, "p-deferred"))
        await until_issue(work, "p-cancelled", "closed")
        await until_issue(work, "p-deferred", "deferred")
        edit_issue(project, "p-theirs", status="closed", close_reason="by hand")
        await work.until_state("p-theirs", "cancelled")
        work.go()
        await until_issue(work, "p-failed", "blocked")
        await work.dispatcher.submit(HostPaused(now, "local"))
        (project / "repaired").touch()
        wanted = work.dispatcher.clock.now()
        again = [RetryAsked(wanted, run, id) for id in ("p-failed", "p-cancelled", "p-theirs")]
        await work.dispatcher.submit(*again, ResumeAsked(wanted, run, "p-deferred"))
        for id in ("p-cancelled", "p-deferred"):
            assert not (await until_issue(work, id, "open")).keys() & {"closed_at", "close_reason"}
        await work.dispatcher.submit(HostResumed(wanted, "local"))
        for id in ("p-failed", "p-cancelled", "p-deferred"):
            await until_issue(work, id, "closed")
        await work.until_state("p-theirs", "cancelled")  # closed by someone else: theirs to open
        assert read_issues(project)["p-theirs"]["close_reason"] == "by hand"
        assert sorted(work.ran()) == ["p-cancelled", "p-deferred", "p-failed", "p-failed"]


async def test_a_task_that_waits_for_what_needs_cannot_say_tells_the_backlogs_reason(project: Path) -> None:
    write_issues(project, row("p-1", status="blocked"), waiting("p-2", "p-1"))
    async with serving(project, beads_of(project)) as work:
        await work.until_state("p-2", "deferred")
        assert "p-1" in work.record("p-2").cause.why
        edit_issue(project, "p-1", status="closed")
        await until_issue(work, "p-2", "closed")


async def test_what_is_deferred_in_beads_waits_and_goes_when_it_is_opened(project: Path) -> None:
    write_issues(project, row("p-0", priority=0), row("p-1"))
    async with serving(project, beads_of(project, issue_task(HOLD))) as work:
        await work.until(lambda: work.ran() == ["p-0"], "it to run")
        edit_issue(project, "p-1", status="deferred")
        await work.until_state("p-1", "deferred")
        work.go()
        await until_issue(work, "p-0", "closed")
        assert read_issues(project)["p-1"]["status"] == "deferred"
        edit_issue(project, "p-1", status="open")
        await until_issue(work, "p-1", "closed")


async def test_an_epic_never_runs_and_is_closed_with_its_last_child(project: Path) -> None:
    write_issues(
        project, row("p-e", issue_type="epic"), child("p-e.1", "p-e"), child("p-e.2", "p-e"), waiting("p-after", "p-e")
    )
    async with serving(project, beads_of(project)) as work:
        assert (await until_issue(work, "p-e", "closed"))["closed_at"]
        await until_issue(work, "p-after", "closed")
        assert sorted(work.ran()) == ["p-after", "p-e.1", "p-e.2"]


async def test_a_stale_copy_that_undoes_what_was_written_is_corrected_and_nothing_runs_again(project: Path) -> None:
    write_issues(project, row("p-1"), row("p-2"))
    before = list(read_issues(project).values())
    async with serving(project, beads_of(project)) as work:
        await until_issue(work, "p-2", "closed")
        await until_issue(work, "p-1", "closed")
        write_issues(project, *before)
        await until_issue(work, "p-1", "closed")
        await until_issue(work, "p-2", "closed")
        assert sorted(work.ran()) == ["p-1", "p-2"]


async def test_a_stop_gives_back_what_is_held_and_the_next_start_goes_on(project: Path) -> None:
    write_issues(project, row("p-1"), row("p-2"))
    async with serving(project, beads_of(project, issue_task(HOLD))) as work:
        await work.until(lambda: work.ran() == ["p-1"], "it to run")
    given_back = read_issues(project)["p-1"]
    assert given_back["status"] == "open"
    assert "assignee" not in given_back
    work.go()
    async with serving(project, beads_of(project, issue_task(HOLD))) as again:
        await until_issue(again, "p-1", "closed")
        await until_issue(again, "p-2", "closed")
        assert again.ran() == ["p-1", "p-1", "p-2"]
        assert len(again.dispatcher.book.runs) == 1


async def test_a_file_that_is_being_written_takes_nothing_away(project: Path) -> None:
    """Truncated and written in two goes, by a program that knows of no lock."""
    write_issues(project, row("p-1", priority=0), row("p-2"), waiting("p-3", "p-2"))
    async with serving(project, beads_of(project, issue_task(HOLD))) as work:
        await work.until(lambda: work.ran() == ["p-1"], "it to run")
        file = project / ".beads" / "issues.jsonl"
        lines = file.read_bytes().splitlines(keepends=True)
        with file.open("wb") as stream:
            stream.write(lines[2])
            stream.flush()
            await asyncio.sleep(0.06)
            stream.write(lines[0] + lines[1])
        edit_issue(project, "p-3", title="Seen")
        await work.until(lambda: work.record("p-3").task.title == "Seen", "the file as it is now")
        assert [work.state(id) for id in ("p-1", "p-2", "p-3")] == ["running", "ready", "blocked"]
        work.go()
        await until_issue(work, "p-3", "closed")
        assert work.ran() == ["p-1", "p-2", "p-3"]


async def test_two_dispatchers_on_one_backlog_do_everything_once(tmp_path: Path) -> None:
    issues = 20
    places = [tmp_path / "one", tmp_path / "two"]
    for place in places:
        place.mkdir()
        hosts(place, 2)
    write_issues(tmp_path, *(waiting(f"p-{n}", *([f"p-{n - 3}"] if n >= 3 else [])) for n in range(issues)))
    like = issue_task("sleep 0.05")
    backlogs = [BeadsBacklog(tmp_path, rules=BeadsRules(like), store=place) for place in places]
    assert len({backlog.source for backlog in backlogs}) == 1
    async with serving(places[0], backlogs[0]) as one, serving(places[1], backlogs[1]) as two:
        both = AtWork(one.dispatcher, tmp_path, [])
        for n in range(issues):
            await until_issue(both, f"p-{n}", "closed")
        assert sorted([*one.ran(), *two.ran()]) == sorted(f"p-{n}" for n in range(issues))
        assert backlogs[0].holder != backlogs[1].holder


async def test_tasks_that_declare_no_claims_are_told_once_with_the_fix(tmp_path: Path) -> None:
    """Otherwise nobody sees why a wide host runs one at a time."""
    hosts(tmp_path, 4)
    write_issues(tmp_path, row("p-1"), row("p-2"), row("p-3", metadata={"files": ["a.py"]}))
    undeclared = replace(issue_task(), claims=None)
    async with serving(tmp_path, beads_of(tmp_path, undeclared)) as work:
        await until_issue(work, "p-2", "closed")
        write_issues(tmp_path, *read_issues(tmp_path).values(), row("p-4"), row("p-5"))
        await until_issue(work, "p-5", "closed")
        notes = [said for said in work.said if "declare no claims" in said]
        assert notes == ["note : 2 tasks declare no claims, so they use the workspace one at a time"]


async def test_a_plan_whose_tasks_declare_no_claims_is_told_as_well(tmp_path: Path) -> None:
    hosts(tmp_path, 4)
    write_plan(tmp_path, [shell("a", claims=None), shell("b", claims=None), shell("c")])
    async with serving(tmp_path, plan_of(tmp_path)) as work:
        await work.until_state("b", "done")
        assert sum("2 tasks declare no claims" in said for said in work.said) == 1
