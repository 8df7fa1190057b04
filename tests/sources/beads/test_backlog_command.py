"""`manyhands backlog ready`: data on stdout, talk on stderr."""

import json
from pathlib import Path

import pytest

from apps.serve.at_work import beads_of, hosts, serving, write_issues
from manyhands.surfaces.cli.backlog_listing import print_ready
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings
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
    print_ready(directory, OutputFormat.IDS, Settings())
    out, err = capsys.readouterr()
    assert out == "bd-1\nbd-4\n"
    assert "line 4: `status` 'completed' is unknown" in err


def test_json_has_what_a_program_needs(directory, capsys):
    print_ready(directory, OutputFormat.JSON, Settings())
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
    print_ready(directory, OutputFormat.TABLE, Settings())
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["TASK", "PRIORITY", "KIND", "TYPE", "TITLE"]
    assert lines[-1] == "2 ready of 5 unfinished · closed 1"


def test_kinds_and_claims_are_those_that_the_configuration_gives_the_backlog(directory: Path, capsys):
    """Where the configuration is does not matter, and neither does how it names the project."""
    config = directory / "sub" / "manyhands.toml"
    config.parent.mkdir()
    config.write_text(
        '[[backlogs]]\nbeads = "../.beads"\nkinds = { ops = ["summarize"] }\notherwise = "chore"\nclaims = {}\n'
    )
    print_ready(directory, OutputFormat.JSON, Settings(config=config))
    first, second = json.loads(capsys.readouterr().out)
    assert (first["kind"], second["kind"]) == ("chore", "ops")
    assert (first["claims"], second["claims"]) == ({"write": ["a.py"]}, {})


async def test_tasks_are_listed_in_the_order_in_which_serve_starts_them(tmp_path: Path, capsys):
    """Priority first, then what most others wait for, then the order of the backlog."""
    hosts(tmp_path, 1)
    write_issues(
        tmp_path,
        row("p-1", created_at="2026-01-01T00:00:00Z"),
        row("p-2", created_at="2026-01-03T00:00:00Z"),
        row("p-3", created_at="2026-01-02T00:00:00Z"),
        row("p-4", priority=1),
        waiting("p-5", "p-3"),
        row("p-6", metadata={"files": ["a.py"]}),
    )
    print_ready(tmp_path, OutputFormat.IDS, Settings())
    listed = capsys.readouterr().out.split()
    async with serving(tmp_path, beads_of(tmp_path)) as work:
        await work.until(lambda: len(work.ran()) == 6, "all to run")
        assert [id for id in work.ran() if id != "p-5"] == listed
