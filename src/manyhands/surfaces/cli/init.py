"""`manyhands init`: looks around, says what it found, and writes the two files that a first run needs."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from manyhands.apps.setup.first_files import PLAN_NAME, config_text, plan_text
from manyhands.apps.setup.machine_look import MachineLook, look
from manyhands.errors import UsageError
from manyhands.hosts.agents.signing_in import sign_in_hint
from manyhands.sources.config.config_reading import FILE_NAME
from manyhands.surfaces.cli.printing import put_lines, say


def begin(yes: bool) -> int:
    directory = Path.cwd()
    for name in (FILE_NAME, PLAN_NAME):
        if (directory / name).exists():
            raise UsageError(f"there is a `{name}` here already", "`manyhands doctor` checks it; move it to begin anew")
    found = look(directory)
    for line in _told(found):
        say(line)
    if not yes and sys.stdin.isatty() and not _agreed():
        say("nothing was written")
        return 0
    files = {FILE_NAME: config_text(found), PLAN_NAME: plan_text(found)}
    for name, text in files.items():
        with (directory / name).open("x", encoding="utf-8") as file:
            file.write(text)
    put_lines(files)
    say(f"next: `manyhands doctor`, then `manyhands run {PLAN_NAME}`")
    return 0


def _agreed() -> bool:
    return input(f"write {FILE_NAME} and {PLAN_NAME}? [Y/n] ").strip().lower() in ("", "y", "yes")


def _told(found: MachineLook) -> Iterator[str]:
    yield f"git: {'a repository' if found.has_commits else 'no repository with a commit, so no worktrees'}"
    no_check = f"no check: {found.check_lacks}" if found.check_lacks else "none found; write a `check` for your tasks"
    yield f"tests: {shlex.join(found.check) if found.check else no_check}"
    for agent in found.agents:
        note = "" if agent.seems_signed_in else f"; nobody seems to have signed in: {sign_in_hint(agent.name)}"
        yield f"agent: {agent.name}{note}"
    if not found.agents:
        yield "agent: none on the PATH (claude, codex, gemini, qwen, opencode, aider)"
    for server in found.servers:
        yield f"models: {server.name} at {server.url} with {', '.join(server.models[:5])}"
    for gpu in found.gpus:
        yield f"GPU: {gpu}"
    if found.has_beads:
        yield "backlog: .beads"
