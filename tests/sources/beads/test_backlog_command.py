"""`manyhands backlog ready`: data on stdout, talk on stderr."""

import json

import pytest

from manyhands.surfaces.cli.backlog_listing import print_ready
from manyhands.surfaces.cli.printing import OutputFormat
from sources.beads.backlog_files import child, project, row, waiting


@pytest.fixture
def directory(tmp_path):
    return project(
        tmp_path,
        row("bd-e", issue_type="epic"),
        child("bd-1", "bd-e", priority=0, title="Fix it", labels=["ui"], metadata={"files": ["a.py"]}),
        waiting("bd-2", "bd-1"),
        row("bd-3", status="completed"),
        row("bd-4", priority=1, title="Summarize the log"),
        row("bd-5", status="closed"),
    )


def test_ids_come_one_a_line_without_epics_and_what_is_odd_is_told_beside(directory, capsys):
    print_ready(directory, OutputFormat.IDS)
    out, err = capsys.readouterr()
    assert out == "bd-1\nbd-4\n"
    assert "line 4: `status` 'completed' is unknown" in err


def test_json_has_what_a_program_needs(directory, capsys):
    print_ready(directory, OutputFormat.JSON)
    first, second = json.loads(capsys.readouterr().out)
    assert first == {
        "task": "bd-1",
        "title": "Fix it",
        "priority": 0,
        "kind": "code",
        "type": "task",
        "labels": ["ui"],
        "parent": "bd-e",
        "claims": {"write": ["a.py"]},
        "created_at": "2026-01-02T03:04:05.123456-08:00",
    }
    assert (second["kind"], second["parent"], second["claims"]) == ("text", None, None)


def test_a_table_ends_with_complete_counts(directory, capsys):
    print_ready(directory, OutputFormat.TABLE)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["TASK", "PRIORITY", "KIND", "TYPE", "TITLE"]
    assert lines[-1] == "2 ready of 5 unfinished · closed 1"
