"""What waits for a person is listed with the command that answers it, and those commands alone empty the list."""

import json
import shlex
from typing import Any

from manyhands.core.values.task import TaskState
from surfaces.cli.console import Console, console, sh, shell_host

__all__ = ["console"]

ONCE = "test -e {flag} || { touch {flag}; exit 1; }"
ASKS = """test -e answered || {
    touch answered
    printf '%s' '{"needs_person": true, "detail": "may it delete the table?"}' > "$MANYHANDS_ENDING_FILE"
    exit 1
}"""
PAYS = """printf '{"cost": 3}' > "$MANYHANDS_USAGE_FILE" """


def inbox(console: Console) -> list[dict[str, Any]]:
    done = console.run("inbox", "--output", "json")
    assert done.code == 0, done.err
    return list(json.loads(done.out))


def by_name(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in items}


def test_the_commands_it_prints_empty_it(console: Console) -> None:
    console.config(shell_host(4) + shell_host(2, "other", kinds=["slow"]))
    console.plan(
        [
            sh("fails", ONCE.replace("{flag}", "fixed"), attempts=1, claims={}),
            sh("after", "true", needs=["fails"], claims={}),
            sh("last", "true", needs=["after"], claims={}),
            sh("asks", ASKS, claims={}),
            sh("lonely", ONCE.replace("{flag}", "alone"), attempts=1, claims={}),
            sh("held", "true", kind="slow", host="other", claims={}),
        ]
    )
    assert console.run("host", "pause", "other", "--why", "the lid is open").code == 0
    live = console.start("run", "plan.jsonl")
    live.wait_until(lambda: len(inbox(console)) == 3, "three items")
    found = inbox(console)
    assert [(item["waits_for"], item["name"], item["holds"]) for item in found] == [
        ("failure", "fails", 3),
        ("task", "asks", 1),
        ("host", "other", 1),
    ], "a failure that nothing waits for is not in it"
    assert by_name(found)["asks"]["why"] == "needs a person: may it delete the table?"
    assert by_name(found)["other"]["why"] == "the lid is open"
    for item in found:
        assert console.run(*shlex.split(item["command"])[1:]).code == 0, item["command"]
    live.end()
    records = console.book().runs["plan-1"].records
    done = [id for id, record in records.items() if record.state is TaskState.DONE]
    assert sorted(done) == ["after", "asks", "fails", "held", "last"]
    assert inbox(console) == []
    assert "nothing waits for a person" in console.run("inbox").err


def test_a_run_that_nothing_works_on_waits_for_its_command(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh(f"t{n}", PAYS, claims={}) for n in range(3)])
    assert console.run("run", "plan.jsonl", "--max-cost", "2").code != 0
    (item,) = inbox(console)
    assert (item["waits_for"], item["name"], item["holds"]) == ("budget", "plan-1", 2)
    assert item["why"] == "it has cost 3.00 of at most 2.00"
    assert item["command"] == "manyhands run plan.jsonl --max-cost 4"
    shown = console.run("inbox").out
    assert "budget plan-1, holds 2 tasks, for " in shown
    assert "  $ manyhands run plan.jsonl --max-cost 4\n" in shown
    for _ in range(3):
        if items := inbox(console):
            console.run(*shlex.split(items[0]["command"])[1:])
    assert inbox(console) == []


BUDGETS = """
[budgets.careful]
per = "run"
cost = 4.0
[budgets.each]
per = "task"
cost = 5.0
"""


def test_budgets_that_are_used_up_are_in_it_and_their_commands_continue(console: Console) -> None:
    console.config(shell_host(1) + BUDGETS)
    pays_and_fails = f"test -e paid || {{ touch paid; {PAYS}; exit 1; }}"
    tasks = [sh("a", PAYS, priority=1), sh("b", pays_and_fails, attempts=5), sh("c", "true", priority=4)]
    console.plan([task | {"claims": {}} for task in tasks])
    assert console.run("run", "plan.jsonl").code == 1, "nothing more happens without a person"
    (item,) = inbox(console)
    assert item["waits_for"] == "budget"
    assert item["why"] == "budget careful of run plan-1 is used up: cost 6.00 of at most 4.00"
    assert item["why"] in console.run("task", "explain", "c").out
    for _ in range(4):
        for item in inbox(console):
            assert console.run(*shlex.split(item["command"])[1:]).code in (0, 1), item["command"]
    assert inbox(console) == []
    assert {str(record.state) for record in console.book().runs["plan-1"].records.values()} == {"done"}
