"""Makes executors from configured Ray hosts. Hosts on the same cluster share one connection to it."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from manyhands.errors import UsageError
from manyhands.hosts.executors.executor import Ended, Executor, ProcessSpawned
from manyhands.install_hints import install_hint
from manyhands.sources.config.config_types import HostConfig, RayHost
from manyhands.sources.config.scaling_config import ScalingConfig

if TYPE_CHECKING:
    from manyhands.hosts.ray.driver_link import DriverLink
    from manyhands.hosts.ray.ray_executor import RayExecutor
    from manyhands.hosts.ray.scaling import Scaling

#: How long attempts on a node live without news from the cluster's head. A lost node's claims wait as long.
LEASE_S = 10.0
#: What a model worker reserves by default.
A_GPU = {"gpus": 1.0}


class RayClusters:
    def __init__(self) -> None:
        self._links: dict[str, DriverLink] = {}
        self.scaled: dict[str, tuple[Scaling, RayExecutor]] = {}  # by host, for hosts with a scaling policy

    def executor(
        self,
        host: RayHost,
        workspace: Path,
        config_file: Path | None,
        journal: str,
        spawned: ProcessSpawned,
        ended: Ended,
    ) -> Executor:
        from manyhands.hosts.ray.driver_link import DriverLink
        from manyhands.hosts.ray.messages import DriverSettings, ModelWorker
        from manyhands.hosts.ray.ray_executor import RayExecutor, RaySettings

        link = self._links.get(host.address)
        if link is None:
            link = self._links[host.address] = DriverLink(DriverSettings(host.address, journal, LEASE_S))
        there = host.workspace or str(workspace.absolute())
        worker = None
        if host.models and config_file is not None:
            worker = ModelWorker(f"{there}/{config_file.name}", host.models, host.model)
        settings = RaySettings(
            journal=journal,
            host=host.name,
            workspace=there,
            worker=worker,
            grace_s=host.grace,
            env=host.env,
            nodes=host.nodes,
            place_within_s=host.place_within,
            overloaded=host.overloaded,
            each=(host.scaling.worker or A_GPU) if host.scaling is not None else None,
        )
        executor = RayExecutor(settings, link, spawned, ended)
        if host.scaling is not None:
            self.scaled[host.name] = _policy(host.scaling), executor
        return executor


def _policy(config: ScalingConfig) -> "Scaling":
    from manyhands.hosts.ray.scaling import Scaling

    return Scaling(
        min=config.min,
        max=config.max,
        drain_s=config.drain,
        idle_s=config.idle,
        settle_s=config.settle,
        cost_per_hour=config.cost_per_hour,
        budget_per_hour=config.budget_per_hour,
    )


def check_ray(hosts: Sequence[HostConfig]) -> None:
    """Refuse Ray hosts without Ray before anything runs, instead of in the first attempt."""
    names = [host.name for host in hosts if isinstance(host, RayHost)]
    if names and find_spec("ray") is None:
        raise UsageError(f"host `{names[0]}` is a Ray cluster, but Ray is not installed", install_hint("ray"))
