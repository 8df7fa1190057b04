"""`init` in eight kinds of directory: `doctor` passes what it wrote, and `run` runs it."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from surfaces.cli.console import Console

TESTS = (
    "import unittest\n\n\nclass Some(unittest.TestCase):\n    def test(self) -> None:\n        self.assertTrue(True)\n"
)
ISSUE = {"id": "bd-1", "title": "A bug", "status": "open", "priority": 2, "issue_type": "bug"}


def python(directory: Path) -> None:
    (directory / "tests").mkdir()
    (directory / "tests" / "test_some.py").write_text(TESTS)


def node(directory: Path) -> None:
    (directory / "package.json").write_text(json.dumps({"scripts": {"test": "node --test"}}))
    # Stands in for a program that is not on every machine; git has it too, so a worktree finds it.
    (directory / "npm").write_text("#!/bin/sh\nexit 0\n")
    (directory / "npm").chmod(0o755)


def make(directory: Path) -> None:
    (directory / "Makefile").write_text("all:\n\ttrue\ntest: all\n\ttest -e Makefile\n")


def beads(directory: Path) -> None:
    (directory / ".beads").mkdir()
    (directory / ".beads" / "issues.jsonl").write_text(json.dumps(ISSUE) + "\n")


def rust(directory: Path) -> None:
    """Its tests cannot run here, because there is no cargo: then there is no check."""
    (directory / "Cargo.toml").write_text('[package]\nname = "x"\n')


def docs(directory: Path) -> None:
    (directory / "README.md").write_text("# A project of words\n")


#: kind of directory → (what it has, the first words of its check, whether work lands)
KINDS: dict[str, tuple[Callable[[Path], None] | None, str, bool]] = {
    "an empty directory": (None, "", False),
    "a directory without git": (make, "make", False),
    "Python with tests": (python, "pytest", True),
    "make": (make, "make", True),
    "Node": (node, "npm", True),
    "Beads": (beads, "", True),
    "Rust without cargo": (rust, "", True),
    "documents": (docs, "", True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_init_writes_is_passed_by_doctor_and_runs(
    with_claude: Console, git: Callable[..., str], kind: str
) -> None:
    console = with_claude
    fill, check, lands = KINDS[kind]
    if fill is not None:
        fill(console.directory)
    console.env["PATH"] = f"{console.directory}:{console.env['PATH']}"
    if lands:
        git("init", "-q")
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", "first")
    began = console.run("init", "--yes")
    assert began.code == 0, began.err
    assert began.out.split() == ["manyhands.toml", "first-plan.toml"]
    assert ("tests: none found; write a `check` for your tasks" in began.err) == (not check)
    plan = tomllib.loads((console.directory / "first-plan.toml").read_text())["task"]
    change = next(task for task in plan if task["id"] == "first-change")
    assert Path(change.get("check", [""])[0]).name == check
    assert (change.get("workspace") == "worktree") == lands
    checked = console.run("doctor")
    assert checked.code == 0, checked.out
    assert "ok    host claude: 2.1.0 (stand-in)" in checked.out
    done = console.run("run", "first-plan.toml")
    assert done.code == 0, done.out + done.err
    assert (console.directory / "NOTES.md").exists()
    if lands:
        assert git("log", "--format=%s").splitlines() == [
            "first-change: Correct one unclear thing in a comment or in the docs",
            "first",
        ]


def test_init_overwrites_nothing(with_claude: Console) -> None:
    with_claude.config("# mine\n")
    again = with_claude.run("init", "--yes")
    assert (again.code, "there is a `manyhands.toml` here already" in again.err) == (2, True)
    assert (with_claude.directory / "manyhands.toml").read_text() == "# mine\n"


def test_a_project_whose_tests_run_by_npm_is_seen(with_claude: Console) -> None:
    node(with_claude.directory)
    with_claude.env["PATH"] = f"{with_claude.directory}:{with_claude.env['PATH']}"
    began = with_claude.run("init", "--yes")
    assert "tests: npm test --silent" in began.err


def test_doctor_tells_each_wrong_thing_with_its_fix(with_claude: Console) -> None:
    with_claude.config(
        '[hosts.codex]\ntype = "agent"\nagent = "codex"\n'
        '[hosts.api]\ntype = "openai"\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\napi_key_env = "NO_SUCH_KEY"\n'
        '[hosts.down]\ntype = "openai"\nurl = "http://127.0.0.1:9"\nmodel = "m"\n'
        '[[backlogs]]\nbeads = "nowhere"\n'
    )
    told = with_claude.run("doctor", "-o", "json")
    assert told.code == 1
    wrong = {row["what"]: (row["says"], row["fix"]) for row in told.json if not row["good"]}
    assert set(wrong) == {"host codex", "host api", "host down", "backlog nowhere"}
    assert "`codex` is not found on PATH" in wrong["host codex"][0]
    assert "install `codex`" in wrong["host codex"][1]
    assert wrong["host api"] == ("the environment variable NO_SUCH_KEY is not set", "`export NO_SUCH_KEY=…`")
    assert "is the server started?" in wrong["host down"][1]
    assert "http://127.0.0.1:9/v1" in wrong["host down"][1]
    assert "4 of" in told.err


def test_doctor_names_what_is_wrong_with_a_config_that_cannot_be_read(with_claude: Console) -> None:
    with_claude.config('[hosts.a]\ntype = "ollama"\n')
    told = with_claude.run("doctor")
    assert told.code == 1
    assert "WRONG config: config `manyhands.toml` line 2" in told.out
    assert 'fix: write `type = "openai"`' in told.out


def test_a_sentence_becomes_landed_commits_and_is_done_once(with_claude: Console, git: Callable[..., str]) -> None:
    console = with_claude
    git("init", "-q")
    for name in ("src/one", "src/two", "other"):
        (console.directory / name).mkdir(parents=True)
        (console.directory / name / "code.py").write_text("x = 1\n")
    (console.directory / "tests").mkdir()
    for number in ("one", "two"):
        console.write(f"tests/test_{number}.py", f"import src.{number}.code\n")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    alone = console.run("do", "Explain the code")
    assert (alone.code, "no host here can carry out a sentence" in alone.err) == (2, True)
    assert "`manyhands init` looks for agents" in alone.err
    console.config('[hosts.local]\ntype = "shell"\n')
    assert '\n[hosts.claude]\ntype = "agent"\nagent = "claude"\n' in console.run("do", "Explain the code").err
    (console.directory / "manyhands.toml").unlink()
    assert console.run("init", "--yes").code == 0
    done = console.run("do", "Explain the code", "--check", "test -e NOTES.md")
    assert done.code == 0, done.err
    assert git("log", "--format=%s").splitlines() == ["do: Explain the code", "first"]
    parts = console.run("do", "Add type hints to src/", "--split", "--check", "test -e src")
    assert parts.code == 0, parts.err
    changed = git("log", "--name-only", "--format=", "HEAD~1..HEAD").split()
    assert {name.split("/")[0] for name in changed} == {"src"}
    assert git("log", "--format=%s", "-1").strip().startswith("src")
    assert git("log", "--format=%s", "-1").strip().endswith(": Add type hints to src/")
    (plan,) = (console.directory / ".manyhands" / "do").glob("*split*.toml")
    prompts = "\n".join(task["prompt"] for task in tomllib.loads(plan.read_text())["task"])
    assert "- tests/test_one.py" in prompts
    assert "- tests/test_two.py" in prompts
    commits = git("rev-parse", "HEAD")
    again = console.run("do", "Add type hints to src/", "--split")
    assert (again.code, "nothing to do" in again.err) == (0, True)
    assert git("rev-parse", "HEAD") == commits


def test_doctor_names_the_models_that_a_server_has(with_claude: Console, server: str) -> None:
    with_claude.config(f'[hosts.m]\ntype = "openai"\nurl = "{server}/v1"\nmodel = "granit"\n')
    told = with_claude.run("doctor", "-o", "json")
    (wrong,) = [row for row in told.json if not row["good"]]
    assert (told.code, wrong["fix"]) == (1, "it has granite-code:8b, qwen3:4b: correct `model`")
    with_claude.config(f'[hosts.m]\ntype = "openai"\nurl = "{server}/v1"\nmodel = "qwen3:4b"\n')
    assert with_claude.run("doctor").code == 0


def test_doctor_refuses_the_uncommitted_changes_that_run_would_refuse(
    with_claude: Console, git: Callable[..., str]
) -> None:
    console = with_claude
    docs(console.directory)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    assert console.run("init", "--yes").code == 0
    (console.directory / "README.md").write_text("# Changed\n")
    told = console.run("doctor", "-o", "json")
    (wrong,) = [row for row in told.json if not row["good"]]
    assert (told.code, wrong["what"], "README.md" in wrong["says"]) == (1, "git", True)
    assert wrong["says"] in console.run("run", "first-plan.toml").err
    config = console.directory / "manyhands.toml"
    config.write_text(config.read_text() + '\n[landing]\ndirty = "stash"\n')
    assert console.run("doctor").code == 0
