"""A `[hosts.NAME]` table becomes a host, or every reason why it cannot."""

import ipaddress
import re
from typing import Any, get_args
from urllib.parse import urlsplit

import msgspec

from manyhands.readers.name_rules import check_name
from manyhands.readers.problems import FieldPath, Sheet, did_you_mean
from manyhands.readers.shape import REFUSED, read_as, written_fields
from manyhands.sources.config.agent_config import AgentName
from manyhands.sources.config.config_types import HOST_TYPES, HostConfig
from manyhands.sources.config.scaling_config import check_scaling
from manyhands.sources.workspace_paths import BadPath, plain_directory

#: server → (its usual address, what else its host says)
_SERVERS = {
    "ollama": ("http://127.0.0.1:11434/v1", ', `probe = "ollama"`'),
    "vllm": ("http://127.0.0.1:8000/v1", ', `probe = "vllm"`'),
    "llamacpp": ("http://127.0.0.1:8080/v1", ', `probe = "llamacpp"`'),
    "llama.cpp": ("http://127.0.0.1:8080/v1", ', `probe = "llamacpp"`'),
    "lmstudio": ("http://127.0.0.1:1234/v1", ""),
    "anthropic": ("https://api.anthropic.com/v1", ', `api_key_env = "ANTHROPIC_API_KEY"`'),
    "gpt": ("https://api.openai.com/v1", ', `api_key_env = "OPENAI_API_KEY"`'),
    "llm": ("http://127.0.0.1:11434/v1", ""),
}
#: field → what is wrong with it where the agent does not speak ACP
_ONLY_OVER_ACP = {
    "sessions": "only an agent that speaks ACP can share its process",
    "permissions": "only an agent that speaks ACP asks for permissions",
}
_TYPES_TEXT = "a host is `shell`, `agent`, `python`, `openai`, `worker`, `ray` or `pull`"


def host_from(name: str, table: object, sheet: Sheet) -> HostConfig | None:
    """The host, or None when the sheet has been told what is wrong. Paths are told from the table's own place."""
    here: FieldPath = ("hosts", name)
    good = check_name(name, here, sheet)
    if not isinstance(table, dict):
        sheet.wrong(here, table, "must be a table", f'write [hosts.{name}] and `type = "shell"` below it')
        return None
    kind = _type_of(table, here, sheet)
    if kind is None:
        return None
    misplaced = {field for field in table if _is_misplaced(field, kind, here, sheet)}
    plain = read_as(kind, {field: table[field] for field in table if field not in misplaced}, here, sheet)
    if plain is REFUSED or misplaced or not good:
        return None
    is_sound = [check(plain, here, sheet) for check in _CHECKS]
    return msgspec.convert(plain | {"name": name}, kind) if all(is_sound) else None


def _type_of(table: dict[str, Any], here: FieldPath, sheet: Sheet) -> Any:
    value = table.get("type")
    if isinstance(value, str) and value in HOST_TYPES:
        return HOST_TYPES[value]
    if value is None:
        sheet.tell(here, "`type` is missing", f'{_TYPES_TEXT}: `type = "shell"`')
    else:
        hint = _right_form(str(value)) or did_you_mean(str(value), HOST_TYPES) or _TYPES_TEXT
        sheet.wrong((*here, "type"), value, "must be a host type", hint)
    return None


def _right_form(value: str) -> str:
    """How a host is written whose type was taken for the name of its program or server."""
    name = value.lower().replace("_", "-").replace("claude-code", "claude").replace("gemini-cli", "gemini")
    if name in get_args(AgentName) and name:
        return f'write `type = "agent"` and `agent = "{name}"`'
    if name in _SERVERS:
        url, rest = _SERVERS[name]
        return f'write `type = "openai"`, `url = "{url}"`{rest} and `model = "…"`'
    return 'write `type = "shell"`' if name in ("bash", "sh", "local", "command", "process", "subprocess") else ""


def _is_misplaced(field: str, kind: Any, here: FieldPath, sheet: Sheet) -> bool:
    """Whether this is a field of other hosts, or a key, which has been told."""
    path, own = (*here, field), written_fields(kind)
    if field == "api_key":
        hint = 'write `api_key_env = "NAME"` and put the key into that environment variable'
        sheet.tell(path, "`api_key`: API keys must not be stored in files", hint)
        return True
    owners = [name for name, other in HOST_TYPES.items() if field in written_fields(other)]
    if field in own or not owners:
        return False
    hint = f"the fields are {', '.join(['type', *own])}"
    sheet.tell(path, f"`{field}` is a field of {' and '.join(owners)} hosts only", hint)
    return True


