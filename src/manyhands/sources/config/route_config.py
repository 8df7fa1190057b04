"""A `[routes.APP]` table becomes a route, or every reason why it cannot. Secrets are named by their variables."""

from typing import Annotated, Any, Literal
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct

from manyhands.core.values.host import Route
from manyhands.durations import Duration
from manyhands.field_rules import (
    HOST_PATTERN,
    PORT_PATTERN,
    WEB_ADDRESS_PATTERN,
    WITHOUT_USER_PATTERN,
    Count,
    SecretVariable,
    rule,
    says,
)
from manyhands.readers.name_rules import check_name
from manyhands.readers.problems import FieldPath, Sheet, did_you_mean
from manyhands.readers.shape import REFUSED, read_as
from manyhands.sources.config.database_url import without_secrets

#: Fields that name a variable of the environment.
_ENV = ("secret_env", "password_env", "url_env")
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_HOOK = "must be an http or https URL without a user name or password"
_HookAddress = Annotated[
    str,
    rule(_HOOK, secret=True, forbidden={"pattern": WITHOUT_USER_PATTERN}),
    rule(_HOOK, secret=True, pattern=rf"{WEB_ADDRESS_PATTERN}|^$"),
]
_ReplyAddress = Annotated[
    str,
    rule(
        "must be the beginning of a URL without a user name or password, with a slash at its end",
        forbidden={"pattern": WITHOUT_USER_PATTERN},
    ),
    rule("must be the beginning of a URL, with a slash at its end", pattern=WEB_ADDRESS_PATTERN),
    rule("must be the beginning of a URL, with a slash at its end", pattern="/$"),
]


class _SinkFields(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="type"):
    name: Annotated[
        str,
        says("Its name, for people and the journal. Left out: its type and place, such as `file-1`."),
    ] = ""


class FileSinkConfig(_SinkFields, frozen=True, kw_only=True, tag="file"):
    """A file that results are appended to, a line of JSON for each."""

    path: Annotated[
        str,
        rule("must name a file", pattern=r"\S"),
        rule("must name a file", forbidden={"pattern": "/$"}),
        says("The file, relative to the workspace.", "for example `results/search.jsonl`"),
    ]


class WebhookSinkConfig(_SinkFields, frozen=True, kw_only=True, tag="webhook"):
    """A web server that results are posted to."""

    url: Annotated[_HookAddress, says("The address.", "for example `https://example.org/hook`")] = ""
    url_env: Annotated[
        SecretVariable,
        says("Instead of `url`: the environment variable that has the address, where the address is a secret."),
    ] = ""
    secret_env: Annotated[
        SecretVariable,
        says("The environment variable that has the secret by which posts are signed."),
    ] = ""
    timeout: Annotated[Duration, says("How long a post may take.")] = 30.0


#: A password in it would be a secret in a file, so it is not accepted there and not repeated.
RedisAddress = Annotated[
    str,
    rule(
        "must be a redis:// URL without a password",
        "the password is in the environment variable that `password_env` names",
        secret=True,
        pattern=rf"^(rediss?://([^\s/?#@:]*@)?{HOST_PATTERN}?(:{PORT_PATTERN}?)?([/?#]\S*)?|unix://[^\s:]*)$",
    ),
    says("The address of the server."),
]
RedisPassword = Annotated[SecretVariable, says("The environment variable that has the password.")]
StreamName = Annotated[str, rule("must name a stream", pattern=r"\S"), says("The name of the stream.")]
PostgresUrlVariable = Annotated[
    SecretVariable,
    says("The environment variable that has the URL of the database, which may have a password in it."),
]
TableName = Annotated[
    str,
    rule("must be the name of a table", pattern=rf"^{_IDENTIFIER}(\.{_IDENTIFIER})?$"),
    says("The table.", "for example `results` or `public.results`"),
]


class RedisSinkConfig(_SinkFields, frozen=True, kw_only=True, tag="redis"):
    """A Redis stream that results are added to."""

    url: RedisAddress = "redis://127.0.0.1:6379/0"
    password_env: RedisPassword = ""
    stream: StreamName


class PostgresSinkConfig(_SinkFields, frozen=True, kw_only=True, tag="postgres"):
    """A table of a PostgreSQL database that results are inserted into."""

    url_env: PostgresUrlVariable
    table: TableName


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
    reply_to: Annotated[
        tuple[_ReplyAddress, ...],
        says(
            "What a task's own `reply_to` may begin with. Left out: a task may not have one.",
            "for example `https://hooks.example.org/results/`: without the slash another host could begin so",
        ),
    ] = ()
    reply_secret_env: Annotated[
        SecretVariable,
        says("The environment variable that has the secret by which posts to `reply_to` are signed."),
    ] = ""
    endings: Annotated[
        tuple[Literal["done", "failed"], ...],
        says("The results of tasks that end so are delivered."),
    ] = ("done",)
    order: Annotated[
        Literal["app", "run", "parent", "task"],
        says("Results of the same app, run, parent or task are delivered one after another."),
    ] = "task"
    tries: Annotated[Count, says("How often a delivery is tried. Then it is a dead letter.")] = 12

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
    plain = read_as(RouteConfig, {name: value for name, value in table.items() if name != "sinks"}, here, sheet)
    if plain is REFUSED or any(sink is None for sink in sinks):
        return None
    route = msgspec.structs.replace(msgspec.convert(plain, RouteConfig), sinks=tuple(sink for sink in sinks if sink))
    return route if _is_sound(route, here, sheet) else None


def _is_sound(route: RouteConfig, here: FieldPath, sheet: Sheet) -> bool:
    good = True
    if not route.sinks and not route.reply_to:
        hint = f"write [[{'.'.join(map(str, here))}.sinks]]"
        sheet.tell(here, "a route has sinks, or a `reply_to`, or both", hint)
        good = False
    if len(route.named()) != len(route.sinks):
        sheet.tell((*here, "sinks"), "two sinks have the same name", "give each a `name` of its own")
        good = False
    return good


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.port is None or parts.port else None
    except ValueError:  # half an IPv6 address, a port that is not a number
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
    plain = read_as(kind, row, path, sheet)
    if plain is REFUSED:
        return None
    sink: SinkConfig = msgspec.convert(plain, kind)
    if isinstance(sink, WebhookSinkConfig) and bool(sink.url) == bool(sink.url_env):
        hint = "`url_env` names the environment variable that has it, for an address that is itself a secret"
        sheet.wrong((*path, "url"), _shown_url(sink.url), "must be given, or `url_env` instead of it", hint)
        return None
    return sink
