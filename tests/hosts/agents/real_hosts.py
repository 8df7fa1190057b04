"""The real programs as hosts, each with a home of its own, pointed at a scripted model.

`make test-agents` installs and runs them. Everywhere else their tests are skipped and say so: they take a quarter of an
hour, and the programs should see no network but this machine.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

#: Where they are installed; nowhere, unless somebody says so.
INSTALLED = Path(os.environ.get("MANYHANDS_AGENTS") or "/nonexistent")
NODE_PROGRAMS = INSTALLED / "node_modules" / ".bin"


class RealHost(NamedTuple):
    """What a manyhands.toml says of the agent, beside its program and its home."""

    env: dict[str, str]
    model: str = ""
    args: tuple[str, ...] = ()


def _codex(url: str, home: Path) -> RealHost:
    settings = home / ".codex" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(
        f'model_provider = "here"\n[model_providers.here]\nname = "here"\nbase_url = "{url}/v1"\nenv_key = "NO_KEY"\n'
        'wire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
    )
    return RealHost({"CODEX_HOME": str(settings.parent), "NO_KEY": "none"}, "gpt-5")


def _claude(url: str, home: Path) -> RealHost:
    return RealHost({"ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-none"}, "claude-sonnet-5")


def _qwen(url: str, home: Path) -> RealHost:
    env = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none", "OPENAI_MODEL": "m"}
    return RealHost(env, args=("--auth-type", "openai"))


def _gemini(url: str, home: Path) -> RealHost:
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
    return RealHost({"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none"}, "gemini-2.5-flash")


def _opencode(url: str, home: Path) -> RealHost:
    settings = home / ".config" / "opencode" / "opencode.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{url}/v1", "apiKey": "none"}}
    settings.write_text(json.dumps({"provider": {"here": {**provider, "models": {"m": {}}}}, "model": "here/m"}))
    return RealHost({"OPENCODE_DISABLE_AUTOUPDATE": "1"}, "here/m")


def _aider(url: str, home: Path) -> RealHost:
    return RealHost({"OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": "none"}, "openai/m")


_HOSTS: dict[str, Callable[[str, Path], RealHost]] = {
    "codex": _codex,
    "claude": _claude,
    "qwen": _qwen,
    "gemini": _gemini,
    "opencode": _opencode,
    "aider": _aider,
}
#: The same programs over ACP, where they speak it themselves.
_ACP_WORDS = {
    "qwen-acp": ("--acp",),
    "gemini-acp": ("--acp", "--skip-trust", "-m", "{model}"),
    "opencode-acp": ("acp",),
}
AGENTS = tuple(_HOSTS)
ACP_AGENTS = tuple(_ACP_WORDS)


def program_of(agent: str) -> Path:
    name = agent.removesuffix("-acp")
    return INSTALLED / "aider" / "bin" / "aider" if name == "aider" else NODE_PROGRAMS / name


def host_table(agent: str, url: str, home: Path) -> dict[str, Any]:
    """The table of the host in the config. Skips the test where the program is not installed."""
    program = program_of(agent)
    if not program.exists():
        pytest.skip(f"{agent} is not there; `make test-agents` installs the real programs and runs them")
    host = _HOSTS[agent.removesuffix("-acp")](url, home)
    env = {"HOME": str(home), "PATH": f"{program.parent}:{os.environ['PATH']}", "TZ": "Europe/Berlin", **host.env}
    table: dict[str, Any] = {"type": "agent", "account": "work", "env": env, "args": list(host.args)}
    table |= {"model": host.model} if host.model else {}
    if agent in _ACP_WORDS:
        return table | {"agent": {"name": "acp", "run": [str(program), *_ACP_WORDS[agent]]}, "sessions": 8}
    return table | {"agent": {"name": agent, "run": [str(program)]}}


def as_toml(table: dict[str, Any]) -> str:
    """A table whose values JSON writes as TOML does, apart from tables in it."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            return "{ " + ", ".join(f"{name} = {written(one)}" for name, one in value.items()) + " }"
        return json.dumps(value)

    return "".join(f"{name} = {written(value)}\n" for name, value in table.items())
