"""A dispatcher killed at every step between an attempt's start and its ending: nothing lands twice, nothing is lost.

Kills are real and come at an exact step: a `git` first on PATH passes on to the real one and, at the call it is told to
watch for, kills the dispatcher that called it before or after. The campaign kills at random instants.
"""

import os
import random
import re
import shutil
import signal
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from hosts.landing.project import ENV, Project
from journal_kills import gate, last_event, open_gate, wait_for_event
from surfaces.cli.console import Console

SOAK = bool(os.environ.get("MANYHANDS_SOAK"))
SEED = int(os.environ.get("MANYHANDS_SEED", "1"))
KILLS, TASKS_OF_A_LIFE = (100, 4) if SOAK else (2, 4)
TASKS = TASKS_OF_A_LIFE * (KILLS + 1)

GIT = """#!/bin/sh
case "$*" in
*"$KILL_AT"*)
    if mkdir "$KILL_ONCE" 2>/dev/null; then
        [ "$KILL_WHEN" = before ] && kill -9 $PPID && exit 1
        {git} "$@"; code=$?
        kill -9 $PPID
        exit $code
    fi
esac
exec {git} "$@"
"""

STEPS = [
    ("worktree add", "after"),
    ("update-ref -m", "after"),
    ("merge --ff-only", "after"),
    ("worktree remove", "before"),
]
if SOAK:
    STEPS += [("reset --quiet --hard", "before"), ("add --all", "after"), ("merge --ff-only", "before")]


def console_of(project: Project) -> Console:
    console = Console(project.directory)
    console.env |= ENV
    return console


def plan(console: Console, scripts: Sequence[str]) -> None:
    tasks = []
    for n, script in enumerate(scripts):
        fields = {"id": f"t{n}", "workspace": "worktree", "run": ["sh", "-c", script], "check": ["test", "-f", f"t{n}"]}
        tasks.append({**fields, "claims": {"write": [f"t{n}"], "append": ["CHANGELOG.md"]}})
    console.plan(tasks)


WORK = 'echo made > $MANYHANDS_TASK; echo "- $MANYHANDS_TASK" >> CHANGELOG.md'


def assert_all_landed_once(project: Project, count: int) -> None:
    ids = [f"t{n}" for n in range(count)]
    assert sorted(project.landed()) == sorted(ids)
    assert project.is_linear()
    assert project.changes() == ""
    assert project.worktrees() == []
    assert sorted(project.read("CHANGELOG.md").splitlines()[1:]) == sorted(f"- {id}" for id in ids)
    assert [path for path in (project.store / "worktrees").rglob("*") if path.is_file()] == []


@pytest.mark.slow
@pytest.mark.parametrize(("step", "when"), STEPS, ids=[f"{when} {step}" for step, when in STEPS])
def test_a_kill_at_any_step_of_landing_leaves_each_task_landed_once(
    project: Project, tmp_path: Path, step: str, when: str
) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(GIT.format(git=shutil.which("git")))
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    console = console_of(project)
    plan(console, [WORK] * 2)
    once = tmp_path / "killed"
    env = {"PATH": f"{fake.parent}:{os.environ['PATH']}", "KILL_AT": step, "KILL_WHEN": when, "KILL_ONCE": str(once)}
    assert console.run("run", "plan.jsonl", **env).code == -signal.SIGKILL
    assert once.exists()
    done = console.run("run", "plan.jsonl")
    assert done.code == 0, done.err
    assert "continues" in done.err
    assert_all_landed_once(project, 2)
    if (step, when) == ("merge --ff-only", "after"):
        shown = [console.run("task", "show", f"t{n}").out for n in range(2)]
        assert any("by attempt 1, whose ending was lost" in text for text in shown)
    assert project.branches() == []


@pytest.mark.slow
def test_kills_at_random_instants_lose_nothing_acknowledged_and_land_nothing_twice(project: Project) -> None:
    rng = random.Random(SEED)
    console = console_of(project)
    gates = [gate(project.directory, n // TASKS_OF_A_LIFE) for n in range(TASKS)]
    plan(console, [f"{waits}; {WORK}" for waits in gates])
    acknowledged: list[str] = []
    for life in range(KILLS):
        open_gate(project.directory, life)
        # Each task of this life has three events at least: it starts, it is spawned, it ends.
        number = last_event(project.store) + rng.randrange(3 * TASKS_OF_A_LIFE)
        (project.store / "wake").unlink(missing_ok=True)
        live = console.start("run", "plan.jsonl")
        live.wait_until((project.store / "wake").exists, "a dispatcher")
        assert wait_for_event(live.process, project.store, number)
        live.process.send_signal(signal.SIGKILL)
        live.process.wait()
        acknowledged += re.findall(r"done +(t\d+)#", live.err)
        assert set(acknowledged) <= set(project.landed())
    open_gate(project.directory, KILLS)
    done = console.run("run", "plan.jsonl")
    acknowledged += re.findall(r"done +(t\d+)#", done.err)
    assert done.code == 0, done.err
    assert len(acknowledged) == len(set(acknowledged))
    assert_all_landed_once(project, TASKS)
