"""The first `manyhands.toml` and the first plan, as text with comments, from what was found."""

import json
from collections.abc import Iterator

from manyhands.apps.setup.machine_look import FoundAgent, MachineLook
from manyhands.apps.setup.model_servers import ServedModels

PLAN_NAME = "first-plan.toml"


def config_text(found: MachineLook) -> str:
    """A configuration that works here. What is not there yet is in comments."""
    parts = [
        "# The hosts are the places where attempts run. `manyhands doctor` says what is wrong with them,\n"
        "# `manyhands config` shows every setting in force, and `manyhands config schema` is for editors.\n",
        "[hosts.local]\n"
        'type = "shell"                 # commands on this machine: tasks with `run`\n'
        "# width = 4                    # attempts at once; left out, manyhands finds how many are good\n",
        '[hosts.python]\ntype = "python"                # functions: tasks with `call`\n',
        *map(_agent, found.agents),
        *map(_server, found.servers),
    ]
    if not found.agents:
        parts.append(_commented('[hosts.claude]\ntype = "agent"\nagent = "claude"              # or codex, gemini …\n'))
    if not found.servers:
        url = "http://127.0.0.1:11434/v1"
        parts.append(_commented(f'[hosts.ollama]\ntype = "openai"\nurl = "{url}"\nmodel = "…"\nprobe = "ollama"\n'))
    if found.gpus:
        parts.append("".join(f"# found: {gpu}\n" for gpu in found.gpus) + "# `manyhands worker --help`: models on it\n")
    if found.has_beads:
        parts.append(_beads(found))
    return "\n".join(parts)


def _agent(agent: FoundAgent) -> str:
    return (
        f"[hosts.{agent.name}]\n"
        'type = "agent"                 # tasks with a `prompt` for a code base\n'
        f'agent = "{agent.name}"\n'
        'kinds = ["code*"]\n'
        f'account = "{agent.name}"\n'
        '# confine = "workspace"        # where an attempt may write; "claims": only what its task claims\n'
    )


def _server(server: ServedModels) -> str:
    others = f"   # it also has {', '.join(server.models[1:4])}" if len(server.models) > 1 else ""
    probe = f'probe = "{server.probe}"\n' if server.probe else ""
    return (
        f"[hosts.{server.name}]\n"
        'type = "openai"                # model calls: tasks with a `prompt` alone\n'
        f'url = "{server.url}"\nmodel = {json.dumps(server.models[0])}{others}\nkinds = ["text*"]\n{probe}'
    )


def _beads(found: MachineLook) -> str:
    table = '[[backlogs]]                   # `manyhands serve` works through it\nbeads = "."\n'
    if found.agents and found.has_commits:
        return table + 'workspace = "worktree"\n'
    return _commented(table + 'run = ["my-agent", "{prompt}"]\n')


def _commented(text: str) -> str:
    return "".join(f"# {line}\n" for line in text.splitlines())


def plan_text(found: MachineLook) -> str:
    """A plan of at most three tasks. The first proves that the check passes before anything is changed."""
    return "\n".join(
        [
            f"# `manyhands run {PLAN_NAME}` runs it. Edit a task and type the same command: done tasks stay done.\n",
            *_tasks(found),
        ]
    )


def _tasks(found: MachineLook) -> Iterator[str]:
    if found.check:
        yield _table(
            'id = "tests"',
            'title = "The tests pass before anything is changed"',
            f"run = {_list(found.check)}",
        )
    else:
        yield _table(
            'id = "hello"',
            'title = "A command on this machine"',
            'run = ["sh", "-c", "echo hello from $(pwd)"]',
            "claims = {}                    # it touches no files",
        )
    if found.agents:
        yield _table(*_change(found))
    if found.servers:
        yield _table('id = "ask"', 'kind = "text"', 'prompt = "Say in one sentence what a task queue is."')


def _change(found: MachineLook) -> Iterator[str]:
    yield 'id = "first-change"'
    yield 'title = "Correct one unclear thing in a comment or in the docs"'
    yield 'kind = "code"'
    yield 'prompt = """'
    yield "Read the README and the code. Find one small thing in a comment or in the docs that is wrong or unclear."
    yield 'Fix it, and change nothing else."""'
    if found.check:
        yield 'needs = ["tests"]'
        yield f"check = {_list(found.check)}   # must pass, or the attempt has failed"
    elif found.check_lacks:
        yield f"# no check: {found.check_lacks}"
    if found.has_commits:
        yield 'workspace = "worktree"         # it works in a git worktree, and its commit lands on your branch'
    else:
        yield 'claims = { write = ["**"] }    # without a git repository it has the directory alone'
    yield 'timeout = "20m"'


def _table(*lines: str) -> str:
    return "[[task]]\n" + "".join(f"{line}\n" for line in lines)


def _list(words: tuple[str, ...]) -> str:
    return "[" + ", ".join(json.dumps(word, ensure_ascii=False) for word in words) + "]"
