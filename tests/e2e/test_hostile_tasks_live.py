"""Tasks that put a pipe or a device where the dispatcher reads: every one of them ends, and so does the run.

There are twenty ways: ten in the directory of the attempt, and ten in the store or the workspace.
"""

import os
import re
from pathlib import Path

import httpx
import pytest

from manyhands.engine.run_opening import attempt_directory
from manyhands.surfaces.api.named_tokens import make_token
from manyhands.surfaces.api.token import token_of
from manyhands.surfaces.api.token_scope import TokenScope
from surfaces.cli.console import PATIENCE_S, Console, sh, shell_host

#: In the directory of the attempt.
HERE = 'cd "$(dirname "$MANYHANDS_USAGE_FILE")"'
HOSTILE = {
    "pipe-without-check": (f"{HERE}; rm output.log; mkfifo output.log", None),
    "pipe-for-output": (f"{HERE}; rm output.log; mkfifo output.log", ["true"]),
    "link-for-output": (f"{HERE}; rm output.log; ln -s /dev/zero output.log", ["true"]),
    "link-to-a-file": (f"{HERE}; echo precious > victim; rm output.log; ln -s victim output.log", ["true"]),
    "pipe-for-prompt": (f"{HERE}; rm prompt.txt; mkfifo prompt.txt", ["true"]),
    "pipe-for-usage": (f"{HERE}; mkfifo usage.json", None),
    "device-for-usage": (f"{HERE}; ln -s /dev/zero usage.json", None),
    "pipe-for-ending": (f"{HERE}; mkfifo ending.json", None),
    "device-for-ending": (f"{HERE}; ln -s /dev/zero ending.json", None),
    "pipe-for-the-next": (
        f"{HERE}; next=../$MANYHANDS_TASK.2; mkdir $next; mkfifo $next/output.log; exit 1",
        None,
    ),
}

#: In the directory of the store; the workspace is above it.
HOSTILE_TO_THE_STORE = {
    "pipe-for-audit": "rm -f audit.jsonl; mkfifo audit.jsonl",
    "pipe-for-tokens": "rm -f tokens.json; mkfifo tokens.json",
    "device-for-tokens": "rm -f tokens.json; ln -s /dev/zero tokens.json",
    "pipe-for-token": "rm -f token; mkfifo token",
    "circle-for-token": "rm -f token; ln -s token token",
    "pipe-for-mark": "rm -f journal.db-mark; mkfifo journal.db-mark",
    "pipe-for-journal": "rm -f journal.db; mkfifo journal.db",
    "pipe-for-key": "rm -rf env; mkdir -p env; mkfifo env/key",
    "pipe-for-plan": "rm -f ../plan.jsonl; mkfifo ../plan.jsonl",
    "pipe-for-config": "rm -f ../manyhands.toml; mkfifo ../manyhands.toml",
}


def run_all(console: Console) -> None:
    console.config(shell_host(2))
    tasks = []
    for id, (script, check) in HOSTILE.items():
        fields = {"prompt": "do it", "attempts": 2} | ({} if check is None else {"check": check})
        tasks.append(sh(id, f"echo here; {script}", **fields))
    console.plan(tasks)
    done = console.run("run", "plan.jsonl")
    assert done.code in (0, 1), done.err


def test_no_task_can_hang_the_dispatcher_by_what_it_puts_into_its_directory(console: Console) -> None:
    run_all(console)
    records = console.book().runs["plan-1"].records
    states = {id: str(record.state) for id, record in records.items()}
    reports = ("pipe-for-usage", "device-for-usage", "pipe-for-ending", "device-for-ending")
    assert {states[id] for id in reports} == {"done"}, "a report that cannot be read is left out of account"
    assert records["pipe-without-check"].last_ending.tail == "here\n", "the file that it printed to is read"
    attempt = attempt_directory(console.store, "plan-1", "link-to-a-file", 1)
    assert Path(attempt, "victim").read_text() == "precious\n", "nothing is written through a link"
    for id in ("pipe-for-output", "link-for-output", "link-to-a-file", "pipe-for-prompt", "pipe-for-the-next"):
        ending = records[id].last_ending
        assert ending is not None
        assert "not a regular file" in ending.detail, ending


@pytest.mark.parametrize("words", [["log"], ["log", "--raw"], ["show"], ["explain"]], ids=" ".join)
def test_commands_that_show_an_attempt_do_not_wait_for_a_pipe(console: Console, words: list[str]) -> None:
    console.config(shell_host(1))
    pipes = f"{HERE}; mkfifo result.txt result.json; rm output.log; mkfifo output.log"
    console.plan([sh("a", f"echo here; {pipes}")])
    assert console.run("run", "plan.jsonl").code == 0
    done = console.run("task", *words[:1], "a", *words[1:])
    assert done.code == 0, done.err


