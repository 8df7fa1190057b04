"""A cluster of real raylets on this machine, and the dispatcher's place at an executor on it."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from executors.desk import Desk
from manyhands.executors import process_table
from manyhands.executors.ray.executor import RayExecutor, RaySettings
from manyhands.executors.ray.link import Link
from manyhands.executors.ray.messages import DriverSettings

KINDS = ("code", "text", "reasoning")
#: A dead node is noticed after 2 s, where the default is about 20.
_SOON = {
    "health_check_initial_delay_ms": 2000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 4,
}
_PROGRAM = f"""
import sys
from ray.cluster_utils import Cluster
few = dict(object_store_memory=80_000_000, include_dashboard=False)
cluster = Cluster(initialize_head=True, head_node_args=dict(num_cpus=0, _system_config={_SOON!r}, **few))
nodes = {{}}
for kind in {KINDS!r}:
    gpus = 2 if kind == "text" else 0
    nodes[kind] = cluster.add_node(wait=False, num_cpus=2, num_gpus=gpus, labels={{"kind": kind}}, **few)
cluster.wait_for_nodes()
print(cluster.address, flush=True)
for kind in sys.stdin:
    cluster.remove_node(nodes.pop(kind.strip()), allow_graceful=False)
    print("killed", flush=True)
cluster.shutdown()
"""


class RayCluster:
    """In a process of its own: Ray stays out of the one that tests."""

    def __init__(self) -> None:
        env = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=env,
            start_new_session=True,
        )
        self.address = self._line()

    def kill_node(self, kind: str) -> None:
        """As when a machine fails: without a word to anyone."""
        assert self._process.stdin is not None
        self._process.stdin.write(kind + "\n")
        self._process.stdin.flush()
        self._line()

    def stop(self) -> None:
        below = psutil.Process(self._process.pid).children(recursive=True)
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
        _, alive = psutil.wait_procs(below, timeout=20)
        for process in alive:
            process.kill()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, "the Ray cluster did not come up"
        return line


@contextmanager
def ray_cluster() -> Iterator[RayCluster]:
    cluster = RayCluster()
    try:
        yield cluster
    finally:
        cluster.stop()


class RayDesk(Desk):
    def alive(self) -> list[int]:
        """The processes of all attempts of this desk, on whichever node of this machine."""
        return [
            process.pid
            for process in process_table.processes()
            if any(marker.startswith(f"{self.journal}-") for marker in process.markers)
        ]


def desk_on(
    cluster: RayCluster | str, tmp_path: Path, journal: str = "", lease_s: float = 5.0, **settings: Any
) -> "RayDesk":
    """A desk with a driver of its own."""
    journal = journal or f"test{secrets.token_hex(8)}"
    link = Link(DriverSettings(cluster if isinstance(cluster, str) else cluster.address, journal, lease_s))
    workspace = tmp_path / "workspace"
    workspace.mkdir(exist_ok=True)
    there = RaySettings(journal=journal, workspace=str(workspace), grace_s=0.5, **settings)
    return RayDesk(lambda s, e: RayExecutor(there, link, s, e), tmp_path / "attempts", journal)
