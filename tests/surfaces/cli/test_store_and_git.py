"""The store of a repository never ends up in a commit."""

import subprocess
from pathlib import Path

from surfaces.cli.console import Console, sh


def git(directory: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True).stdout


def test_git_add_of_everything_takes_nothing_of_the_store(console: Console) -> None:
    git(console.directory, "init", "-q")
    console.plan([sh("agent", "git add -A && git diff --cached --name-only")])
    done = console.run("run", "plan.jsonl")
    assert done.code == 0, done.err
    assert console.run("task", "log", "agent").out.splitlines() == ["plan.jsonl"]
    git(console.directory, "add", "-A")
    assert git(console.directory, "diff", "--cached", "--name-only").splitlines() == ["plan.jsonl"]


def test_a_directory_that_was_there_before_is_not_hidden_from_git(console: Console) -> None:
    (console.directory / "mine").mkdir()
    console.plan([sh("a", "exit 0")])
    assert console.run("run", "plan.jsonl", "--store", "mine").code == 0
    assert not (console.directory / "mine" / ".gitignore").exists()
