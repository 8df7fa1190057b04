"""A `[routes.APP]` table becomes a route, or every reason why it cannot. Secrets are named by their variables."""

import math
import re
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct

from manyhands.core.values.host import Route
from manyhands.readers.durations import DURATION_HINT, parse_duration
from manyhands.readers.name_rules import check_name
from manyhands.readers.problems import FieldPath, Sheet, did_you_mean
from manyhands.readers.shape import fits, known
from manyhands.sources.config.database_url import without_secrets

#: Fields that name a variable of the environment.
_ENV = ("secret_env", "password_env", "url_env")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")


class _SinkFields(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="type"):
    name: str = ""  # for people and the journal; left out: its type and place


class FileSinkConfig(_SinkFields, frozen=True, kw_only=True, tag="file"):
    path: str  # a line of JSON a result; relative to the workspace


class WebhookSinkConfig(_SinkFields, frozen=True, kw_only=True, tag="webhook"):
    url: str = ""
    url_env: str = ""  # instead of it: the variable that has the URL, where knowing it is enough to post
    secret_env: str = ""  # signs what is sent
    timeout: float = 30.0


class RedisSinkConfig(_SinkFields, frozen=True, kw_only=True, tag="redis"):
    url: str = "redis://127.0.0.1:6379/0"
    password_env: str = ""
    stream: str


class PostgresSinkConfig(_SinkFields, frozen=True, kw_only=True, tag="postgres"):
    url_env: str  # the variable that has the URL: it may have a password in it
    table: str


SinkConfig = FileSinkConfig | WebhookSinkConfig | RedisSinkConfig | PostgresSinkConfig
SINK_TYPES: dict[str, Any] = {
    "file": FileSinkConfig,
    "webhook": WebhookSinkConfig,
    "redis": RedisSinkConfig,
    "postgres": PostgresSinkConfig,
}


