"""Only the lines of our issues change, and only if they are what we take them for."""

import json
import os
import stat

import pytest

from manyhands.errors import Unavailable
from manyhands.sources.beads.beads_finding import find
from manyhands.sources.beads.beads_loading import load
from manyhands.sources.beads.beads_ready import ready
from manyhands.sources.beads.beads_writing import BeadsFile, overwritten
from manyhands.sources.beads.issue_changes import (
    SUMMARY_MAX,
    Block,
    Cancel,
    ChangeResult,
    Claim,
    Close,
    Defer,
    ReleaseIssue,
)
from manyhands.sources.beads.times import nanoseconds
from sources.beads.backlog_files import each_sample, line, project, row, text, waiting

NEIGHBOURS = (
    row("n-1", rig="x", title="<b> & é", n=1.50),
    b'{ "id" : "n-2", "title":"odd blanks", "status":"open", "priority": 1}',
    b'{"id":"n-3", broken',
    b"",
    b'{"_type":"memory","key":"k","value":"v"}',
)


class Desk:
    """A backlog with one issue of ours among lines that must not change."""

    def __init__(self, directory, *rows):
        self.rows = [*NEIGHBOURS[:2], *rows, *NEIGHBOURS[2:]]
        self.file = project(directory, *self.rows) / ".beads" / "issues.jsonl"
        self.place = find(directory)
        self.writer = BeadsFile(self.place)

    def apply(self, *changes):
        return self.writer.apply(changes)

    def one(self, change):
        return self.apply(change)[0]

    def fields(self, id="bd-1"):
        return load(self.place).fields(id)

    def other_lines(self):
        return [each for each in self.file.read_bytes().split(b"\n") if b'"bd-' not in each]


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path, row("bd-1"), row("bd-2"))


def test_a_claim_marks_the_issue_and_nothing_else(desk):
    before = desk.other_lines()
    outcome = desk.one(Claim("bd-1", "run-7"))
    after = desk.fields()
    assert outcome.result is ChangeResult.WRITTEN
    assert (after["status"], after["assignee"]) == ("in_progress", "run-7")
    assert after["started_at"] == after["updated_at"] == outcome.updated_at
    assert desk.other_lines() == before
    assert desk.file.read_bytes().split(b"\n")[3] == line(row("bd-2"))


@pytest.mark.parametrize(
    "fields",
    [
        {"assignee": "ann"},
        {"status": "in_progress", "assignee": "ann"},
        {"status": "in_progress"},
        {"status": "closed"},
        {"status": "deferred"},
        {"status": "completed"},
    ],
)
def test_what_someone_has_or_is_not_open_cannot_be_claimed(tmp_path, fields):
    desk = Desk(tmp_path, row("bd-1", **fields))
    before = desk.file.read_bytes()
    outcome = desk.one(Claim("bd-1", "run-7"))
    assert outcome.result is ChangeResult.REFUSED
    assert outcome.why.startswith(f"is {fields.get('status', 'open')}")
    assert desk.file.read_bytes() == before


def test_claiming_twice_is_claiming_once_for_the_same_holder_alone(desk):
    desk.one(Claim("bd-1", "run-7"))
    before = desk.file.read_bytes()
    assert desk.one(Claim("bd-1", "run-7")).result is ChangeResult.ALREADY
    assert desk.one(Claim("bd-1", "run-8")).result is ChangeResult.REFUSED
    assert desk.file.read_bytes() == before


def test_an_issue_assigned_to_the_holder_beforehand_can_be_claimed(tmp_path):
    assert Desk(tmp_path, row("bd-1", assignee="run-7")).one(Claim("bd-1", "run-7")).holds


def test_what_failed_here_can_be_claimed_again_by_us_alone(tmp_path):
    desk = Desk(tmp_path, row("bd-1", status="blocked", assignee="run-7"))
    assert desk.one(Claim("bd-1", "run-8")).result is ChangeResult.REFUSED
    assert desk.one(Claim("bd-1", "run-7")).result is ChangeResult.WRITTEN


