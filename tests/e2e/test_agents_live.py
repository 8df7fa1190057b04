"""Agent hosts from the command line, with a program that stands in for the agent."""

import json
import subprocess
import sys
from pathlib import Path

from hosts.agents.recordings import RECORDINGS
from surfaces.cli.console import Console

FAKE = Path(__file__).parents[1] / "hosts" / "agents" / "fake_agent.py"


def test_what_an_agent_does_in_a_worktree_lands_once_its_check_passes(console: Console) -> None:
    """The check of what landed is a command, and the agent is not asked a second time for it."""
    for words in ("init -q", "add -A", "commit -q --allow-empty -m first"):
        subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=e@x", *words.split()], cwd=console.directory, check=True
        )
    notes = console.directory / "home" / ".cache" / "stand-in"
    notes.mkdir(parents=True)
    exit_code, lines = RECORDINGS["claude", "ok"]
    (notes / "script.json").write_text(
        json.dumps([{"then": "echo hello > hello.txt", "lines": lines, "exit": exit_code}])
    )
    run = json.dumps([sys.executable, str(FAKE), str(notes / "script.json")])
    console.config(
        f'[hosts.claude]\ntype = "agent"\nagent = {{ name = "claude", run = {run} }}\n'
        f'env = {{ HOME = "{console.directory / "home"}" }}\n'
    )
    console.plan([{"id": "t", "prompt": "greet", "workspace": "worktree", "check": ["test", "-s", "hello.txt"]}])
    done = console.run("run", "plan.jsonl")
    assert done.code == 0, done.err
    assert (console.directory / "hello.txt").read_text() == "hello\n"
    assert len(list(notes.glob("given.*.json"))) == 1


def test_a_host_whose_program_or_key_is_missing_is_found_before_a_run(console: Console) -> None:
    console.config(
        '[hosts.mine]\ntype = "agent"\nagent = { run = ["git"] }\n'
        '[hosts.none]\ntype = "agent"\nagent = { run = ["no-such-agent"] }\n'
        '[hosts.model]\ntype = "openai"\nurl = "http://127.0.0.1:1/v1"\nmodel = "m"\napi_key_env = "NO_SUCH_KEY"\n'
    )
    checked = console.run("host", "check")
    assert checked.code == 2
    first, second, third = checked.out.splitlines()
    assert first.startswith("mine: ok, git version ")
    assert "none: cannot be used, `no-such-agent` is not found on PATH" in second
    assert third == "model: cannot be used, the environment variable NO_SUCH_KEY is not set"
    assert console.run("host", "check", "mine").code == 0


def test_the_check_of_hosts_says_who_is_signed_in(console: Console) -> None:
    """Codex answers by itself; of aider only its key can be seen."""
    program = console.write("codex", '#!/bin/sh\n[ "$1" = --version ] && echo 0.1 && exit\n[ -e "$HOME/signed-in" ]\n')
    program.chmod(0o755)
    told = f'env = {{ HOME = "{console.directory}", OPENAI_API_KEY = "" }}\n'
    console.config(
        f'[hosts.codex]\ntype = "agent"\nagent = {{ name = "codex", run = ["{program}"] }}\n{told}'
        '[hosts.aider]\ntype = "agent"\nagent = { name = "aider", run = ["git"] }\nenv = { OPENAI_API_KEY = "none" }\n'
    )
    codex, aider = console.run("host", "check").out.splitlines()
    assert codex == (
        "codex: ok, 0.1; nobody seems to have signed in: start `codex` once and sign in, or set OPENAI_API_KEY"
    )
    assert aider.endswith("; signed in")
    console.write("signed-in", "")
    assert console.run("host", "check", "codex").out == "codex: ok, 0.1; signed in\n"


def test_agents_that_could_change_the_same_file_are_warned_of(console: Console) -> None:
    console.config('[hosts.mine]\ntype = "agent"\nagent = { run = ["cat"] }\n')
    console.write("plan.jsonl", '{"id": "a", "prompt": "hello"}\n{"id": "b", "prompt": "hello"}\n')
    assert "2 tasks for agents declare no claims" in console.run("run", "plan.jsonl").err
    console.plan([{"id": f"t{n}", "prompt": "hello", "claims": {}} for n in range(2)])
    assert "declare no claims" not in console.run("run", "plan.jsonl").err
