"""Values of `env` and printed secrets: attempts get them, the store's journal never does."""

import os
import stat
from pathlib import Path

import pytest

from surfaces.cli.console import Console, sh, shell_host

CANARY = "canary-5f0e7c-value"
HOST_CANARY = "canary-of-the-host-91"


def journal_bytes(store: Path) -> bytes:
    return b"".join(file.read_bytes() for file in store.glob("journal.db*"))


def failing(id: str) -> dict[str, object]:
    """It uses its variables, prints them and fails, so that they are in what is told of its ending."""
    noted = 'echo "lesson: $API_KEY" >"$MANYHANDS_NOTES_FILE"'
    return sh(id, f'echo "$API_KEY $HOST_TOKEN"; printf %s "$PLAIN" >>seen; {noted}; exit 3', env=ENV, attempts=1)


ENV = {"API_KEY": CANARY, "PLAIN": f"plain-{CANARY}"}


@pytest.fixture
def ran(console: Console) -> Console:
    console.config(f'{shell_host(1)}env = {{ HOST_TOKEN = "{HOST_CANARY}" }}\n')
    console.plan([failing("a")])
    assert console.run("run", "plan.jsonl").code == 1
    assert (console.directory / "seen").read_text() == f"plain-{CANARY}"
    return console


def test_no_value_of_env_is_in_the_journal(ran: Console) -> None:
    whole = journal_bytes(ran.store)
    assert b"API_KEY" in whole
    assert b"[redacted] [redacted]" in whole
    assert CANARY.encode() not in whole
    assert HOST_CANARY.encode() not in whole


def test_a_reader_with_another_environment_and_config_sees_no_value(ran: Console) -> None:
    ran.config(shell_host(1))
    for command in (("task", "show", "a"), ("task", "show", "a", "-o", "json"), ("task", "log", "a"), ("runs", "show")):
        shown = ran.run(*command)
        assert CANARY not in shown.out + shown.err, command


def test_the_store_is_for_its_owner_alone(ran: Console) -> None:
    modes = {
        path: stat.S_IMODE(path.lstat().st_mode)
        for path in [ran.store, *ran.store.rglob("*")]
        if path.is_dir() or path.is_file()
    }
    assert modes[ran.store] == 0o700
    kept = [path for path in modes if path.is_file() and path.name.startswith(("journal.db", "lock", "output.log"))]
    assert len(kept) >= 4
    kept += list((ran.store / "env").iterdir())
    assert {path.name: oct(modes[path]) for path in kept if modes[path] != 0o600} == {}


def test_a_task_that_is_tried_again_has_its_values_again(ran: Console) -> None:
    assert ran.run("task", "retry", "a").code == 0
    assert ran.run("run", "plan.jsonl").code == 1
    assert (ran.directory / "seen").read_text() == f"plain-{CANARY}" * 2


def test_values_that_were_removed_come_again_from_the_plan(ran: Console) -> None:
    for value in (ran.store / "env").iterdir():
        if value.name != "key":
            value.unlink()
    assert ran.run("task", "retry", "a").code == 0
    assert ran.run("run", "plan.jsonl").code == 1
    assert (ran.directory / "seen").read_text() == f"plain-{CANARY}" * 2


def test_a_task_added_by_hand_has_its_values_though_the_request_has_not(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("first", "exit 0")])
    assert console.run("run", "plan.jsonl").code == 0
    console.plan([failing("added")], "more.jsonl")
    assert console.run("add", "more.jsonl").code == 0
    assert CANARY.encode() not in journal_bytes(console.store)


def test_a_plan_whose_env_has_changed_is_noticed(console: Console) -> None:
    console.config(shell_host(1))
    slow = sh("a", "while [ ! -e go ]; do sleep 0.05; done", env={"API_KEY": CANARY})
    console.plan([slow])
    live = console.start("run", "plan.jsonl")
    live.wait_until(lambda: b"API_KEY" in journal_bytes(console.store), "the task to be submitted")
    os.kill(live.process.pid, 9)
    live.end()
    (console.directory / "go").touch()
    same = console.run("run", "plan.jsonl", "--dry-run")
    assert "changed" not in same.err
    console.plan([{**slow, "env": {"API_KEY": "another"}}])
    edited = console.run("run", "plan.jsonl")
    assert edited.code == 0, edited.err
    assert "1 task is changed: a" in edited.err
