"""Puts a session together: the store, the dispatcher, and an executor for each configured host."""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from manyhands.core.values.host import Host
from manyhands.engine.delivery.sink_opening import check_secrets, open_sinks
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.leading import WaitTurn
from manyhands.engine.probing import Probing, configured_probes
from manyhands.engine.redaction import Secrets, secrets_of
from manyhands.engine.session import dispatching
from manyhands.engine.worker_scaling import WorkerScaling
from manyhands.errors import UsageError
from manyhands.hosts.artefacts.artefact_layer import ArtefactLayer
from manyhands.hosts.executors.attempt_steps import ProcessSettings
from manyhands.hosts.executors.executor import Asked, Ended, Executor, ProcessSpawned, Retried, Showed
from manyhands.hosts.executors.layered_executor import Layer, LayeredExecutor, MakeInner
from manyhands.hosts.landing.landing_site import LandingSite
from manyhands.hosts.landing.run_facts import RunFacts
from manyhands.hosts.landing.worktree_layer import WorktreeLayer
from manyhands.hosts.ray.ray_clusters import RayClusters, check_ray
from manyhands.install_hints import install_hint
from manyhands.sources.config.agent_config import AgentHost
from manyhands.sources.config.config_types import (
    Config,
    HostConfig,
    OpenaiHost,
    PullHost,
    PythonHost,
    RayHost,
    ShellHost,
    WorkerHost,
)


class _Told(NamedTuple):
    """What executors tell of attempts, beside their endings."""

    spawned: ProcessSpawned
    showed: Showed
    retried: Retried
    asked: Asked


class BroughtHost(NamedTuple):
    """A host that no config has: the program that opens the session brings it."""

    host: Host
    executor: Callable[[ProcessSettings, ProcessSpawned, Ended], Executor]


@asynccontextmanager
async def open_session(
    config: Config,
    layer: Layer | None = None,
    wait_turn: WaitTurn | None = None,
    brought: Sequence[BroughtHost] = (),
) -> AsyncIterator[Dispatcher]:
    """A dispatcher on the configured store and hosts. `layer` wraps the executor of each host."""
    site: LandingSite | None = None
    rays = RayClusters()
    check_secrets(config.routes, os.environ)
    check_ray(config.hosts)

    def executors(
        journal: str, spawned: ProcessSpawned, ended: Ended, showed: Showed, retried: Retried, asked: Asked
    ) -> Mapping[str, Executor]:
        # Only now is everything surely dead that an earlier dispatcher left running in worktrees.
        nonlocal site
        site = LandingSite(config.workspace, config.store_directory, config.landing)
        artefacts = ArtefactLayer(config.workspace, config.store_directory)
        told = _Told(spawned, showed, retried, asked)
        makers = {
            host.name: _layered(_maker(host, config, journal, told, site, rays), artefacts) for host in config.hosts
        }
        settings = ProcessSettings(workspace=config.workspace, journal=journal)
        makers |= {each.host.name: partial(each.executor, settings, spawned) for each in brought}
        return {name: (_layered(make, layer) if layer else make)(ended) for name, make in makers.items()}

    if any(isinstance(host, OpenaiHost) for host in config.hosts):
        from manyhands.hosts.executors.openai_executor import load_client

        await load_client()
    try:
        async with dispatching(
            config.store_directory,
            config.store.durability,
            (*config.core_hosts(), *(each.host for each in brought)),
            config.rules,
            executors,
            families=config.core_families(),
            routes=config.core_routes(),
            budgets=config.budgets,
            store=config.store_at,
            wait_turn=wait_turn,
            secrets=secrets_of(config),
        ) as dispatcher:
            assert site is not None
            site.facts.set_result(RunFacts(dispatcher.book, dispatcher.tell, dispatcher.clock.now))
            probing = Probing(dispatcher, configured_probes(config, dispatcher.book))
            scaling = WorkerScaling(dispatcher, rays.scaled)
            try:
                async with _delivering(dispatcher, config), _telling(dispatcher, config):
                    yield dispatcher
            finally:
                await probing.close()
                await scaling.close()
    finally:
        if site is not None:
            await site.close()


@asynccontextmanager
async def _delivering(dispatcher: Dispatcher, config: Config) -> AsyncIterator[None]:
    """Deliver results while the dispatcher works. Results on their way when it stops get a moment to arrive."""
    if not config.routes and not dispatcher.book.outbox.waiting:
        yield
        return
    from manyhands.engine.delivery.delivering import Delivering

    delivering = Delivering(
        dispatcher.book,
        dispatcher.submit,
        dispatcher.clock.now,
        config.routes,
        open_sinks(config.routes, config.workspace, os.environ),
        dispatcher.journal_identity,
        Secrets(os.environ, [name for route in config.routes.values() for _, name in route.variables()]).redact,
    )
    dispatcher.recorded.append(delivering.recorded)
    try:
        yield
    finally:
        dispatcher.recorded.remove(delivering.recorded)
        await delivering.close()


