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

from hosts.executors.desk import Desk
from manyhands.hosts.executors import process_table
from manyhands.hosts.ray.driver_link import DriverLink
from manyhands.hosts.ray.messages import DriverSettings
from manyhands.hosts.ray.ray_executor import RayExecutor, RaySettings

KINDS = ("code", "text", "reasoning")
#: A dead node is noticed after 2 s, where the default is about 20.
_SOON = {
    "health_check_initial_delay_ms": 2000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 4,
}
_PROGRAM = f"""
import json, sys
from google.protobuf.json_format import MessageToDict
from ray._raylet import GcsClient
from ray.autoscaler.v2.sdk import get_cluster_resource_state
from ray.cluster_utils import Cluster
few = dict(object_store_memory=80_000_000, include_dashboard=False)
cluster = Cluster(initialize_head=True, head_node_args=dict(num_cpus=0, _system_config={_SOON!r}, **few))
nodes = {{}}
for kind in {KINDS!r}:
    gpus = 2 if kind == "text" else 0
    tape = {{"resources": {{"tape": 1}}}} if kind == "code" else {{}}
    nodes[kind] = cluster.add_node(wait=False, num_cpus=2, num_gpus=gpus, labels={{"kind": kind}}, **tape, **few)
cluster.wait_for_nodes()
print(cluster.address, flush=True)
for wish in map(str.strip, sys.stdin):
    if wish == "demand":
        head = GcsClient(address=cluster.address)
        state = MessageToDict(get_cluster_resource_state(head))
        asked = head.internal_kv_get(b"autoscaler_resource_request", None)
        waiting = {{name: told for name, told in state.items() if name.startswith("pending")}}
        print(json.dumps({{"asked": json.loads(asked or b"[]"), **waiting}}, sort_keys=True), flush=True)
    else:
        cluster.remove_node(nodes.pop(wish), allow_graceful=False)
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
        self._ask(kind)

    def demand(self) -> str:
        """What an autoscaler is told, without blanks."""
        return self._ask("demand").replace(" ", "")

    def stop(self) -> None:
        below = psutil.Process(self._process.pid).children(recursive=True)
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
        _, alive = psutil.wait_procs(below, timeout=20)
        for process in alive:
            process.kill()

    def _ask(self, wish: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(wish + "\n")
        self._process.stdin.flush()
        return self._line()

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
    link = DriverLink(DriverSettings(cluster if isinstance(cluster, str) else cluster.address, journal, lease_s))
    workspace = tmp_path / "workspace"
    workspace.mkdir(parents=True, exist_ok=True)
    there = RaySettings(journal=journal, workspace=str(workspace), grace_s=0.5, **settings)
    return RayDesk(lambda s, e: RayExecutor(there, link, s, e), tmp_path / "attempts", journal)
