"""`manyhands serve`: watches backlogs and runs their tasks until it is told to stop."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from manyhands.apps.serve.beads_backlog import BeadsBacklog
from manyhands.apps.serve.beads_rules import rules_of
from manyhands.apps.serve.event_log import Log
from manyhands.apps.serve.issue_backlog import IssueBacklog
from manyhands.apps.serve.live_backlog import LiveBacklog
from manyhands.apps.serve.plan_backlog import PlanBacklog
from manyhands.apps.serve.service import Service
from manyhands.assembly import open_session
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.leading import StoppedStandingBy
from manyhands.engine.redaction import Secrets, secrets_of
from manyhands.engine.store.store_opening import printable
from manyhands.errors import StoreBusy, UsageError
from manyhands.sources.config.config_types import BacklogConfig, Config
from manyhands.sources.config.cron import parse_schedule
from manyhands.sources.config.github_config import GithubConfig
from manyhands.surfaces.cli.page_beside_run import say_address
from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.settings import Settings


def serve(
    beads: Sequence[Path],
    plans: Sequence[Path],
    github: Sequence[str],
    label: str,
    markdown: Sequence[Path],
    address: str,
    port: int,
    socket_file: Path | None,
    settings: Settings,
) -> int:
    config = settings.load()
    backlogs = backlogs_of(config, beads, plans, github_rows(config, github, label), markdown)
    if not backlogs:
        say("note: there is no backlog to watch; tasks come from `manyhands add` and from the page")
    try:
        asyncio.run(_serve(config, backlogs, address, port, socket_file))
    except StoppedStandingBy:
        say("stopped before it became the leader")
    return 0


def github_rows(config: Config, repositories: Sequence[str], label: str) -> list[BacklogConfig]:
    """The repositories of the options that the config does not name."""
    known = {row.github.repository for row in config.backlogs if row.github is not None}
    rows: list[BacklogConfig] = []
    for repository in repositories:
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
            raise UsageError(f"`--github {repository}` must be OWNER/REPO", "for example `--github octocat/hello`")
        if repository not in known:
            rows.append(BacklogConfig(github=GithubConfig(repository=repository, label=label)))
    return rows


def backlogs_of(
    config: Config,
    beads: Sequence[Path],
    plans: Sequence[Path],
    github: Sequence[BacklogConfig] = (),
    markdown: Sequence[Path] = (),
) -> list[LiveBacklog]:
    """The backlogs of the config and of the options. If both name one, the config says how it is run."""
    rows = [*config.backlogs, *github]
    known = {_path_of(row, config.workspace).resolve() for row in rows if row.plan or row.beads or row.markdown}
    rows += [BacklogConfig(markdown=str(path.absolute())) for path in markdown if path.resolve() not in known]
    rows += [BacklogConfig(plan=str(path.absolute())) for path in plans if path.resolve() not in known]
    rows += [BacklogConfig(beads=str(path.absolute())) for path in beads if path.resolve() not in known]
    return [_backlog(row, config) for row in rows]


def _path_of(row: BacklogConfig, workspace: Path) -> Path:
    return workspace / (row.plan or row.beads or row.markdown)


def _backlog(row: BacklogConfig, config: Config) -> LiveBacklog:
    if row.redis is not None or row.postgres is not None:
        from manyhands.apps.serve.queue_opening import open_queue_backlog

        return open_queue_backlog(row, config, os.environ)
    if row.github is not None or row.markdown:
        from manyhands.apps.serve.tracker_opening import open_tracker

        tracker = open_tracker(row, config.workspace, os.environ)
        return IssueBacklog(tracker, row.weight, rules_of(row), config.store_directory)
    path = _path_of(row, config.workspace)
    if row.plan:
        if not path.parent.is_dir():
            raise UsageError(
                f"there is no directory `{path.parent}`",
                "the plan file may be created later, but its directory must exist now",
            )
        schedule = parse_schedule(row.schedule, row.timezone) if row.schedule else None
        hosts, families, routes = config.core_hosts(), config.core_families(), config.core_routes()
        return PlanBacklog(path, row.weight, hosts, families, routes, schedule)
    return BeadsBacklog(path, row.weight, rules_of(row), config.store_directory)


async def _serve(
    config: Config, backlogs: Sequence[LiveBacklog], address: str, port: int, socket_file: Path | None
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # `nohup` asks us to ignore it
        loop.add_signal_handler(signal.SIGHUP, stop.set)
    secrets = secrets_of(config)
    talk = _Talk()
    service = Service(backlogs, talk)

    async def stand_by(busy: StoreBusy) -> None:
        say(f"standing by: {busy.message}")
        import manyhands.surfaces.api.api_server  # noqa: F401  # loaded now, so that taking over is quick

        await stop.wait()

    async with AsyncExitStack() as stack:
        dispatcher = await stack.enter_async_context(open_session(config, service.layer, stand_by))
        talk.begin(dispatcher, secrets)
        # Imported here: a wrong config is reported before a web server is loaded.
        from manyhands.surfaces.api.api_server import offering
        from manyhands.surfaces.api.live_link import LiveLink
        from manyhands.surfaces.api.sampling import sampling
        from manyhands.surfaces.mcp.mcp_over_http import mcp_over_http

        await stack.enter_async_context(sampling(dispatcher, config.store_at))
        agents = await stack.enter_async_context(mcp_over_http(lambda: config, LiveLink(dispatcher)))
        offered = await stack.enter_async_context(
            offering(
                dispatcher,
                config.store_directory,
                port,
                address,
                where=config.store_at,
                secrets=secrets,
                mounted={} if agents is None else {"/mcp": agents},
                socket_file=socket_file,
            )
        )
        if socket_file is None:  # links in messages need an address that others can open
            dispatcher.page = offered.url
        talk("serving", offered.url, backlogs=len(backlogs), store=printable(config.store_at))
        if sys.stderr.isatty():
            say_address(offered)
        await service.serve(dispatcher, stop)


class _Talk:
    """Writes what the service says to the log, which exists as soon as there is a dispatcher."""

    def __init__(self) -> None:
        self._log: Log | None = None
        self._dispatcher: Dispatcher | None = None

    def begin(self, dispatcher: Dispatcher, secrets: Secrets) -> None:
        self._dispatcher = dispatcher
        self._log = Log(dispatcher.book, secrets)
        dispatcher.recorded.append(self._log.recorded)
        self._log.lost(dispatcher.found)

    def __call__(self, action: str, text: str, **fields: object) -> None:
        if self._log is not None and self._dispatcher is not None:
            told = {name: value for name, value in fields.items() if value != ""}
            self._log.say(self._dispatcher.clock.now(), action, **told, detail=text)
