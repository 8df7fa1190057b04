"""A store that lost its write-ahead log or a bit of it, from the command line."""

from pathlib import Path

from surfaces.cli.console import Console, sh, shell_host


def lose_the_log(console: Console) -> Path:
    """The store of a finished run as if it was copied while it was written: the main file alone, from before."""
    console.config(shell_host(1))
    console.plan([sh("a", "echo ran >>ran")])
    assert console.run("run", "plan.jsonl").code == 0
    file = console.store / "journal.db"
    early = file.read_bytes()
    assert console.run("run", "plan.jsonl", "--again").code == 0
    file.write_bytes(early)
    return file


def test_nothing_is_started_on_a_journal_whose_end_is_missing(console: Console) -> None:
    file = lose_the_log(console)
    for command in (("run", "plan.jsonl"), ("runs",), ("task",), ("task", "retry", "a"), ("store", "check")):
        refused = console.run(*command)
        assert refused.code == 75, command
        assert f"the end of the journal `{file}` is missing" in refused.err
        assert "manyhands store repair --to" in refused.err
    assert (console.directory / "ran").read_text() == "ran\nran\n"


def test_what_can_be_read_is_saved_to_a_new_store(console: Console) -> None:
    lose_the_log(console)
    repaired = console.run("store", "repair", "--to", "saved")
    assert repaired.code == 0, repaired.err
    assert "events" in repaired.err
    assert "are lost; tasks whose ending is among them run again" in repaired.err
    assert console.run("runs", "--store", "saved", "-o", "ids").ids == ["plan-1"]
    checked = console.run("store", "check", "--store", "saved", "-o", "json")
    assert checked.code == 0
    assert checked.json["sound"] is True
    assert checked.json["events"] == checked.json["recorded"] > 0
