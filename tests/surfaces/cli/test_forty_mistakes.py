"""Forty mistakes that people make in their first hour. Each is told with the thing, the value and the next step."""

import os
from typing import NamedTuple

import pytest

from surfaces.cli.console import Console
from surfaces.cli.two_models import server

__all__ = ["server"]

GOOD = '[[task]]\nid = "good"\nrun = ["true"]\n'
SHELL = '[hosts.local]\ntype = "shell"\nkinds = ["shell"]\n'


class Mistake(NamedTuple):
    says: tuple[str, ...]  # what the message names: the thing, the value, the next step
    typed: str = "run p.toml"
    files: dict[str, str | bytes] = {}  # noqa: RUF012 - nobody changes it
    code: int = 2


def plan(*lines: str) -> dict[str, str | bytes]:
    """A plan whose second task has these lines."""
    return {"p.toml": GOOD + '[[task]]\nid = "bad"\n' + "\n".join(lines) + "\n"}


def host(*lines: str) -> dict[str, str | bytes]:
    return {"p.toml": GOOD, "manyhands.toml": "[hosts.mine]\n" + "\n".join(lines) + "\n"}


def asks(url: str, model: str = "granite") -> dict[str, str | bytes]:
    """A prompt for a model server."""
    config = f'[hosts.model]\ntype = "openai"\nurl = "{url}"\nmodel = "{model}"\n'
    return {"p.toml": '[[task]]\nid = "ask"\nprompt = "hello"\nattempts = 1\n', "manyhands.toml": config}


