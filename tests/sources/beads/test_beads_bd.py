"""Writes through the `bd` command: one at a time, each read back, and made again when it was dropped."""

import json
import shutil
import sys
import threading
from pathlib import Path

import pytest

from manyhands.errors import Unavailable
from manyhands.sources.beads.bd import BdCommand
from manyhands.sources.beads.beads_finding import find
from manyhands.sources.beads.beads_loading import load, writer_for
from manyhands.sources.beads.issue_changes import Block, Cancel, ChangeResult, Claim, Close, Defer, ReleaseIssue
from sources.beads import fake_bd
from sources.beads.backlog_files import line, project, row


class Bench:
    """A project whose issues a database keeps, a `bd` that goes wrong when told to, and a writer that uses it."""

    def __init__(self, directory, *rows, timeout_s=20.0):
        project(directory, row("stale"))
        (directory / ".beads" / "dolt").mkdir()
        self.home = directory / "bd-home"
        self.home.mkdir()
        script = self.home / "bd"
        source = Path(fake_bd.__file__).read_text()
        script.write_text(f"#!{sys.executable} -S\n{source}")
        script.chmod(0o755)
        (self.home / "database").write_bytes(b"".join(line(each) + b"\n" for each in rows))
        self.program = str(script)
        self.place = find(directory)
        self.pauses = []
        self.writer = BdCommand(self.place, self.program, timeout_s=timeout_s, pause=self.pauses.append)

    def faults(self, *words):
        (self.home / "faults").write_text("\n".join(words))

    def one(self, change):
        return self.writer.apply([change])[0]

    def row(self, id="a"):
        return next(
            each for each in map(json.loads, (self.home / "database").read_text().splitlines()) if each["id"] == id
        )

    def calls(self, *verbs):
        calls = [json.loads(each) for each in (self.home / "calls").read_text().splitlines()]
        return [call for call in calls if call[0] in verbs]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path, row("a"), row("b"))


def test_issues_are_read_from_the_database_and_not_from_the_stale_file(bench):
    assert list(load(bench.place, bench.program).issues) == ["a", "b"]
    assert isinstance(writer_for(bench.place), BdCommand)


@pytest.mark.parametrize("in_envelope", [False, True])
def test_a_task_goes_through_its_life(bench, in_envelope):
    if in_envelope:
        (bench.home / "envelope").touch()
    outcomes = bench.writer.apply([Claim("a", "run-7"), Close("a", "run-7", "--well <done>")])
    assert [outcome.result for outcome in outcomes] == [ChangeResult.WRITTEN, ChangeResult.WRITTEN]
    after = bench.row()
    assert (after["status"], after["assignee"], after["close_reason"]) == ("closed", "run-7", "done")
    assert after["notes"] == "manyhands run-7 done:\n--well <done>"
    assert outcomes[-1].updated_at == after["updated_at"]
    assert not bench.pauses or len(bench.pauses) == 2


def test_the_other_endings(bench):
    assert bench.one(Claim("a", "r")).holds
    assert bench.one(Block("a", "r", "boom")).holds
    assert (bench.row()["status"], bench.row()["notes"]) == ("blocked", "manyhands r failed:\nboom")
    assert bench.one(Cancel("a", "r", "enough")).holds
    assert bench.row()["close_reason"] == "cancelled: enough"
    assert bench.one(Claim("b", "r")).holds
    assert bench.one(ReleaseIssue("b", "r")).holds
    assert (bench.row("b")["status"], bench.row("b")["assignee"]) == ("open", "")
    assert bench.one(Defer("b", "r", until=4_102_444_800.0)).holds
    assert (bench.row("b")["status"], bench.row("b")["defer_until"]) == ("deferred", "2100-01-01T00:00:00Z")


@pytest.mark.parametrize("fault", ["drop", "fail", "late"])
def test_a_write_that_goes_wrong_is_made_again_until_it_is_there(bench, fault):
    bench.faults(fault, fault)
    assert bench.one(Claim("a", "r")).result is ChangeResult.WRITTEN
    assert (bench.row()["status"], bench.row()["assignee"]) == ("in_progress", "r")
    bench.faults(fault, fault, "", fault)
    assert bench.one(Close("a", "r", "result")).holds
    assert bench.row()["status"] == "closed"
    assert bench.row()["notes"].count("result") == 1


def test_notes_that_were_dropped_though_the_issue_was_closed_are_added_alone(bench):
    bench.one(Claim("a", "r"))
    bench.faults("drop-notes")
    assert bench.one(Close("a", "r", "result")).holds
    assert bench.row()["notes"] == "manyhands r done:\nresult"
    assert len(bench.calls("close")) == 1


def test_a_claim_that_came_out_as_someone_elses_is_refused(bench):
    bench.faults("steal")
    outcome = bench.one(Claim("a", "r"))
    assert (outcome.result, outcome.why) == (ChangeResult.REFUSED, "is in_progress and assigned to thief")


def test_what_is_not_ours_to_change_is_refused_without_a_write(bench):
    bench.one(Claim("a", "ann"))
    writes = len(bench.calls("update", "close"))
    assert bench.one(Claim("a", "r")).result is ChangeResult.REFUSED
    assert bench.one(Close("a", "r")).result is ChangeResult.REFUSED
    assert bench.one(Claim("a", "ann")).result is ChangeResult.ALREADY
    assert len(bench.calls("update", "close")) == writes


def test_a_command_that_never_works_is_given_up_with_what_it_says(bench):
    bench.faults(*["fail"] * 20)
    outcome = bench.one(Claim("a", "r"))
    assert outcome.result is ChangeResult.REFUSED
    assert outcome.why.endswith("did not write the change in 5 tries: Error: database is locked")
    assert len(bench.pauses) == 4
    assert bench.pauses == sorted(bench.pauses)


def test_a_command_that_hangs_is_ended_and_tried_again(tmp_path):
    bench = Bench(tmp_path, row("a"), timeout_s=2.0)
    bench.faults("hang")
    assert bench.one(Claim("a", "r")).result is ChangeResult.WRITTEN


def test_an_issue_that_is_not_there_or_no_argument_is_missing(bench):
    assert bench.one(Claim("nowhere", "r")).result is ChangeResult.MISSING
    assert bench.one(Claim("--all", "r")).result is ChangeResult.MISSING


def test_two_writers_never_run_two_commands_at_once(bench):
    outcomes = {}

    def claim(id):
        outcomes[id] = BdCommand(bench.place, bench.program).apply([Claim(id, "r"), Close(id, "r", id)])

    threads = [threading.Thread(target=claim, args=(id,)) for id in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(outcome.result is ChangeResult.WRITTEN for each in outcomes.values() for outcome in each)


def test_without_bd_nothing_is_written_and_the_next_step_is_told(bench):
    shutil.rmtree(bench.home)
    before = (bench.place.directory / "issues.jsonl").read_bytes()
    with pytest.raises(Unavailable, match="cannot run") as caught:
        bench.one(Claim("a", "r"))
    assert "install Beads" in caught.value.hint
    assert (bench.place.directory / "issues.jsonl").read_bytes() == before