def test_an_active_status_of_the_projects_own_can_be_claimed(tmp_path):
    project(tmp_path, row("bd-1", status="qa"))
    (tmp_path / ".beads" / "config.yaml").write_text("status.custom: qa:active\n")
    assert BeadsFile(find(tmp_path)).apply([Claim("bd-1", "r")])[0].holds


def test_done_closes_with_a_summary_in_the_notes(tmp_path):
    desk = Desk(tmp_path, row("bd-1", notes="Seen by ann.\n"))
    long = "All <good> & well.\n" * 1000
    desk.apply(Claim("bd-1", "run-7"), Close("bd-1", "run-7", summary=long))
    after = desk.fields()
    assert (after["status"], after["close_reason"], after["assignee"]) == ("closed", "done", "run-7")
    assert after["closed_at"] == after["updated_at"]
    assert after["notes"].startswith("Seen by ann.\n\nmanyhands run-7 done:\nAll <good> & well.")
    assert len(after["notes"]) < SUMMARY_MAX + 200
    assert "more characters in the store of manyhands" in after["notes"]
    assert b"\\u003cgood\\u003e \\u0026 well." in desk.file.read_bytes()


def test_failed_blocks_with_the_error_and_tells_it_once(desk):
    desk.one(Claim("bd-1", "run-7"))
    assert desk.one(Block("bd-1", "run-7", "exit code 1: no such \ud83d table\0")).result is ChangeResult.WRITTEN
    assert desk.one(Block("bd-1", "run-7", "exit code 1: no such \ud83d table\0")).result is ChangeResult.ALREADY
    after = desk.fields()
    assert after["status"] == "blocked"
    assert after["notes"] == "manyhands run-7 failed:\nexit code 1: no such \ufffd table"
    assert "closed_at" not in after


def test_cancelled_is_closed_with_a_reason_that_beads_takes_for_a_failure(desk):
    assert desk.one(Cancel("bd-1", "run-7", "not wanted")).holds
    assert desk.fields()["close_reason"] == "cancelled: not wanted"
    assert desk.fields()["closed_at"]


def test_deferred_and_released_issues_are_nobodys(desk):
    desk.one(Claim("bd-1", "run-7"))
    assert desk.one(Defer("bd-1", "run-7", until=4_102_444_800.0)).holds
    after = desk.fields()
    assert (after["status"], after["defer_until"], "assignee" in after) == ("deferred", "2100-01-01T00:00:00Z", False)
    desk.one(Claim("bd-2", "run-7"))
    assert desk.one(ReleaseIssue("bd-2", "run-7")).holds
    assert desk.fields("bd-2")["status"] == "open"
    assert "assignee" not in desk.fields("bd-2")
    assert desk.one(ReleaseIssue("bd-2", "run-7")).result is ChangeResult.ALREADY


def test_a_persons_assignment_survives_a_deferral(tmp_path):
    desk = Desk(tmp_path, row("bd-1", assignee="ann"))
    desk.one(Defer("bd-1", "run-7"))
    assert desk.fields()["assignee"] == "ann"


@pytest.mark.parametrize("change", [Close, Block, ReleaseIssue])
@pytest.mark.parametrize("fields", [{}, {"status": "in_progress", "assignee": "ann"}, {"status": "closed"}])
def test_what_the_run_does_not_hold_it_cannot_end(tmp_path, change, fields):
    desk = Desk(tmp_path, row("bd-1", assignee="ann") if not fields else row("bd-1", **fields))
    before = desk.file.read_bytes()
    given = (Block("bd-1", "run-7", "e"),) if change is Block else (change("bd-1", "run-7"),)
    assert desk.apply(*given)[0].result is ChangeResult.REFUSED
    assert desk.file.read_bytes() == before


def test_a_finished_epic_is_closed_without_a_claim(tmp_path):
    desk = Desk(tmp_path, row("bd-1", issue_type="epic"))
    assert desk.one(Close("bd-1", "", reason="all children are closed")).holds
    assert desk.fields()["close_reason"] == "all children are closed"


