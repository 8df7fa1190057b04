"""Hosts on one cluster, each with nodes of its own, under a real dispatcher that stops what it must."""

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hosts.ray_host.ray_stage import RayCluster
from manyhands.assembly import open_session
from manyhands.core.events import AnyEvent, AttemptSpawned, AttemptStarted, RunOpened, TasksSubmitted
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import NO_CLAIMS, Task, TaskState
from manyhands.errors import UsageError
from manyhands.hosts.executors import process_table
from manyhands.hosts.ray.ray_clusters import check_ray
from manyhands.install_hints import install_hint
from manyhands.sources.config.config_reading import load_config
from manyhands.sources.config.config_types import RayHost

PATIENCE_S = 180.0
HOST = """
[hosts.{kind}]
type = "ray"
address = "{address}"
kinds = ["{kind}"]
nodes = {{ kind = "{kind}" }}
width = 1
grace = "0.3s"
"""
#: The first attempt is a process tree that takes no notice of SIGTERM, a part of it in another session.
STUBBORN = """
touch "$0"; [ "$MANYHANDS_ATTEMPT_NUMBER" = 1 ] || exit 0
trap "" TERM; setsid sleep 1000 & while :; do sleep 0.1; done
"""


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
async def test_what_takes_too_long_and_what_makes_way_is_stopped_on_its_node_with_all_it_started(
    cluster: RayCluster, tmp_path: Path
) -> None:
    hosts = "".join(HOST.format(kind=kind, address=cluster.address) for kind in ("code", "text"))
    (tmp_path / "manyhands.toml").write_text(hosts)
    late = Task("late", kind="code", run=("sh", "-c", STUBBORN, "late"), timeout=4.0, claims=NO_CLAIMS)
    humble = Task("humble", kind="text", run=("sh", "-c", STUBBORN, "humble"), preemptible=True, claims=NO_CLAIMS)
    urgent = Task("urgent", kind="text", run=("true",), priority=0, claims=NO_CLAIMS)
    happened: list[AnyEvent] = []
    async with open_session(load_config(tmp_path, environ={})) as dispatcher:
        dispatcher.recorded.append(happened.extend)
        now = dispatcher.clock.now()
        await dispatcher.submit(RunOpened(now, "r"), TasksSubmitted(now, "r", (late, humble)))
        await _until(lambda: (tmp_path / "late").exists() and (tmp_path / "humble").exists())
        await dispatcher.submit(TasksSubmitted(dispatcher.clock.now(), "r", (urgent,)))
        await dispatcher.wait_settled("r")
        records = dispatcher.book.runs["r"].records
        assert [one.state for one in records.values()] == [TaskState.DONE] * 3
        first = {name: (one.history or [])[0].ending for name, one in records.items()}
        assert first["late"] is not None
        assert first["late"].kind is EndingKind.TIMED_OUT
        assert first["humble"] is not None
        assert first["humble"].kind is EndingKind.PREEMPTED
        assert [one.pid for one in process_table.processes() if _is_in(one.pid, tmp_path)] == []
    host_of = {event.attempt: event.host for event in happened if isinstance(event, AttemptStarted)}
    ran_on = {(host_of[event.attempt], event.process.boot) for event in happened if isinstance(event, AttemptSpawned)}
    assert sorted(host for host, _ in ran_on) == ["code", "text"]  # each on one node,
    assert len({node for _, node in ran_on}) == 2  # and not on the same


def test_a_ray_host_without_ray_is_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as where it is not installed
    with pytest.raises(UsageError, match="host `far` is a Ray cluster, but Ray is not installed") as refused:
        check_ray([RayHost(name="far")])
    assert refused.value.hint == install_hint("ray")


async def _until(holds: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up_at
        await asyncio.sleep(0.05)


def _is_in(pid: int, directory: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == directory
    except OSError:
        return False
