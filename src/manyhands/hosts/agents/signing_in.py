"""Has somebody signed in to an agent program? Looked at without a request to any model."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from manyhands.hosts.agents.refusal_texts import table

#: agent → what shows that someone has signed in: files below the home directory, and variables
_SIGNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "claude": ((".claude/.credentials.json", ".claude.json"), ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN")),
    "codex": ((".codex/auth.json",), ("OPENAI_API_KEY", "CODEX_API_KEY")),
    "gemini": ((".gemini/oauth_creds.json",), ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    "qwen": ((".qwen/oauth_creds.json",), ("OPENAI_API_KEY", "DASHSCOPE_API_KEY")),
    "opencode": ((".local/share/opencode/auth.json",), ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")),
    "aider": ((".aider.conf.yml",), ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY")),
}
#: What the program itself answers, by its exit code: it knows keychains and settings that no file shows.
#: A Claude Code without this command would take the words for a prompt. It refuses the flag instead.
_ASKED = {"codex": ("login", "status"), "claude": ("auth", "status", "--json")}
_ANSWERS_WITHIN_S = 60.0


def seems_signed_in(agent: str, environ: Mapping[str, str]) -> bool:
    """Only whether the files and variables are there: what is in them is nobody's business."""
    files, variables = _SIGNS.get(agent, ((), ()))
    home = Path(environ.get("HOME", "/"))
    return any((home / file).exists() for file in files) or any(environ.get(name) for name in variables)


def says_signed_in(agent: str, program: Sequence[str], environ: Mapping[str, str]) -> bool:
    """The same, asked of the program itself where it has a command for that."""
    words = _ASKED.get(agent)
    if words is None:
        return seems_signed_in(agent, environ)
    try:
        answer = subprocess.run(
            [*program, *words],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_ANSWERS_WITHIN_S,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return seems_signed_in(agent, environ)
    if _denies(answer.stdout):
        return False
    # Otherwise a version that does not know the question looks like one that says no.
    return answer.returncode == os.EX_OK or seems_signed_in(agent, environ)


def _denies(answer: bytes) -> bool:
    """Claude Code says it in JSON. It leaves a settings file in the home before anybody has signed in."""
    try:
        return table(json.loads(answer)).get("loggedIn") is False
    except (ValueError, RecursionError):
        return False


def sign_in_hint(agent: str) -> str:
    _, variables = _SIGNS.get(agent, ((), ()))
    return f"start `{agent}` once and sign in" + (f", or set {variables[0]}" if variables else "")
