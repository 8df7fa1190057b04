"""Puts a session together: the store, the dispatcher, and an executor for each configured host."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

from manyhands.engine.delivery.sink_opening import check_secrets, open_sinks
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.leading import WaitTurn
from manyhands.engine.probing import Probing, configured_probes
from manyhands.engine.redaction import Secrets, secrets_of
from manyhands.engine.session import dispatching
from manyhands.engine.worker_scaling import WorkerScaling
from manyhands.errors import UsageError
from manyhands.hosts.executors.executor import Ended, Executor, Showed, Spawned
from manyhands.hosts.executors.layered_executor import Layer, LayeredExecutor, MakeInner
from manyhands.hosts.landing.landing_site import LandingSite
from manyhands.hosts.landing.run_facts import RunFacts
from manyhands.hosts.landing.worktree_layer import WorktreeLayer
from manyhands.hosts.ray.ray_clusters import RayClusters, check_ray
from manyhands.sources.config.agent_config import AgentHost
from manyhands.sources.config.config_types import (
    Config,
    HostConfig,
    OpenaiHost,
    PythonHost,
    RayHost,
    ShellHost,
    WorkerHost,
)

#: Servers that can stream: a stopped attempt then frees its slot there at once, and the first token is timed.
STREAMING = ("ollama", "vllm", "llamacpp")


@asynccontextmanager
async def open_session(
    config: Config, layer: Layer | None = None, wait_turn: WaitTurn | None = None
) -> AsyncIterator[Dispatcher]:
    """A dispatcher on the configured store and hosts. `layer` wraps the executor of each host."""
    site: LandingSite | None = None
    rays = RayClusters()
    check_secrets(config.routes, os.environ)
    check_ray(config.hosts)

    def executors(journal: str, spawned: Spawned, ended: Ended, showed: Showed) -> Mapping[str, Executor]:
        # Only now is everything surely dead that an earlier dispatcher left running in worktrees.
        nonlocal site
        site = LandingSite(config.workspace, config.store_directory, config.landing)
        makers = {host.name: _maker(host, config, journal, spawned, showed, site, rays) for host in config.hosts}
        return {name: LayeredExecutor(make, ended, layer) if layer else make(ended) for name, make in makers.items()}

    if any(isinstance(host, OpenaiHost) for host in config.hosts):
        from manyhands.hosts.executors.openai_executor import load_client

        await load_client()
    try:
        async with dispatching(
            config.store_directory,
            config.store.durability,
            config.core_hosts(),
            config.rules,
            executors,
            families=config.core_families(),
            routes=config.core_routes(),
            store=config.store_at,
            wait_turn=wait_turn,
            secrets=secrets_of(config),
        ) as dispatcher:
            assert site is not None
            site.facts.set_result(RunFacts(dispatcher.book, dispatcher.tell, dispatcher.clock.now))
            probing = Probing(dispatcher, configured_probes(config, dispatcher.book))
            scaling = WorkerScaling(dispatcher, rays.scaled)
            try:
                async with _delivering(dispatcher, config):
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


def _maker(
    host: HostConfig,
    config: Config,
    journal: str,
    spawned: Spawned,
    showed: Showed,
    site: LandingSite,
    rays: RayClusters,
) -> MakeInner:
    return lambda ended: _executor(host, config, journal, spawned, ended, showed, site, rays)


def _executor(
    host: HostConfig,
    config: Config,
    journal: str,
    spawned: Spawned,
    ended: Ended,
    showed: Showed,
    site: LandingSite,
    rays: RayClusters,
) -> Executor:
    workspace = config.workspace
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
            layer = WorktreeLayer(site, host.cwd)
            return LayeredExecutor(lambda told: ShellExecutor(shell, spawned, told), ended, layer)
        case AgentHost():
            return _agent(host, workspace, journal, spawned, ended, showed, site)
        case PythonHost():
            from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings

            python = PythonSettings(workspace=workspace, journal=journal, grace_s=host.grace)
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
                stream=host.stream or host.probe in STREAMING,
            )
            return OpenAIExecutor(openai, spawned, ended, showed)
        case WorkerHost():
            return _worker(host, workspace, config.file, journal, spawned, ended)
        case RayHost():
            return rays.executor(host, workspace, config.file, journal, spawned, ended)


def _agent(
    host: AgentHost,
    workspace: Path,
    journal: str,
    spawned: Spawned,
    ended: Ended,
    showed: Showed,
    site: LandingSite,
) -> Executor:
    if host.agent.name == "acp" and find_spec("acp") is None:
        raise UsageError(
            f"host `{host.name}` speaks ACP, which needs the library agent-client-protocol; it is not installed",
            "pip install 'manyhands[acp]'",
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
        sessions=host.sessions,
    )
    layer = WorktreeLayer(site, host.cwd)
    return LayeredExecutor(lambda told: AgentExecutor(settings, spawned, told, showed), ended, layer)


def _worker(
    host: WorkerHost, workspace: Path, config_file: Path | None, journal: str, spawned: Spawned, ended: Ended
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
