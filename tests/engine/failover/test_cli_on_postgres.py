"""The command line on a store in PostgreSQL: as on a directory, and nowhere a password."""

from contextlib import closing
from pathlib import Path

import pytest

from manyhands.engine.store.store_opening import open_journal
from manyhands.errors import ConfigError
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.store_view import open_book
from surfaces.cli.console import Console

PLAN = """
[[task]]
id = "a"
run = ["sh", "-c", "echo hello"]
claims = {}

[[task]]
id = "b"
run = ["false"]
attempts = 1
claims = {}
"""


@pytest.fixture
def console(tmp_path: Path) -> Console:
    (tmp_path / "plan.toml").write_text(PLAN)
    return Console(tmp_path)


@pytest.fixture
def url(postgres_url: str) -> str:
    return postgres_url.replace("manyhands@", "manyhands:geheim@")


def test_a_run_is_made_looked_at_and_copied(console: Console, url: str) -> None:
    (console.directory / "manyhands.toml").write_text(f'[store]\nurl = "{url}"\n')
    said = [
        console.run("run", "plan.toml"),
        console.run("task", "--output", "json"),
        console.run("task", "log", "a"),
        console.run("add", "--id", "c", "--run", "echo more"),
        console.run("config"),
        console.run("store", "copy", url, "kept"),
    ]
    assert [done.code for done in said] == [1, 0, 0, 0, 0, 0], [done.err for done in said]
    assert {row["task"]: row["state"] for row in said[1].json} == {"a": "done", "b": "failed"}
    assert said[2].out == "hello\n"
    assert "will run" in said[3].err
    assert list(open_book(console.directory / "kept").runs) == ["plan-1", "added"] == list(open_book(url).runs)
    assert not (console.directory / ".manyhands" / "journal.db").exists()
    for done in said:
        assert "geheim" not in done.out + done.err


def test_a_run_is_refused_while_another_leads_and_says_who(console: Console, url: str) -> None:
    with closing(open_journal(url)):
        done = console.run("run", "plan.toml", "--store", url)
    assert done.code == 75
    assert "is led by process" in done.err
    assert "`manyhands add` gives it tasks" in done.err
    assert "geheim" not in done.err


@pytest.mark.parametrize("store", ["mysql://ada:geheim@db/work", "postgresql://ada:geheim@db/work?colour=red"])
def test_a_store_that_is_none_is_refused_without_its_password(store: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_book(Settings(store=store).load().store_at)
    assert refused.value.hint
    assert "geheim" not in refused.value.message
