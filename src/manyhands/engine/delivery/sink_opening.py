"""Opens the sinks of the configured routes."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from manyhands.engine.delivery.sinks.sink import Sink
from manyhands.engine.delivery.sinks.webhook_sink import Posting
from manyhands.errors import UsageError
from manyhands.sources.config.route_config import (
    FileSinkConfig,
    PostgresSinkConfig,
    RedisSinkConfig,
    RouteConfig,
    SinkConfig,
    WebhookSinkConfig,
    is_web_address,
)


class OpenSinks(NamedTuple):
    sinks: Mapping[tuple[str, str], Sink]  # by the app and the name of the sink
    replies: Mapping[str, Posting]  # by the app, where its tasks may say where to reply


def open_sinks(routes: Mapping[str, RouteConfig], workspace: Path, environ: Mapping[str, str]) -> OpenSinks:
    """Open all sinks before anything runs: a missing driver is named then, and none is loaded in mid-run."""
    sinks = {
        (app, name): _open_sink(sink, workspace, environ)
        for app, route in routes.items()
        for name, sink in route.named().items()
    }
    return OpenSinks(sinks, {app: _open_replies(route, environ) for app, route in routes.items() if route.reply_to})


def _open_sink(config: SinkConfig, workspace: Path, environ: Mapping[str, str]) -> Sink:
    # Imported where needed: writing to a file needs no database driver.
    match config:
        case FileSinkConfig():
            from manyhands.engine.delivery.sinks import file_sink

            return file_sink.FileSink(workspace / config.path)
        case WebhookSinkConfig():
            from manyhands.engine.delivery.sinks import webhook_sink

            url = config.url or _secret(config.url_env, environ)
            if not is_web_address(url):
                raise UsageError(
                    f"the value of `{config.url_env}` is not an http or https URL", "a webhook sink posts to it"
                )
            return webhook_sink.WebhookSink(url, _secret(config.secret_env, environ), config.timeout)
        case RedisSinkConfig():
            from manyhands.engine.delivery.sinks import redis_sink

            return redis_sink.RedisSink(config.url, config.stream, _secret(config.password_env, environ))
        case PostgresSinkConfig():
            from manyhands.engine.delivery.sinks import postgres_sink

            return postgres_sink.PostgresSink(_secret(config.url_env, environ), config.table)


def _open_replies(route: RouteConfig, environ: Mapping[str, str]) -> Posting:
    return Posting(_secret(route.reply_secret_env, environ))


def check_secrets(routes: Mapping[str, RouteConfig], environ: Mapping[str, str]) -> None:
    """Check before anything runs what would otherwise fail at the first result."""
    for app, route in routes.items():
        for who, variable in route.variables():
            if not environ.get(variable):
                raise UsageError(
                    f"{who} of route `{app}` needs the variable `{variable}`, which is not set",
                    f"`export {variable}=…` before the dispatcher is started",
                )


def _secret(variable: str, environ: Mapping[str, str]) -> str:
    return environ.get(variable, "") if variable else ""
