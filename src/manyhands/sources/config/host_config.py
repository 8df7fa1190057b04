"""A `[hosts.NAME]` table becomes a host, or every reason why it cannot."""

import math
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec

from manyhands.readers.durations import DURATION_HINT, parse_duration
from manyhands.readers.name_rules import check_amounts, check_env, check_name
from manyhands.readers.problems import FieldPath, Sheet, did_you_mean
from manyhands.readers.shape import fits, known
from manyhands.sources.config.agent_config import check_agent, check_limits
from manyhands.sources.config.config_types import HOST_TYPES, HostConfig
from manyhands.sources.config.scaling_config import scaling_from
from manyhands.sources.workspace_paths import BadPath, plain_directory

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ADDRESS = re.compile(r"local|auto|[^\s/:@]+:\d{1,5}|\[[0-9A-Fa-f:.]+\]:\d{1,5}")
_TYPES_TEXT = "a host is `shell`, `agent`, `python`, `openai`, `worker` or `ray`"


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
    types = {field.name: field.type for field in msgspec.structs.fields(kind) if field.name != "name"}
    plain: dict[str, Any] = {"name": name}
    for field, value in table.items():
        if field != "type":
            good = _take(field, value, plain, types, here, sheet) and good
    for field in ("url", "model") if kind is HOST_TYPES["openai"] else ():
        if field not in table:
            hint = 'for example `url = "http://127.0.0.1:11434/v1"` and `model = "granite-code:8b"`'
            sheet.tell(here, f"`{field}` is missing: an openai host has a url and a model", hint)
            good = False
    if "scaling" in plain and not plain.get("models"):
        hint = 'write `models = ["…"]`: which of [models.…] they compute on'
        sheet.tell((*here, "scaling"), "`scaling` is of model workers, and this host has none", hint)
        good = False
    if kind is HOST_TYPES["agent"] and "agent" not in table:
        sheet.tell(here, "`agent` is missing: an agent host names its program", 'for example `agent = "claude"`')
        good = False
    return msgspec.convert(plain | {"type": type_name(table)}, kind) if good else None


def type_name(table: dict[str, Any]) -> object:
    """A table with an `agent` needs no `type`."""
    return table.get("type", "agent" if "agent" in table else None)


def _type_of(table: dict[str, Any], here: FieldPath, sheet: Sheet) -> Any:
    value = type_name(table)
    if isinstance(value, str) and value in HOST_TYPES:
        return HOST_TYPES[value]
    if value is None:
        sheet.tell(here, "`type` is missing", f'{_TYPES_TEXT}: `type = "shell"`')
    else:
        near = did_you_mean(str(value), HOST_TYPES)
        sheet.wrong((*here, "type"), value, "must be a host type", near or _TYPES_TEXT)
    return None


def _take(field: str, value: Any, plain: dict[str, Any], types: dict[str, Any], here: FieldPath, sheet: Sheet) -> bool:
    """Put the plain form of one field into `plain`, or tell why not."""
    path = (*here, field)
    if field == "api_key":
        hint = 'write `api_key_env = "NAME"` and put the key into that variable'
        sheet.tell(path, "`api_key`: keys do not belong into files", hint)
        return False
    if field not in types and field in _fields_of_other_types():
        owners = [name for name, kind in HOST_TYPES.items() if field in kind.__struct_fields__]
        hint = f"the fields are {', '.join(['type', *types])}"
        sheet.tell(path, f"`{field}` is a field of {' and '.join(owners)} hosts only", hint)
        return False
    if not known(field, ["type", *types], here, sheet):
        return False
    if field == "width" and type(value) is int:
        value = {"min": value, "start": value, "max": value}
    elif field == "width" and not isinstance(value, dict):
        sheet.wrong(path, value, "must be a whole number or { min, start, max }", "leave it out and the clutch decides")
        return False
    if field in ("grace", "place_within", "idle") and isinstance(value, str):
        seconds = parse_duration(value)
        if seconds is None:
            sheet.wrong(path, value, "must be a length of time", DURATION_HINT)
            return False
        value = seconds
    if field == "scaling":
        plain[field] = scaling_from(value, path, sheet)
        return plain[field] is not None
    if not fits(value, types[field], path, sheet):
        return False
    plain[field] = value
    return field not in _RULES or _RULES[field](value, path, sheet)


def _fields_of_other_types() -> set[str]:
    return {field for kind in HOST_TYPES.values() for field in kind.__struct_fields__} - {"name"}


def _check_kinds(kinds: list[str], path: FieldPath, sheet: Sheet) -> bool:
    if kinds and all(kinds):
        return True
    sheet.wrong(path, kinds, "must name the kinds that this host takes", 'leave it out, or write `["*"]`, for all')
    return False


