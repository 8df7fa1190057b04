"""From the configured routes to sinks that can be sent to."""

from collections.abc import Mapping
from pathlib import Path

from manyhands.config.routes import (
    FileSink,
    PostgresSink,
    RedisSink,
    RouteConfig,
    SinkConfig,
    WebhookSink,
    is_web_address,
)
from manyhands.errors import UsageError
from manyhands.routes.sinks.interface import Sink
from manyhands.routes.sinks.webhook import Posting


def open_sink(config: SinkConfig, workspace: Path, environ: Mapping[str, str]) -> Sink:
    # Imported where needed: who writes to a file needs no database driver.
    match config:
        case FileSink():
            from manyhands.routes.sinks import file

            return file.FileSink(workspace / config.path)
        case WebhookSink():
            from manyhands.routes.sinks import webhook

            url = config.url or _secret(config.url_env, environ)
            if not is_web_address(url):
                raise UsageError(f"what `{config.url_env}` has is no http or https URL", "a webhook sink posts to it")
            return webhook.WebhookSink(url, _secret(config.secret_env, environ), config.timeout)
        case RedisSink():
            from manyhands.routes.sinks import redis_stream

            return redis_stream.RedisSink(config.url, config.stream, _secret(config.password_env, environ))
        case PostgresSink():
            from manyhands.routes.sinks import postgres_table

            return postgres_table.PostgresSink(_secret(config.url_env, environ), config.table)


def open_replies(route: RouteConfig, environ: Mapping[str, str]) -> Posting:
    return Posting(_secret(route.reply_secret_env, environ))


def check_secrets(routes: Mapping[str, RouteConfig], environ: Mapping[str, str]) -> None:
    """Before anything runs: what would fail at the first result."""
    for app, route in routes.items():
        for who, variable in route.variables():
            if not environ.get(variable):
                raise UsageError(
                    f"{who} of route `{app}` needs the variable `{variable}`, which is not set",
                    f"`export {variable}=…` before the dispatcher is started",
                )


def _secret(variable: str, environ: Mapping[str, str]) -> str:
    return environ.get(variable, "") if variable else ""