def _check_width(plain: dict[str, Any], here: FieldPath, sheet: Sheet) -> bool:
    width = plain.get("width", {})
    bounds = [width.get("min", 1), width.get("start"), width.get("max")]
    given = [bound for bound in bounds if bound is not None]
    if given == sorted(given):
        return True
    sheet.wrong((*here, "width"), width, "must have min ≤ start ≤ max")
    return False


def _check_cwd(plain: dict[str, Any], here: FieldPath, sheet: Sheet) -> bool:
    try:
        plain_directory(plain.get("cwd", ""))
    except BadPath as bad:
        sheet.wrong((*here, "cwd"), plain["cwd"], bad.rule, bad.hint)
        return False
    return True


def _check_scaling(plain: dict[str, Any], here: FieldPath, sheet: Sheet) -> bool:
    if plain.get("scaling") is None:
        return True
    path = (*here, "scaling")
    if not plain.get("models"):
        hint = 'write `models = ["…"]`: which of [models.…] they compute on'
        sheet.tell(path, "`scaling` is of model workers, and this host has none", hint)
        return False
    return check_scaling(plain["scaling"], path, sheet)


def _check_pattern(plain: dict[str, Any], here: FieldPath, sheet: Sheet) -> bool:
    pattern = plain.get("overloaded", "")
    try:
        re.compile(pattern)
    except re.error as error:
        hint = 'for example "rate limit|overloaded"'
        sheet.wrong((*here, "overloaded"), pattern, f"must be a regular expression ({error})", hint)
        return False
    return True


def _check_agent(plain: dict[str, Any], here: FieldPath, sheet: Sheet) -> bool:
    agent = plain.get("agent")
    if agent is not None and (agent.get("name") == "acp" or _only_over_acp(plain)):
        return _check_acp(plain, agent, here, sheet)
    if agent is None or agent.get("name") or agent.get("run"):
        return True
    hint = 'for example `agent = "claude"`, or `agent = { run = ["my-agent"] }`'
    sheet.tell((*here, "agent"), "`agent` names no program", hint)
    return False


def _check_probe(plain: dict[str, Any], here: FieldPath, sheet: Sheet) -> bool:
    url, probe = plain.get("url", ""), plain.get("probe", "none")
    if isinstance(probe, dict):
        if sum(bool(value) for value in (probe.get("name", "none") != "none", probe.get("run"), probe.get("url"))) > 1:
            sheet.tell((*here, "probe"), "a probe has a `name`, a `run` or a `url`, and only one", "keep one of them")
            return False
        probe = probe.get("name", "none")
    if probe not in ("nvml", "local") or not url or _is_here(url):
        return True
    rule = f"reads this machine, but the server of this host is at {url}"
    sheet.wrong(
        (*here, "probe"),
        probe,
        rule,
        'use the probe of that server, such as "ollama", or `probe = { run = ["ssh", …] }`',
    )
    return False


def _is_here(url: str) -> bool:
    name = urlsplit(url).hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _only_over_acp(plain: dict[str, Any]) -> str:
    """A field that says something which holds for agents over ACP alone, or ""."""
    if plain.get("sessions", 1) != 1:
        return "sessions"
    return "permissions" if plain.get("permissions", "allow") != "allow" else ""


def _check_acp(plain: dict[str, Any], agent: dict[str, Any], here: FieldPath, sheet: Sheet) -> bool:
    example = 'for example `agent = { name = "acp", run = ["gemini", "--acp"] }`'
    if agent.get("name") != "acp":
        field = _only_over_acp(plain)
        sheet.tell((*here, field), _ONLY_OVER_ACP[field], example)
    elif not agent.get("run"):
        sheet.tell((*here, "agent"), "`acp` names a protocol, not a program", example)
    elif plain.get("home") == "own":
        hint = "leave `home` out; with `sessions = 8` attempts share one process, which has one home"
        sheet.tell((*here, "home"), "an agent over ACP has the home of its process", hint)
    elif plain.get("sessions", 1) != 1 and plain.get("confine") == "claims":
        hint = "leave `sessions` out, so that each attempt has a process of its own"
        sheet.tell((*here, "sessions"), "a shared process cannot be confined to the claims of one task", hint)
    else:
        return True
    return False


_CHECKS = (_check_width, _check_cwd, _check_scaling, _check_pattern, _check_agent, _check_probe)