RUN = 'run = ["true"]'
MISTAKES: dict[str, Mistake] = {
    # Fields that have another name elsewhere
    "retries": Mistake(
        ("line 7", "unknown field `retries`", "did you mean `attempts`?"), files=plan(RUN, "retries = 2")
    ),
    "depends_on": Mistake(
        ("line 7", "unknown field `depends_on`", "did you mean `needs`?"), files=plan(RUN, 'depends_on = ["good"]')
    ),
    "command": Mistake(("unknown field `command`", "did you mean `run`?"), files=plan('command = "true"')),
    "name instead of id": Mistake(
        ("unknown field `name`", "did you mean `id`?"), files={"p.toml": '[[task]]\nname = "a"\nrun = ["true"]\n'}
    ),
    "tags": Mistake(("unknown field `tags`", "did you mean `labels`?"), files=plan(RUN, 'tags = ["x"]')),
    "tasks": Mistake(
        ("unknown field `tasks`", "did you mean `task`?"), files={"p.toml": '[[tasks]]\nid = "a"\nrun = ["true"]\n'}
    ),
    "a typo in a field": Mistake(("`timout`", "did you mean `timeout`?"), files=plan(RUN, "timout = 3")),
    "base_url": Mistake(
        ("unknown field `hosts.mine.base_url`", "did you mean `url`?"),
        files=host('type = "openai"', 'base_url = "http://x/v1"', 'model = "m"'),
    ),
    "max_parallel": Mistake(
        ("unknown field `hosts.mine.max_parallel`", "did you mean `width`?"),
        files=host('type = "shell"', "max_parallel = 4"),
    ),
    # Host types that are programs or servers
    "type ollama": Mistake(
        ("line 2", "'ollama'", '`type = "openai"`, `url = "http://127.0.0.1:11434/v1"`, `probe = "ollama"`'),
        files=host('type = "ollama"'),
    ),
    "type claude": Mistake(("'claude'", '`type = "agent"` and `agent = "claude"`'), files=host('type = "claude"')),
    "type vllm": Mistake(("'vllm'", '`url = "http://127.0.0.1:8000/v1"`'), files=host('type = "vllm"')),
    "type bash": Mistake(("'bash'", 'write `type = "shell"`'), files=host('type = "bash"')),
    "a typo in a type": Mistake(("'shel'", "did you mean `shell`?"), files=host('type = "shel"')),
    "no type": Mistake(("`type` is missing", '`type = "shell"`'), files=host("width = 3")),
    "an unknown agent": Mistake(("'claud'", "did you mean `claude`?"), files=host('type = "agent"', 'agent = "claud"')),
    "a key in a file": Mistake(
        ("API keys must not be stored in files", '`api_key_env = "NAME"`'),
        files=host('type = "openai"', 'url = "http://x/v1"', 'api_key = "sk-1"'),
    ),
    "a width of 0": Mistake(("`hosts.mine.width` must be", "got 0"), files=host('type = "shell"', "width = 0")),
    # Forms
    "a command as text": Mistake(
        ("`run` must be a list of strings", 'write `run = ["pytest", "-q"]`'), files=plan('run = "pytest -q"')
    ),
    "P1": Mistake(("`priority` must be a whole number", "`priority = 1`"), files=plan(RUN, 'priority = "P1"')),
    "needs as text": Mistake(
        ("`needs` must be a list of strings", '`needs = ["good"]`'), files=plan(RUN, 'needs = "good"')
    ),
    "claims as a list": Mistake(
        ("`claims` must be a table", '`claims = { write = ["src/**"] }`'), files=plan(RUN, 'claims = ["src/**"]')
    ),
    "a need that is not there": Mistake(
        ("line 7", "'goood'", "did you mean `good`?"), files=plan(RUN, 'needs = ["goood"]')
    ),
    "a task without work": Mistake(("the task has nothing to run", "give it `run = "), files=plan('title = "x"')),
    "a time-out in words": Mistake(("`timeout`", "'five minutes'", "20m"), files=plan(RUN, 'timeout = "five minutes"')),
    # Files
    "bad TOML": Mistake(("`p.toml` line 4", "is not valid TOML", "hint: "), files={"p.toml": GOOD + "[[task]\n"}),
    "bad YAML": Mistake(
        ("`p.yaml` line 3", "is not valid YAML", "hint: "), "run p.yaml", {"p.yaml": "task:\n  - id: a\n   run: [x]\n"}
    ),
    "tabs in YAML": Mistake(
        ("`p.yaml` line 2", "indent with blanks, not tabs"), "run p.yaml", {"p.yaml": "task:\n\t- id: a\n"}
    ),
    "a plan of someone else": Mistake(("`p.toml`", "permission denied", "`chmod u+r p.toml`"), files={"p.toml": GOOD}),
    "an unreadable plan": Mistake(("`p.toml`", "cannot be read: input/output error", "try another copy of it")),
    "no such plan": Mistake(("`plan.tom`", "there is no such file", "check the path"), "run plan.tom"),
    "a plan that is a directory": Mistake(("`.`", "is a directory", "name a plan file inside it"), "run ."),
    "another kind of file": Mistake(
        ("`p.txt`", "its name ends in `.txt`", ".toml, .yaml"), "run p.txt", {"p.txt": "hello"}
    ),
    # Commands
    "a typo in a command": Mistake(("there is no command `rum`", "did you mean `run`?"), "rum p.toml"),
    "a typo in an option": Mistake(("no option `--dry-rum`", "did you mean `--dry-run`?"), "run p.toml --dry-rum"),
    "no plan": Mistake(("PLAN", "is missing", "`manyhands run --help`"), "run"),
    "nothing has run yet": Mistake(
        ("there is no journal in `{directory}/.manyhands`", "`manyhands run PLAN`"), "task show x"
    ),
    # What only shows when it runs
    "a script that is not there": Mistake(
        ("command `./build.sh` not found", "{directory}` was searched", "fix `run` of the task"),
        files={"p.toml": '[[task]]\nid = "a"\nrun = ["./build.sh"]\nattempts = 1\n'},
        code=1,
    ),
    "a script without its path": Mistake(
        ("command `build.sh` not found on PATH", "`./build.sh` names the one in `{directory}`"),
        files={"p.toml": '[[task]]\nid = "a"\nrun = ["build.sh"]\nattempts = 1\n', "build.sh": "true\n"},
        code=1,
    ),
    "no host for a prompt": Mistake(
        ("no host can take task `bad`", "`prompt`"),
        files={"manyhands.toml": SHELL, **plan('prompt = "hello"')},
    ),
    "a URL without /v1": Mistake(("404 from {server}", "did you mean `{server}/v1`?"), files=asks("{server}"), code=1),
    "a model that is not there": Mistake(
        ("404 from {server}/v1", "it has granite-code:8b, qwen3:4b", "correct the `model` of the host"),
        files=asks("{server}/v1", "granit"),
        code=1,
    ),
    "a URL that is not one": Mistake(("127.0.0.1:11434", "http"), files=asks("127.0.0.1:11434/v1")),
}


def test_there_are_forty() -> None:
    assert len(MISTAKES) >= 40


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_the_thing_the_value_and_the_next_step(console: Console, server: str, name: str) -> None:
    mistake = MISTAKES[name]
    if name == "a plan of someone else" and os.geteuid() == 0:
        pytest.skip("root can read everything")
    for file, content in mistake.files.items():
        text = content.replace("{server}", server) if isinstance(content, str) else content
        console.write(file, text)
    if name == "a plan of someone else":
        (console.directory / "p.toml").chmod(0)
    if name == "an unreadable plan":
        (console.directory / "p.toml").symlink_to("/proc/self/mem")
    done = console.run(*mistake.typed.split())
    told = done.out + done.err
    assert done.code == mistake.code, told
    assert "Traceback" not in told
    for word in mistake.says:
        assert word.replace("{server}", server).replace("{directory}", str(console.directory)) in told
    if mistake.code == 2:
        assert done.err.startswith("error: ")
        assert not console.store.exists()


def test_a_server_that_is_down_is_told_while_the_run_waits_for_it(console: Console) -> None:
    for file, content in asks("http://127.0.0.1:9/v1").items():
        console.write(file, content)
    live = console.start("run", "p.toml")
    live.wait_for("cannot reach http://127.0.0.1:9/v1: connection refused; is the server started")
    live.interrupt()
    assert live.end().code == 75
