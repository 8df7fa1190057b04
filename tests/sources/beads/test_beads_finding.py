"""Where a backlog is, and whether its file is the truth or only an export of a database."""

import json
import os
import time

import pytest

from manyhands.errors import BacklogError
from manyhands.sources.beads.beads_finding import Mode, find
from manyhands.sources.beads.beads_loading import load, writer_for
from manyhands.sources.beads.beads_ready import ready
from manyhands.sources.beads.beads_writing import BeadsFile
from sources.beads.backlog_files import project, row


@pytest.mark.parametrize("name", ["issues.jsonl", "beads.jsonl"])
def test_a_project_its_beads_directory_and_the_file_lead_to_the_same_backlog(tmp_path, name):
    project(tmp_path, row("bd-1"), name=name)
    file = tmp_path / ".beads" / name
    for path in (tmp_path, tmp_path / ".beads", file):
        place = find(path)
        assert (place.file, place.mode, place.warnings) == (file, Mode.FILE, ())
        assert list(load(place).issues) == ["bd-1"]
        assert isinstance(writer_for(place), BeadsFile)


@pytest.mark.parametrize("config", ["export.path: out/all.jsonl", "import:\n  path: ../out/all.jsonl\n"])
def test_the_configured_export_is_found(tmp_path, config):
    project(tmp_path / ".beads", name="x")  # an unrelated file
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "all.jsonl").write_text(json.dumps(row("bd-1")) + "\n")
    (tmp_path / ".beads" / "config.yaml").write_text(config)
    place = find(tmp_path)
    assert list(load(place).issues) == ["bd-1"]


def test_of_two_files_the_first_is_read_and_the_other_is_told_of(tmp_path):
    project(tmp_path, row("old"), name="beads.jsonl")
    project(tmp_path, row("new"), name="issues.jsonl")
    place = find(tmp_path)
    assert list(load(place).issues) == ["new"]
    assert "`beads.jsonl` beside it is not read" in place.warnings[0].message


def test_a_directory_without_beads_is_refused_with_the_next_step(tmp_path):
    with pytest.raises(BacklogError, match=r"neither a `.beads` directory nor an `issues.jsonl`"):
        find(tmp_path)
    with pytest.raises(BacklogError, match="there is no directory"):
        find(tmp_path / "nowhere")


def test_a_beads_directory_without_a_file_is_asked_through_bd(tmp_path):
    (tmp_path / ".beads").mkdir()
    place = find(tmp_path)
    assert (place.file, place.mode) == (None, Mode.BD)
    assert "`bd` command" in place.warnings[0].message


def dolt_directory(beads):
    (beads / "dolt" / ".dolt").mkdir(parents=True)
    (beads / "dolt" / ".dolt" / "manifest").write_text("x")


def embedded_directory(beads):
    (beads / "embeddeddolt").mkdir()


def dolt_backend(beads):
    (beads / "metadata.json").write_text('{"backend":"dolt"}')


def export_state(beads):
    (beads / "export-state.json").write_text('{"timestamp":"2026-01-01T00:00:00Z"}')


@pytest.mark.parametrize("sign", [dolt_directory, embedded_directory, dolt_backend, export_state])
def test_a_database_beside_the_file_is_warned_of_and_written_through_bd(tmp_path, sign):
    project(tmp_path, row("bd-1"))
    sign(tmp_path / ".beads")
    place = find(tmp_path)
    assert place.mode is Mode.BD
    assert not isinstance(writer_for(place), BeadsFile)
    assert "Dolt" in place.warnings[0].message
    assert list(load(place, program="bd-that-is-not-installed").issues) == ["bd-1"], "the export is better than nothing"


def test_an_export_older_than_its_database_is_told_with_both_times(tmp_path):
    project(tmp_path, row("bd-1"))
    beads = tmp_path / ".beads"
    dolt_directory(beads)
    an_hour_ago = time.time() - 3600
    os.utime(beads / "issues.jsonl", (an_hour_ago, an_hour_ago))
    assert "is out of date: exported at 20" in find(tmp_path).warnings[0].message
    (beads / "export-state.json").write_text(json.dumps({"timestamp": "2100-01-01T00:00:00Z", "issues": 1}))
    assert "may be out of date" in find(tmp_path).warnings[0].message


def test_statuses_of_the_project_come_from_its_configuration(tmp_path):
    project(tmp_path, row("a", status="qa"), row("b", status="review"))
    (tmp_path / ".beads" / "config.yaml").write_text(
        'status.custom: "review:wip, qa:active,Bad:wip,x:nonsense,plain"\n'
    )
    place = find(tmp_path)
    assert (place.statuses["review"], place.statuses["qa"], place.statuses["plain"]) == ("wip", "active", "unspecified")
    assert len(place.warnings) == 2
    beads = load(place)
    assert beads.problems == []
    assert [issue.id for issue in ready(beads, time.time())] == ["a"]


@pytest.mark.parametrize("text", ["a: [", "a: !!int ''", "a: &a\n  b: *a", "a: " + "[" * 100_000])
def test_a_broken_configuration_is_told_and_not_used(tmp_path, text):
    project(tmp_path, row("a"))
    (tmp_path / ".beads" / "config.yaml").write_text(text)
    assert "cannot be read" in find(tmp_path).warnings[0].message


def test_reading_leaves_nothing_behind(tmp_path):
    project(tmp_path, row("a"))
    load(find(tmp_path))
    assert os.listdir(tmp_path / ".beads") == ["issues.jsonl"]


def test_a_pipe_in_the_place_of_the_lock_is_not_waited_for(tmp_path, patience):
    project(tmp_path, row("a"))
    os.mkfifo(tmp_path / ".beads" / ".jsonl.lock")
    assert list(load(find(tmp_path)).issues) == ["a"]