def test_an_issue_that_is_not_there_is_told_and_the_other_changes_are_made(desk):
    outcomes = desk.apply(Claim("bd-9", "r"), Claim("n-3", "r"), Claim("bd-1", "r"))
    assert [outcome.result for outcome in outcomes] == [
        ChangeResult.MISSING,
        ChangeResult.MISSING,
        ChangeResult.WRITTEN,
    ]


def test_times_go_strictly_forward_even_from_the_future(tmp_path):
    ahead = "2100-01-01T00:00:00.123456789+02:00"
    desk = Desk(tmp_path, row("bd-1", updated_at=ahead))
    outcomes = desk.apply(Claim("bd-1", "r"), ReleaseIssue("bd-1", "r"), Claim("bd-1", "r"))
    times = [nanoseconds(ahead), *(nanoseconds(outcome.updated_at) for outcome in outcomes)]
    assert times == sorted(set(times))


def test_closed_again_after_being_opened_keeps_the_rule_of_closing_times(tmp_path):
    desk = Desk(tmp_path, row("bd-1", closed_at="2026-01-01T00:00:00Z", close_reason="stale"))
    desk.one(Claim("bd-1", "r"))
    assert not {"closed_at", "close_reason"} & desk.fields().keys()


def test_of_an_id_on_two_lines_the_one_that_counts_is_changed(tmp_path):
    old = row("bd-1", updated_at="2026-01-01T00:00:00Z")
    new = row("bd-1", updated_at="2026-02-01T00:00:00Z", title="new")
    desk = Desk(tmp_path, new, old)
    desk.one(Claim("bd-1", "r"))
    assert (desk.fields()["title"], desk.fields()["status"]) == ("new", "in_progress")
    assert line(old) in desk.file.read_bytes()


def test_an_id_written_with_escapes_is_found(tmp_path):
    desk = Desk(tmp_path, line(row("bd-1")).replace(b"bd-1", b"bd\\u002d1", 1))
    assert desk.one(Claim("bd-1", "r")).holds


@pytest.mark.parametrize("raw", [b"\xef\xbb\xbf" + line(row("a")) + b"\r\n" + line(row("b")), text(row("a"))[:-1]])
def test_line_ends_and_marks_stay_as_they_are(tmp_path, raw):
    file = project(tmp_path) / ".beads" / "issues.jsonl"
    file.write_bytes(raw)
    assert BeadsFile(find(tmp_path)).apply([Claim("a", "r"), ReleaseIssue("a", "r")])[1].holds
    after = file.read_bytes()
    assert (after.count(b"\n"), after.count(b"\r")) == (raw.count(b"\n"), raw.count(b"\r"))
    assert after[:3] == raw[:3]
    assert after[-2:] == raw[-2:]


def test_the_mode_of_the_file_and_a_link_to_it_are_kept(tmp_path):
    project(tmp_path, row("a"))
    real = tmp_path / "elsewhere.jsonl"
    link = tmp_path / ".beads" / "issues.jsonl"
    link.rename(real)
    link.symlink_to(real)
    real.chmod(0o640)
    assert BeadsFile(find(tmp_path)).apply([Claim("a", "r")])[0].holds
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert json.loads(real.read_bytes())["assignee"] == "r"
    assert sorted(os.listdir(tmp_path)) == [".beads", "elsewhere.jsonl"]
    assert sorted(os.listdir(tmp_path / ".beads")) == [".jsonl.lock", "issues.jsonl"]


def on_first_fsync(monkeypatch, act):
    """What another program does after we have read the file and before we replace it."""
    acts = iter([act])
    fsync = os.fsync

    def fsync_then_act(fd):
        fsync(fd)
        for each in acts:
            each()

    monkeypatch.setattr(os, "fsync", fsync_then_act)