def test_the_review_does_not_wait_for_a_pipe_in_place_of_a_record(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", f"{HERE}; mkfifo landing.json")])
    assert console.run("run", "plan.jsonl").code == 0
    assert console.run("review").code == 0


def test_a_function_does_not_wait_for_a_pipe_in_place_of_its_output(console: Console) -> None:
    console.config('[hosts.py]\ntype = "python"\nwidth = 1\n')
    console.write(
        "work.py",
        "import os, pathlib\n"
        "def first():\n"
        "    for name in ('result.json', 'result.txt'):\n"
        "        os.mkfifo(pathlib.Path(os.environ['MANYHANDS_USAGE_FILE']).with_name(name))\n"
        "    following = pathlib.Path(os.environ['MANYHANDS_USAGE_FILE']).parent.parent / 'a.2'\n"
        "    following.mkdir(exist_ok=True)\n"
        "    if not (following / 'output.log').exists():\n"
        "        os.mkfifo(following / 'output.log')\n"
        "        raise ValueError('first')\n"
        "    return 'x' * 100_000\n"
        "def long():\n"
        "    for name in ('result.json', 'result.txt'):\n"
        "        os.mkfifo(pathlib.Path(os.environ['MANYHANDS_USAGE_FILE']).with_name(name))\n"
        "    return 'x' * 100_000\n",
    )
    console.plan([{"id": "a", "call": "work:first", "attempts": 2}, {"id": "b", "call": "work:long", "attempts": 1}])
    done = console.run("run", "plan.jsonl")
    assert done.code == 1, done.err
    details = {id: record.last_ending.detail for id, record in console.book().runs["plan-1"].records.items()}
    assert all("not a regular file" in detail for detail in details.values()), details


@pytest.mark.parametrize("way", HOSTILE_TO_THE_STORE)
def test_no_task_can_hang_a_dispatcher_that_serves_by_what_it_puts_into_the_store(console: Console, way: str) -> None:
    console.config(shell_host(2))
    known = [token_of(console.store), make_token(console.store, "ann", TokenScope.COMMAND, 0.0)]
    script = f'cd "{console.store}"; {HOSTILE_TO_THE_STORE[way]}'
    console.plan([sh("evil", script), sh("next", "true", needs=["evil"]), sh("slow", "sleep 1000")])
    serving = console.start("serve", "--plan", "plan.jsonl", "--port", "0")
    serving.wait_until(lambda: "ended task=next" in serving.err, "the end of the next task")
    found = re.search(r"detail=(http://[0-9.:]+)", serving.err)
    assert found is not None, serving.err
    with httpx.Client(base_url=found[1], timeout=PATIENCE_S) as client:
        for token in ("wrong", *known):
            head = {"authorization": f"Bearer {token}"}
            assert client.get("/api/v1/runs", headers=head).status_code == 200
            paused = client.post("/api/v1/hosts/local/pause", headers=head, json={})
            assert paused.status_code in (200, 401), paused.text
        assert client.get("/api/v1/tasks/plan-1/evil/output").status_code == 200
    serving.process.terminate()
    assert "Traceback" not in serving.end().err


NAMED = {
    "audit.jsonl": [["audit"], ["host", "pause", "local"]],
    "tokens.json": [["token"], ["token", "add", "bob", "--scope", "read"]],
    "token": [["token"], ["serve", "--port", "0"]],
    "journal.db-mark": [
        ["runs"],
        ["run", "plan.jsonl", "--dry-run"],
        ["run", "plan.jsonl"],
        ["host", "pause", "local"],
    ],
    "journal.db": [["runs"], ["run", "plan.jsonl"], ["store", "check"], ["host", "pause", "local"]],
    "lock": [["run", "plan.jsonl"]],
    "env/key": [["run", "other.jsonl"]],
}


@pytest.mark.parametrize("file", NAMED)
def test_commands_name_a_pipe_in_the_store_instead_of_waiting_for_it(console: Console, file: str) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "true", env={"X": "1"})])
    console.plan([sh("b", "true", env={"X": "2"})], "other.jsonl")
    assert console.run("run", "plan.jsonl").code == 0
    path = console.store / file
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    for words in NAMED[file]:
        done = console.run(*words)
        assert (done.code, "Traceback" in done.err) == (75, False), (words, done.err)
        assert f"{file}`" in done.err, (words, done.err)
        assert "hint: " in done.err, (words, done.err)