def _layered(make: MakeInner, layer: Layer) -> MakeInner:
    return lambda ended: LayeredExecutor(make, ended, layer)


@asynccontextmanager
async def _telling(dispatcher: Dispatcher, config: Config) -> AsyncIterator[None]:
    """Tell people what happens while the dispatcher works."""
    if not config.tell:
        yield
        return
    from manyhands.engine.telling.teller import Teller, TellerMeans

    secrets = secrets_of(config)
    secrets.know([os.environ[way.webhook_env] for way in config.tell if os.environ.get(way.webhook_env)])
    means = TellerMeans(dispatcher.clock.now, secrets.redact, os.environ, lambda: dispatcher.page)
    teller = Teller(dispatcher.book, config.tell, means)
    dispatcher.recorded.append(teller.recorded)
    try:
        yield
    finally:
        dispatcher.recorded.remove(teller.recorded)
        await teller.close()


def _maker(
    host: HostConfig,
    config: Config,
    journal: str,
    told: _Told,
    site: LandingSite,
    rays: RayClusters,
) -> MakeInner:
    return lambda ended: _executor(host, config, journal, told, ended, site, rays)


def _executor(
    host: HostConfig,
    config: Config,
    journal: str,
    told: _Told,
    ended: Ended,
    site: LandingSite,
    rays: RayClusters,
) -> Executor:
    workspace, spawned = config.workspace, told.spawned
    # Imported only when needed: a run with only shell hosts should not load a model client.
    match host:
        case ShellHost():
            from manyhands.hosts.executors.shell_executor import ShellExecutor, ShellSettings

            shell = ShellSettings(
                workspace=workspace / host.cwd,
                journal=journal,
                grace_s=host.grace,
                env=host.env,
                overloaded=host.overloaded,
                limits=host.limits,
            )
            layer = WorktreeLayer(site, host.cwd, host.approve)
            return LayeredExecutor(lambda after: ShellExecutor(shell, spawned, after, told.asked), ended, layer)
        case AgentHost():
            return _agent(host, workspace, journal, told, ended, site)
        case PythonHost():
            from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings

            python = PythonSettings(
                workspace=workspace, journal=journal, grace_s=host.grace, overloaded=host.overloaded
            )
            return PythonExecutor(python, spawned, ended)
        case OpenaiHost():
            from manyhands.hosts.executors.openai_executor import OpenAIExecutor, OpenAISettings

            openai = OpenAISettings(
                workspace=workspace,
                journal=journal,
                url=host.url,
                model=host.model,
                api=host.api,
                api_key_env=host.api_key_env,
                system=host.system,
                stream=host.streams,
            )
            return OpenAIExecutor(openai, spawned, ended, told.showed)
        case WorkerHost():
            return _worker(host, workspace, config.file, journal, spawned, ended)
        case RayHost():
            return rays.executor(host, workspace, config.file, journal, spawned, ended)
        case PullHost():
            from manyhands.hosts.executors.attempt_steps import ProcessSettings
            from manyhands.hosts.executors.pull_executor import PullExecutor

            return PullExecutor(
                ProcessSettings(workspace=workspace, journal=journal, grace_s=host.grace), spawned, ended
            )


def _agent(
    host: AgentHost,
    workspace: Path,
    journal: str,
    told: _Told,
    ended: Ended,
    site: LandingSite,
) -> Executor:
    if host.agent.name == "acp" and find_spec("acp") is None:
        raise UsageError(
            f"host `{host.name}` speaks ACP, which needs the library agent-client-protocol; it is not installed",
            install_hint("acp"),
        )
    from manyhands.hosts.agents.agent_executor import AgentExecutor
    from manyhands.hosts.agents.agent_settings import AgentSettings

    settings = AgentSettings(
        workspace=workspace / host.cwd,
        journal=journal,
        grace_s=host.grace,
        env=host.env,
        agent=host.agent.name,
        run=host.agent.run,
        reads=host.agent.reads,
        model=host.model,
        args=host.args,
        idle_s=host.idle,
        limits=host.limits,
        confine=host.confine,
        hide=host.hide,
        homes=site.store.absolute() / "homes" / host.name if host.has_own_homes else None,
        permissions=host.permissions,
        sessions=host.sessions,
    )
    layer = WorktreeLayer(site, host.cwd, host.approve)
    return LayeredExecutor(
        lambda after: AgentExecutor(settings, told.spawned, after, told.showed, told.retried, told.asked), ended, layer
    )


def _worker(
    host: WorkerHost, workspace: Path, config_file: Path | None, journal: str, spawned: ProcessSpawned, ended: Ended
) -> Executor:
    from manyhands.hosts.executors.worker_executor import WorkerExecutor, WorkerHostSettings

    settings = WorkerHostSettings(
        workspace=workspace,
        journal=journal,
        url=host.url,
        config_file=str(config_file or ""),
        models=host.models,
        model=host.model,
        api_key_env=host.api_key_env,
        system=host.system,
        threads=host.threads,
        device=host.device,
    )
    return WorkerExecutor(settings, spawned, ended)