def _check_width(width: dict[str, int | None], path: FieldPath, sheet: Sheet) -> bool:
    low, start, high = width.get("min", 1), width.get("start"), width.get("max")
    given = [value for value in (low, start, high) if value is not None]
    if min(given) < 1:
        sheet.wrong(path, min(given), "must be at least 1", "leave it out and the clutch decides")
        return False
    if given != sorted(given):
        sheet.wrong(path, width, "must have min ≤ start ≤ max")
        return False
    return True


def _check_lanes(lanes: dict[str, int], path: FieldPath, sheet: Sheet) -> bool:
    bad = {kind: bound for kind, bound in lanes.items() if bound < 1}
    for kind, bound in bad.items():
        sheet.wrong((*path, kind), bound, "must be at least 1", "use `kinds` to keep a kind away from a host")
    return not bad


def _check_rate(rate: dict[str, float | None] | None, path: FieldPath, sheet: Sheet) -> bool:
    bad = {name: value for name, value in (rate or {}).items() if value is not None and not 0 < value < math.inf}
    for name, value in bad.items():
        sheet.wrong((*path, name), value, "must be a finite number above 0", "leave it out for no budget")
    return not bad


def _check_cwd(cwd: str, path: FieldPath, sheet: Sheet) -> bool:
    try:
        plain_directory(cwd)
    except BadPath as bad:
        sheet.wrong(path, cwd, bad.rule, bad.hint)
        return False
    return True


def _check_pattern(pattern: str, path: FieldPath, sheet: Sheet) -> bool:
    try:
        re.compile(pattern)
    except re.error as error:
        sheet.wrong(path, pattern, f"must be a regular expression ({error})", 'for example "rate limit|overloaded"')
        return False
    return True


def _check_grace(grace: float, path: FieldPath, sheet: Sheet) -> bool:
    if 0 <= grace < math.inf:
        return True
    sheet.wrong(path, grace, "must be a finite length of time, 0 or more", DURATION_HINT)
    return False


def _check_url(url: str, path: FieldPath, sheet: Sheet) -> bool:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        sheet.wrong(path, url, "must be an address", 'for example "http://127.0.0.1:11434/v1"')
        return False
    if parts.username or parts.password:
        sheet.tell(path, "`url` has a user name or password in it", "use `api_key_env`; keys do not belong into files")
        return False
    return True


def _check_model(model: str, path: FieldPath, sheet: Sheet) -> bool:
    if model.strip():
        return True
    sheet.wrong(path, model, "must name a model of this server")
    return False


def _check_api_key_env(name: str, path: FieldPath, sheet: Sheet) -> bool:
    if not name or _VARIABLE.fullmatch(name):
        return True
    # Not shown: what is no name of a variable is most likely the key itself.
    sheet.tell(path, "`api_key_env` must be the name of a variable, not the key", 'for example "OPENAI_API_KEY"')
    return False


def _check_threads(threads: int, path: FieldPath, sheet: Sheet) -> bool:
    if threads >= 0:
        return True
    sheet.wrong(path, threads, "must be 0 or more", "leave it out for one for each core")
    return False


def _check_address(address: str, path: FieldPath, sheet: Sheet) -> bool:
    if _ADDRESS.fullmatch(address):
        return True
    hint = 'for example "10.0.0.5:6379"; or "auto" for the cluster this machine is in, "local" to start one'
    if address.startswith("ray://"):
        hint = f"a dispatcher joins the cluster itself, by the head's own port (6379 by default); {hint}"
    sheet.wrong(path, address, "must be the address of a Ray cluster's head", hint)
    return False


def _check_nodes(nodes: dict[str, str], path: FieldPath, sheet: Sheet) -> bool:
    bad = [key for key in nodes if not key.strip()]
    for key in bad:
        sheet.wrong(path, key, "must be labels of nodes", 'for example `nodes = { kind = "gpu" }`')
    return not bad


def _check_workspace(workspace: str, path: FieldPath, sheet: Sheet) -> bool:
    if not workspace or workspace.startswith("/"):
        return True
    sheet.wrong(path, workspace, "must be an absolute path on the nodes", "leave it out if it is the same as here")
    return False


_RULES: dict[str, Callable[[Any, FieldPath, Sheet], bool]] = {
    "kinds": _check_kinds,
    "width": _check_width,
    "lanes": _check_lanes,
    "rate": _check_rate,
    "resources": check_amounts,
    "prices": check_amounts,
    "env": check_env,
    "cwd": _check_cwd,
    "grace": _check_grace,
    "idle": _check_grace,
    "agent": check_agent,
    "limits": check_limits,
    "overloaded": _check_pattern,
    "url": _check_url,
    "model": _check_model,
    "api_key_env": _check_api_key_env,
    "threads": _check_threads,
    "address": _check_address,
    "nodes": _check_nodes,
    "workspace": _check_workspace,
    "place_within": _check_grace,
}
