"""What is wrong here, each with its fix. The order is that in which a person would look."""

import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from manyhands.apps.setup.finding import Finding
from manyhands.apps.setup.machine_look import has_commits
from manyhands.apps.setup.model_servers import models_at
from manyhands.apps.setup.probe_checks import probe_findings
from manyhands.engine.delivery.sink_opening import check_secrets
from manyhands.errors import ManyhandsError
from manyhands.hosts.agents.landlock import landlock_version
from manyhands.hosts.agents.program_check import what_is_missing
from manyhands.hosts.agents.signing_in import says_signed_in, sign_in_hint
from manyhands.hosts.landing.repository import GIT_MIN, check_clean, find_repository
from manyhands.sources.config.agent_config import AgentHost
from manyhands.sources.config.config_types import BacklogConfig, Config, HostConfig, OpenaiHost, WorkerHost

#: With less than this, a run of a day may not find room for its journal and output.
FREE_BYTES_MIN = 500_000_000
_SQLITE_MIN = (3, 35)
#: Before this, the clock of the machine has not been set: leases, time-outs and journals go by it.
_RELEASED_AT = 1_735_689_600.0
_NAMED_MAX = 8


def findings(config: Config) -> Iterator[Finding]:
    yield _versions()
    yield _clock(time.time())
    yield _disk(config.store_directory)
    yield _git(config)
    for host in config.hosts:
        yield _host(host)
    yield from probe_findings(config)
    yield from _backlogs(config)
    if config.routes:
        yield _routes(config)


def refused(error: ManyhandsError) -> Finding:
    return Finding("config", False, error.message, error.hint)


def _versions() -> Finding:
    says = f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < _SQLITE_MIN:
        return Finding("versions", False, says, "use a Python that is built with SQLite 3.35 or newer")
    return Finding("versions", True, says)


def _clock(now: float) -> Finding:
    says = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
    if now < _RELEASED_AT:
        return Finding(
            "clock", False, f"this machine believes that it is {says}", "set its clock, for example with NTP"
        )
    return Finding("clock", True, says)


def _disk(store: Path) -> Finding:
    place = next(path for path in (store, *store.parents) if path.exists())
    if not os.access(place, os.W_OK):
        fix = f"make `{place}` writable for this user, or name another place with `--store`"
        return Finding("disk", False, f"`{store}` cannot be written", fix)
    free = shutil.disk_usage(place).free
    says = f"{free / 1e9:,.1f} GB free for the store `{store}`"
    if free < FREE_BYTES_MIN:
        return Finding("disk", False, says, f"free at least {FREE_BYTES_MIN / 1e9:g} GB, or name another place")
    return Finding("disk", True, says)


def _git(config: Config) -> Finding:
    if not (config.workspace / ".git").exists() and not has_commits(config.workspace):
        return Finding("git", True, 'this is not a git repository, so tasks cannot have `workspace = "worktree"`')
    if not has_commits(config.workspace):
        return Finding(
            "git", True, "the repository has no commit yet; worktrees need one: `git commit` something first"
        )
    try:
        repository = find_repository(config.workspace, config.landing)
        check_clean(repository, config.landing)
    except ManyhandsError as error:
        return Finding("git", False, error.message, error.hint or f"git {GIT_MIN[0]}.{GIT_MIN[1]} or newer is needed")
    return Finding("git", True, f"work lands on branch `{repository.target}`")


def _host(host: HostConfig) -> Finding:
    what = f"host {host.name}"
    match host:
        case AgentHost():
            return _agent(what, host)
        case OpenaiHost():
            return _server(what, host.url, host.model, host.api_key_env)
        case WorkerHost() if host.url:
            return _server(what, host.url, host.model, host.api_key_env)
        case _:
            return Finding(what, True, f"{type(host).__struct_config__.tag}: nothing to check")


def _agent(what: str, host: AgentHost) -> Finding:
    program = host.agent.run[:1] or (host.agent.name,)
    good, says = what_is_missing(program, host.env)
    if not good:
        return Finding(what, False, says, f"install `{program[0]}`, or take [hosts.{host.name}] out of the config")
    name = host.agent.name
    if name and not host.agent.run and not says_signed_in(name, program, {**os.environ, **host.env}):
        return Finding(what, False, f"{says}; nobody seems to have signed in", sign_in_hint(name))
    if host.confine != "off" and not landlock_version():
        says += "; it runs unconfined, because this kernel has no Landlock"
    return Finding(what, True, says)


def _server(what: str, url: str, model: str, key_env: str) -> Finding:
    key = os.environ.get(key_env, "").strip() if key_env else ""
    if key_env and not key:
        return Finding(what, False, f"the environment variable {key_env} is not set", f"`export {key_env}=…`")
    models, why = models_at(url, key)
    if models is None and not why:
        return Finding(what, True, f"{url} answers; it does not list its models")
    if models is None:
        slashed = "" if "/v" in url else f", and is `{url.rstrip('/')}/v1` meant?"
        return Finding(
            what, False, f"no models at {url}: {why}", f"is the server started? Is the `url` right{slashed or '?'}"
        )
    names = ", ".join(models[:_NAMED_MAX]) + (" …" if len(models) > _NAMED_MAX else "")
    if model and model not in models and f"{model}:latest" not in models:
        return Finding(what, False, f"{url} has no model `{model}`", f"it has {names or 'none yet'}: correct `model`")
    return Finding(what, True, f"{url} has {model or names}")


def _backlogs(config: Config) -> Iterator[Finding]:
    for row in config.backlogs:
        if not (row.plan or row.beads):
            yield _queue(row)
            continue
        path = config.workspace / (row.plan or row.beads)
        there = path if row.beads else path.parent
        what = f"backlog {row.plan or row.beads}"
        if there.exists():
            yield Finding(what, True, str(path))
        else:
            yield Finding(what, False, f"there is no `{there}`", "correct [[backlogs]] in the config, or create it")


def _queue(row: BacklogConfig) -> Finding:
    """Whether its secrets are set. Asking it would take entries away from others."""
    variable = row.redis.password_env if row.redis is not None else row.postgres.url_env if row.postgres else ""
    what = f"backlog {row.redis.stream if row.redis is not None else row.postgres.table if row.postgres else ''}"
    if variable and not os.environ.get(variable):
        return Finding(what, False, f"the variable `{variable}` is not set", f"`export {variable}=…`")
    return Finding(what, True, "a queue; it is asked when `manyhands serve` starts")


def _routes(config: Config) -> Finding:
    try:
        check_secrets(config.routes, os.environ)
    except ManyhandsError as error:
        return Finding("routes", False, error.message, error.hint)
    return Finding("routes", True, f"{len(config.routes)}, with all secrets set")
