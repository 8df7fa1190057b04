"""The programs in examples/, run as a reader would run them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from surfaces.cli.console import PATIENCE_S, Console, Done, sh, shell_host

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def program(console: Console, name: str, *arguments: str) -> Done:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(
        command, cwd=console.directory, env=console.env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


def attempts_of(console: Console, task: str) -> list[dict[str, Any]]:
    return console.run("task", "show", task, "-o", "json").json["attempts"]


def test_a_workload_is_made_and_runs_to_its_end(console: Console) -> None:
    made = program(console, "make_workload.py", "40", "--to", "work", "--scale", "0.005")
    assert (made.code, made.out) == (0, "work/plan.jsonl\n")
    tasks = [json.loads(row) for row in (console.directory / "work" / "plan.jsonl").read_text().splitlines()]
    assert len(tasks) == 40
    assert {task["kind"] for task in tasks} == {"code", "text", "reasoning"}
    assert sum("needs" in task for task in tasks) > 3
    console.directory /= "work"
    done = console.run("run", "plan.jsonl", "-o", "json")
    assert (done.code, done.json["counts"]["done"]) == (0, 40), done.err


def test_the_same_seed_makes_the_same_workload_and_none_is_written_over(console: Console) -> None:
    texts = []
    for to, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert program(console, "make_workload.py", "20", "--to", to, "--seed", seed).code == 0
        texts.append((console.directory / to / "plan.jsonl").read_text())
    assert [text == texts[0] for text in texts] == [True, True, False]
    again = program(console, "make_workload.py", "20", "--to", "a", "--seed", "2")
    assert again.code == 2
    assert "there is a workload in a already" in again.err
    assert (console.directory / "a" / "plan.jsonl").read_text() == texts[0]


def test_a_workload_as_a_beads_backlog_is_worked_off_by_serve_and_closed(console: Console) -> None:
    made = program(console, "make_workload.py", "30", "--to", "work", "--beads", "--scale", "0.005")
    assert (made.code, made.out) == (0, "work/.beads/issues.jsonl\n")
    issues = [json.loads(row) for row in (console.directory / made.out.strip()).read_text().splitlines()]
    ready = console.run("backlog", "ready", "work", "--output", "ids")
    assert ready.code == 0, ready.err
    assert set(ready.ids) == {issue["id"] for issue in issues if "dependencies" not in issue}
    assert 0 < len(ready.ids) < 30

    console.directory /= "work"
    serving = console.start("serve", "--port", "0")
    seen = program(console, "monitor.py", "--every", "0.2")
    assert (seen.code, seen.out.splitlines()[-1].endswith(": done 30")) == (0, True), seen.err
    serving.process.terminate()
    assert serving.end().code == 0
    closed = [json.loads(row)["status"] for row in (console.directory / ".beads" / "issues.jsonl").open()]
    assert closed == ["closed"] * 30
    assert "declare no claims" not in serving.err
    spans = [(attempt["started_at"], attempt["ended_at"]) for id in ready.ids for attempt in attempts_of(console, id)]
    assert max(sum(start <= at < end for start, end in spans) for at, _ in spans) > 1, "the example runs side by side"


def test_the_monitor_follows_a_run_from_before_its_start_to_its_end(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "while [ ! -e go ]; do sleep 0.02; done"), sh("b", "exit 0")])
    watching = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "monitor.py"), "plan-1", "--every", "0.05"],
        cwd=console.directory,
        env=console.env,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    live = console.start("run", "plan.jsonl")
    first = watching.stdout.readline()
    while "running 1" not in first:
        first = watching.stdout.readline()
        assert first, "the monitor ended early"
    (console.directory / "go").touch()
    assert live.end().code == 0
    rest, _ = watching.communicate(timeout=PATIENCE_S)
    assert rest.splitlines()[-1].endswith("plan-1: done 2")
    assert watching.returncode == 0


def test_the_monitor_tells_by_its_exit_code_that_something_failed(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "exit 1", attempts=1)])
    assert console.run("run", "plan.jsonl").code == 1
    seen = program(console, "monitor.py")
    assert (seen.code, seen.out.strip().endswith("failed 1")) == (1, True)
    assert program(console, "monitor.py", "nothing-9", "--patience", "0", "--every", "0").code == 1


def test_the_comparison_finds_adaptive_faster_than_one_at_a_time(console: Console) -> None:
    done = program(console, "compare.py", "24", "--scale", "0.06")
    assert done.code == 0, done.err
    one, adaptive, ratio = done.out.splitlines()
    assert re.fullmatch(r"one at a time +[\d.]+ s +peak +1 +24 done", one)
    assert re.fullmatch(r"adaptive +[\d.]+ s +peak +\d+ +24 done", adaptive)
    assert float(ratio.split()[1]) > 1.5, done.out


def test_every_example_has_its_line_in_the_readme() -> None:
    files = {
        str(path.relative_to(EXAMPLES))
        for path in EXAMPLES.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    } - {"README.md"}
    listed = set(re.findall(r"^\| \[([^]]+)\]\(\1\) \| \S.*\|$", (EXAMPLES / "README.md").read_text(), re.MULTILINE))
    assert listed == files
    assert os.access(EXAMPLES / "agents" / "stand-in", os.X_OK)
