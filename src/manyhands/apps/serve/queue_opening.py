"""Opens the queues that `[[backlogs]]` names."""

from collections.abc import Mapping

from manyhands.apps.serve.beads_rules import pattern_of
from manyhands.apps.serve.queue_backlog import QueueBacklog
from manyhands.errors import UsageError
from manyhands.sources.config.config_types import BacklogConfig, Config
from manyhands.sources.queues.postgres_table import PostgresTable
from manyhands.sources.queues.redis_stream import RedisStream
from manyhands.sources.queues.work_queue import WorkQueue


def open_queue_backlog(row: BacklogConfig, config: Config, environ: Mapping[str, str]) -> QueueBacklog:
    settings = row.redis or row.postgres
    assert settings is not None
    queue = _open_queue(row, environ)
    return QueueBacklog(queue, pattern_of(row), settings.take, settings.commands, row.weight, config.store_directory)


def _open_queue(row: BacklogConfig, environ: Mapping[str, str]) -> WorkQueue:
    if row.redis is not None:
        password = _secret(row.redis.password_env, environ) if row.redis.password_env else ""
        return RedisStream(row.redis.url, row.redis.stream, row.redis.group, row.redis.lease, password)
    assert row.postgres is not None
    return PostgresTable(_secret(row.postgres.url_env, environ), row.postgres.table, row.postgres.lease)


def _secret(variable: str, environ: Mapping[str, str]) -> str:
    if not environ.get(variable):
        raise UsageError(
            f"a backlog needs the variable `{variable}`, which is not set",
            f"`export {variable}=…` before the dispatcher is started",
        )
    return environ[variable]
