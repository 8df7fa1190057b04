"""What agents say they cost, from their command to what a person reads."""

import json
import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from surfaces.cli.console import Console, sh

DOCS = Path(__file__).parents[2] / "docs" / "hosts.md"
PRICED = '[hosts.local]\ntype = "shell"\nwidth = 2\nprices = { tokens_in = 3.0, tokens_out = 15.0 }\n'
SAYS = 'printf %s "$1" > "$MANYHANDS_USAGE_FILE"'


def test_a_run_says_what_it_cost_and_a_task_what_its_attempts_did(console: Console) -> None:
    console.config(PRICED)
    console.plan(
        [
            sh("by-price", SAYS, "sh", '{"tokens_in": 1000000, "tokens_out": 100000}'),
            sh("as-told", SAYS, "sh", '{"tokens_in": 5, "cost": 0.25}'),
            sh("unknown", "exit 0"),
        ]
    )
    done = console.run("run", "plan.jsonl", "-o", "json")
    assert done.code == 0, done.err
    assert done.json["cost"] == pytest.approx(3.0 + 1.5 + 0.25)
    assert " · cost 4.75\n" in done.err
    assert "attempt 1 on local: done after " in (shown := console.run("task", "show", "by-price").out)
    assert ", 1,100,000 tokens, cost 4.50\n" in shown
    assert "cost" not in console.run("task", "show", "unknown").out
    assert "- cost: 4.75\n" in console.run("review").out
    console.plan([sh("by-price", SAYS, "sh", '{"cost": 1.0}')])
    more = console.run("run", "plan.jsonl", "-o", "json")
    assert (more.json["cost"], more.json["cost_in_all"]) == (1.0, pytest.approx(5.75))
    assert re.search(r" · this time \S+, cost 1.00 · in all peak 2, cost 5.75\n", more.err)


def test_who_gets_the_result_is_told_what_it_cost(console: Console) -> None:
    console.config(PRICED + '[routes.shop]\n[[routes.shop.sinks]]\ntype = "file"\npath = "results.jsonl"\n')
    console.plan([sh("a", SAYS, "sh", '{"tokens_in": 1000000}', app="shop"), sh("b", "exit 0", app="shop")])
    assert console.run("run", "plan.jsonl").code == 0
    letters = [json.loads(line) for line in (console.directory / "results.jsonl").read_text().splitlines()]
    assert {letter["task"]: letter.get("cost") for letter in letters} == {"a": 3.0, "b": None}


def test_a_run_of_which_no_cost_is_known_says_none(console: Console) -> None:
    console.plan([sh("a", "exit 0")])
    done = console.run("run", "plan.jsonl", "-o", "json")
    assert (done.code, done.json["cost"]) == (0, None)
    assert "cost" not in done.err


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed: the example in docs/hosts.md calls it")
def test_the_example_of_an_agent_that_reports_its_bill(console: Console) -> None:
    (example,) = re.findall(r"```toml\n(run = .*?)```", DOCS.read_text(), re.DOTALL)
    report = {"result": "well", "usage": {"input_tokens": 900, "output_tokens": 80}, "total_cost_usd": 0.0123}
    script = f"#!/bin/sh\ncat <<'E'\n{json.dumps(report)}\nE\n"
    agent = console.write("agent", script + '[ "$4" = well ] || exit 7\n')
    agent.chmod(0o755)
    task = {"attempts": 1, **tomllib.loads(example)}
    console.plan([{"id": "good", "prompt": "well", **task}, {"id": "bad", "prompt": "ill", **task}])
    done = console.run("run", "plan.jsonl", PATH=f"{console.directory}{os.pathsep}{os.environ['PATH']}")
    assert "done 1 · failed 1" in done.out
    assert done.out.endswith(" · cost 0.0246\n"), "the one that failed was paid for too"
    assert ", 980 tokens, cost 0.0123\n    well\n" in console.run("task", "show", "good").out
    assert "failed after" in (shown := console.run("task", "show", "bad").out)
    assert "exit 7" in shown
    assert {path.name for path in console.directory.iterdir()} == {"agent", "plan.jsonl", ".manyhands"}