class RouteConfig(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where the results of tasks with this `app` go."""

    sinks: tuple[SinkConfig, ...] = ()
    reply_to: tuple[str, ...] = ()  # what a task's own `reply_to` may begin with; left out: it has no say
    reply_secret_env: str = ""  # signs what is sent there
    endings: tuple[Literal["done", "failed"], ...] = ("done",)
    order: Literal["app", "run", "parent", "task"] = "task"
    tries: int = 12  # then it is a dead letter

    def core_route(self, app: str) -> Route:
        return Route(app, tuple(self.named()), self.reply_to, self.endings, self.order)

    def variables(self) -> list[tuple[str, str]]:
        """Who needs which variable of the environment. What is in them is secret."""
        found = [("`reply_to`", self.reply_secret_env)]
        found += [(f"sink `{name}`", getattr(sink, field, "")) for name, sink in self.named().items() for field in _ENV]
        return [(who, variable) for who, variable in found if variable]

    def for_people(self) -> "RouteConfig":
        """Without what addresses may have in them that nobody else should read."""
        sinks = [
            msgspec.structs.replace(sink, url=_shown_url(sink.url)) if isinstance(sink, WebhookSinkConfig) else sink
            for sink in self.sinks
        ]
        return msgspec.structs.replace(self, sinks=tuple(sinks))

    def named(self) -> dict[str, SinkConfig]:
        return {sink.name or f"{sink.__struct_config__.tag}-{place}": sink for place, sink in enumerate(self.sinks, 1)}


def route_from(app: str, table: object, sheet: Sheet) -> RouteConfig | None:
    here: FieldPath = ("routes", app)
    if not check_name(app, here, sheet):
        return None
    if not isinstance(table, dict):
        sheet.wrong(here, table, "must be a table", f"write [routes.{app}] and [[routes.{app}.sinks]] below it")
        return None
    rows = table.get("sinks", [])
    if not isinstance(rows, list):
        sheet.wrong((*here, "sinks"), rows, "must be a list of tables", f"write [[routes.{app}.sinks]]")
        return None
    sinks = [_sink_from(row, (*here, "sinks", place), sheet) for place, row in enumerate(rows)]
    plain = {name: value for name, value in table.items() if name != "sinks"}
    if not fits(plain, RouteConfig, here, sheet) or any(sink is None for sink in sinks):
        return None
    route = msgspec.structs.replace(msgspec.convert(plain, RouteConfig), sinks=tuple(sink for sink in sinks if sink))
    return route if _is_sound(route, here, sheet) else None


def _is_sound(route: RouteConfig, here: FieldPath, sheet: Sheet) -> bool:
    good = True
    for place, prefix in enumerate(route.reply_to):
        if not is_web_address(prefix) or not prefix.endswith("/"):
            hint = "for example `https://hooks.example.org/results/`: without the slash another host could begin so"
            sheet.wrong(
                (*here, "reply_to", place), prefix, "must be the beginning of a URL, with a slash at its end", hint
            )
            good = False
    if not route.sinks and not route.reply_to:
        sheet.tell(here, "a route has sinks, or a `reply_to`, or both", f"write [[{'.'.join(map(str, here))}.sinks]]")
        good = False
    if len(route.named()) != len(route.sinks):
        sheet.tell((*here, "sinks"), "two sinks have the same name", "give each a `name` of its own")
        good = False
    if route.reply_secret_env and not _VARIABLE.fullmatch(route.reply_secret_env):
        rule, hint = "must be the name of an environment variable", "never the secret itself"
        sheet.wrong((*here, "reply_secret_env"), "…", rule, hint)
        good = False
    if route.tries < 1:
        sheet.wrong((*here, "tries"), route.tries, "must be at least 1")
        good = False
    return good


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.port is None or parts.port else None
    except ValueError:  # half an IPv6 address, a port that is no number
        return None


def _shown_url(url: str) -> str:
    address, mark, _ = without_secrets(url).partition("?")
    return f"{address}?…" if mark else address


def is_web_address(url: str) -> bool:
    parts = _split(url)
    if parts is None or not url.isprintable() or " " in url:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username


def _sink_from(row: object, path: FieldPath, sheet: Sheet) -> SinkConfig | None:
    if not isinstance(row, dict):
        sheet.wrong(path, row, "must be a table", 'with `type = "file"`')
        return None
    kind = SINK_TYPES.get(str(row.get("type")))
    if kind is None:
        hint = did_you_mean(str(row.get("type")), SINK_TYPES) or f"a sink is {', '.join(SINK_TYPES)}"
        sheet.wrong((*path, "type"), row.get("type"), "must be a type of sink", hint)
        return None
    row = dict(row)
    if isinstance(row.get("timeout"), str):
        timeout_s = parse_duration(row["timeout"])
        if timeout_s is None:
            sheet.wrong((*path, "timeout"), row["timeout"], "must be a length of time", DURATION_HINT)
            return None
        row["timeout"] = timeout_s
    names = ["type", *kind.__struct_fields__]
    unknown = [name for name in row if not known(name, names, path, sheet)]
    if unknown:
        return None
    if not fits({name: value for name, value in row.items() if name != "type"}, kind, path, sheet):
        return None
    sink: SinkConfig = msgspec.convert(row, kind)
    return sink if _is_sound_sink(sink, path, sheet) else None


def _is_sound_sink(sink: SinkConfig, path: FieldPath, sheet: Sheet) -> bool:
    wrong: list[tuple[str, object, str, str]] = []
    for field in _ENV:
        value = getattr(sink, field, "")
        if value and not _VARIABLE.fullmatch(value):
            wrong.append((field, "…", "must be the name of an environment variable", "never the secret itself"))
    match sink:
        case FileSinkConfig() if not sink.path.strip() or sink.path.endswith("/"):
            wrong.append(("path", sink.path, "must name a file", "for example `results/search.jsonl`"))
        case WebhookSinkConfig():
            if bool(sink.url) == bool(sink.url_env):
                hint = "`url_env` names the variable that has it, for an address that is itself a secret"
                wrong.append(("url", sink.url, "must be given, or `url_env` instead of it", hint))
            elif sink.url and not is_web_address(sink.url):
                rule = "must be an http or https URL without a password"
                wrong.append(("url", _shown_url(sink.url), rule, "for example `https://example.org/hook`"))
            if not 0 < sink.timeout < math.inf:
                wrong.append(("timeout", sink.timeout, "must be more than 0", ""))
        case RedisSinkConfig():
            parts = _split(sink.url)
            if parts is None or parts.scheme not in ("redis", "rediss", "unix") or parts.password:
                hint = "the password is in the variable that `password_env` names"
                wrong.append(("url", "…", "must be a redis:// URL without a password", hint))
            if not sink.stream.strip():
                wrong.append(("stream", sink.stream, "must name a stream", ""))
        case PostgresSinkConfig() if not _TABLE.fullmatch(sink.table):
            wrong.append(
                ("table", sink.table, "must be the name of a table", "for example `results` or `public.results`")
            )
        case _:
            pass
    for field, value, rule, hint in wrong:
        sheet.wrong((*path, field), value, rule, hint)
    return not wrong
