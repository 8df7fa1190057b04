"""Queues that other programs fill, as `[[backlogs]]` names them."""

from typing import Annotated

from msgspec import Struct

from manyhands.durations import Duration
from manyhands.field_rules import Count, rule, says
from manyhands.sources.config.route_config import (
    PostgresUrlVariable,
    RedisAddress,
    RedisPassword,
    StreamName,
    TableName,
)


class _QueueFields(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    take: Annotated[
        Count,
        says(
            "The most entries that are held at once, running or waiting. Others can take the rest.",
            "at least as many as your hosts run at once",
        ),
    ] = 100
    lease: Annotated[
        Duration,
        says(
            "How long an entry stays with a consumer that is not heard of. Then another one takes it.",
            "longer than any outage that you want to survive without work done twice",
        ),
    ] = 300.0
    commands: Annotated[
        bool,
        says("Entries may bring commands of their own (`run`, `call`, `check`, `env`), so whoever fills it runs them."),
    ] = False


class RedisQueueConfig(_QueueFields, frozen=True, kw_only=True):
    """A Redis stream that is read in a consumer group."""

    url: RedisAddress = "redis://127.0.0.1:6379/0"
    password_env: RedisPassword = ""
    stream: StreamName
    group: Annotated[
        str,
        rule("must name a consumer group", pattern=r"\S"),
        says("The consumer group. Other programs in the same group share the entries."),
    ] = "manyhands"


class PostgresQueueConfig(_QueueFields, frozen=True, kw_only=True):
    """A table of a PostgreSQL database."""

    url_env: PostgresUrlVariable
    table: TableName