def test_someone_who_ignores_the_lock_and_replaces_the_file_loses_nothing_and_undoes_nothing(tmp_path, monkeypatch):
    newer = row("x", title="newer", updated_at="2026-03-01T00:00:00Z")
    desk = Desk(tmp_path, row("bd-1"), newer, row("dropped"))

    def replace():
        stale = row("x", title="stale", updated_at="2026-01-01T00:00:00Z")
        other = desk.file.with_name("other")
        other.write_bytes(
            text(row("n-1", title="theirs", updated_at="2026-04-01T00:00:00Z"), row("bd-1"), stale, row("added"))
        )
        other.rename(desk.file)

    on_first_fsync(monkeypatch, replace)
    assert desk.one(Claim("bd-1", "r")).holds
    beads = load(desk.place)
    assert {id: issue.title for id, issue in beads.issues.items() if id != "n-2"} == {
        "n-1": "theirs",
        "bd-1": "Do bd-1",
        "x": "newer",
        "added": "Do added",
        "dropped": "Do dropped",
    }
    assert beads.issues["bd-1"].assignee == "r"


def test_a_claim_that_someone_took_in_the_last_instant_is_refused(tmp_path, monkeypatch):
    desk = Desk(tmp_path, row("bd-1"))

    def take_it():
        theirs = row("bd-1", status="in_progress", assignee="ann", updated_at="2026-03-01T00:00:00Z")
        desk.file.write_bytes(text(*NEIGHBOURS[:2], theirs))

    on_first_fsync(monkeypatch, take_it)
    outcome = desk.one(Claim("bd-1", "r"))
    assert (outcome.result, outcome.why) == (ChangeResult.REFUSED, "is in_progress and assigned to ann")


def test_a_write_that_a_stale_copy_undid_is_found_again(desk):
    before = desk.file.read_bytes()
    outcome = desk.one(Claim("bd-1", "r"))
    written = {"bd-1": outcome.updated_at}
    assert overwritten(load(desk.place), written) == []
    desk.file.write_bytes(before)
    assert overwritten(load(desk.place), written) == ["bd-1"]


def test_a_full_disk_leaves_the_file_as_it_was_and_nothing_beside_it(desk, monkeypatch):
    before = desk.file.read_bytes()

    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable, match="No space left on device"):
        desk.one(Claim("bd-1", "r"))
    assert desk.file.read_bytes() == before
    assert sorted(os.listdir(desk.file.parent)) == [".jsonl.lock", "issues.jsonl"]


def test_what_killed_writers_left_behind_is_cleared_away(desk):
    old, young, foreign = (desk.file.with_name(name) for name in (".~issues.jsonl.mh-a", ".~issues.jsonl.mh-b", ".~x"))
    for leftover in (old, young, foreign):
        leftover.write_text("half a line")
    os.utime(old, (0, 0))
    os.utime(foreign, (0, 0))
    desk.one(Claim("bd-1", "r"))
    assert not old.exists()
    assert young.exists()
    assert foreign.exists()


@each_sample
def test_a_write_to_a_real_backlog_leaves_every_other_line_as_it_was(tmp_path, sample):
    (tmp_path / ".beads").mkdir()
    file = tmp_path / ".beads" / "issues.jsonl"
    file.write_bytes(sample.read_bytes())
    place = find(tmp_path)
    beads = load(place)
    id = next((id for id, issue in beads.issues.items() if issue.status == "open" and not issue.assignee), None)
    outcomes = BeadsFile(place).apply([Claim(id or "none", "run-7"), Close(id or "none", "run-7", "it works")])
    after = file.read_bytes().split(b"\n")
    if id is None:
        assert after == beads.lines
        return
    assert all(outcome.result is ChangeResult.WRITTEN for outcome in outcomes)
    changed = beads.line_of[id] - 1
    assert [i for i, (was, now) in enumerate(zip(beads.lines, after, strict=True)) if was != now] == [changed]
    ours = {"status", "assignee", "notes", "updated_at", "started_at", "closed_at", "close_reason"}
    was, now = json.loads(beads.lines[changed]), json.loads(after[changed])
    assert {k: v for k, v in now.items() if k not in ours} == {k: v for k, v in was.items() if k not in ours}
    assert now["status"] == "closed"


def test_dependents_become_ready_when_an_issue_is_closed(tmp_path):
    desk = Desk(tmp_path, row("bd-1"), waiting("bd-2", "bd-1"))
    assert desk.apply(Claim("bd-1", "r"), Close("bd-1", "r"))[1].holds
    assert "bd-2" in {issue.id for issue in ready(load(desk.place), 1.8e9)}
