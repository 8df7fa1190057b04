"""Attempts on a Ray cluster of three nodes: where they run, how they are stopped, and what outlives what."""

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from hosts.ray_host.ray_stage import RayCluster, RayDesk, desk_on
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import Task

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]

#: One that leaves its group behind in another session, and takes no notice of SIGTERM.
STUBBORN = 'trap "" TERM; setsid sleep 1000 & touch "$1"; while :; do sleep 0.1; done'

#: A module that is only on the nodes.
FAR_REFUSED = """
import os, pathlib

def says():
    said = '{"quota": true, "retry_after": 4, "tokens_in": 7}'
    pathlib.Path(os.environ["MANYHANDS_ENDING_FILE"]).write_text(said)

def prints():
    print("Rate limited.")
"""


async def test_a_remote_process_tree_is_gone_when_its_stop_is_reported(cluster: RayCluster, tmp_path: Path) -> None:
    desk = desk_on(cluster, tmp_path)
    attempt = desk.start(Task("stubborn", run=("sh", "-c", STUBBORN, "sh", str(tmp_path / "up"))))
    await desk.until((tmp_path / "up").exists)
    assert len(desk.alive()) >= 2
    desk.executor.stop(attempt)
    ending = await desk.ending(attempt)
    assert ending.kind is EndingKind.CANCELLED
    assert desk.alive() == []
    await desk.executor.close()


async def test_what_an_attempt_says_of_its_ending_is_heard_from_its_node(cluster: RayCluster, tmp_path: Path) -> None:
    desk = desk_on(cluster, tmp_path, overloaded="(?i)rate.limited")
    (tmp_path / "workspace" / "far_refused.py").write_text(FAR_REFUSED)
    said = 'echo \'{"quota": true, "retry_after": 4, "tokens_in": 7}\' > "$MANYHANDS_ENDING_FILE"; exit 1'
    command = await desk.run(Task("command", run=("sh", "-c", said)))
    function = await desk.run(Task("function", call="far_refused:says"))
    for ending in (command, function):
        told = (ending.kind, ending.quota, ending.retry_after_s, ending.tokens_in)
        assert told == (EndingKind.OVERLOADED, True, 4.0, 7), ending
    later = await desk.run(Task("later", run=("sh", "-c", "exit 75")))
    prints = await desk.run(Task("prints", run=("echo", "Rate limited.")))
    shouts = await desk.run(Task("shouts", call="far_refused:prints"))
    assert [one.kind for one in (later, prints, shouts)] == [EndingKind.OVERLOADED] * 3
    assert prints.detail == shouts.detail == "Rate limited."
    await desk.executor.close()


async def test_attempts_run_where_their_labels_and_resources_are(cluster: RayCluster, tmp_path: Path) -> None:
    """Two share one of the two GPUs, one has the other: a fourth waits, and an autoscaler knows for what."""
    desk = desk_on(cluster, tmp_path, place_within_s=8.0)
    flag, a_gpu = str(tmp_path / "go"), {"gpus": 1.0, "cpus": 0.5}
    says_and_waits = (
        "sh",
        "-c",
        'echo "gpu=$CUDA_VISIBLE_DEVICES"; until [ -e "$1" ]; do sleep 0.05; done',
        "sh",
        flag,
    )
    labelled = [desk.start(Task(kind, run=("true",), labels=(f"node:kind={kind}",))) for kind in ("code", "text")]
    with_tape = desk.start(Task("tape", run=("true",), resources={"tape": 1.0, "memory_gb": 0.1}))
    shares = [a_gpu, {"gpus": 0.5}, {"gpus": 0.5}]
    with_gpus = [desk.start(Task(f"gpu-{n}", run=says_and_waits, resources=one)) for n, one in enumerate(shares)]
    await desk.until(lambda: all(_output(desk, attempt) for attempt in with_gpus))
    whole, *halves = (_output(desk, attempt) for attempt in with_gpus)
    assert {whole, *halves} == {"gpu=0\n", "gpu=1\n"}
    assert halves[0] == halves[1] != whole
    fourth = desk.start(Task("gpu-4", run=("true",), resources=a_gpu))
    nowhere = desk.start(Task("nowhere", run=("true",), labels=("node:kind=tape",)))
    await desk.until(lambda: '"resourcesBundle":{"CPU":0.5,"GPU":1.0}' in cluster.demand())
    await desk.until(lambda: '"asked":[{"CPU":1.0}]' in cluster.demand())
    ending = await desk.ending(fourth)
    assert ending.kind is EndingKind.OVERLOADED
    assert "had room for 1 GPU, 0.5 CPU" in ending.detail
    ending = await desk.ending(nowhere)
    assert ending.kind is EndingKind.OVERLOADED
    assert "no node with kind=tape" in ending.detail
    (tmp_path / "go").touch()
    for attempt in [*labelled, with_tape, *with_gpus]:
        assert (await desk.ending(attempt)).kind is EndingKind.DONE
    node_of = {attempt: process.boot for attempt, process in desk.spawned}
    on_code, on_text = (node_of[attempt] for attempt in labelled)
    assert on_code == node_of[with_tape] != on_text
    assert {node_of[attempt] for attempt in with_gpus} == {on_text}
    await desk.executor.close()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"resources": {"gpus": 1.5}}, "quantities >1 must be whole numbers"),
        ({"labels": ("node:kind",)}, "label `node:kind`, which is not a node label; write `node:NAME=VALUE`"),
    ],
)
async def test_what_no_cluster_could_give_fails_at_once(
    cluster: RayCluster, tmp_path: Path, asked: dict[str, Any], says: str
) -> None:
    desk = desk_on(cluster, tmp_path)
    ending = await desk.run(Task("odd", run=("true",), **asked))
    assert (ending.kind, ending.permanent) == (EndingKind.FAILED, True)
    assert says in ending.detail
    await desk.executor.close()


async def test_a_function_runs_there_and_its_result_and_output_come_back(cluster: RayCluster, tmp_path: Path) -> None:
    desk = desk_on(cluster, tmp_path)
    (tmp_path / "workspace" / "far_away.py").write_text(
        "async def shout(text):\n    print('on it', flush=True)\n    return text.upper() * 20_000\n"
    )
    attempt = desk.start(Task("f", call="far_away:shout", args={"text": "ab"}))
    ending = await desk.ending(attempt)
    assert ending.kind is EndingKind.DONE, ending
    assert ending.result.startswith('"ABAB')
    assert _output(desk, attempt) == "on it\n"
    assert desk.directory(attempt).joinpath("result.json").stat().st_size == 40_002
    await desk.executor.close()


def _processes_of(journal: str) -> list[psutil.Process]:
    return [p for p in psutil.process_iter(["cmdline"]) if journal in " ".join(p.info["cmdline"] or ())]


async def test_attempts_outlive_the_driver_and_are_found_again(cluster: RayCluster, tmp_path: Path) -> None:
    desk = desk_on(cluster, tmp_path)
    flag = str(tmp_path / "go")
    counts = 'for n in 1 2 3; do echo $n; done; until [ -e "$1" ]; do sleep 0.05; done; echo end'
    attempt = desk.start(Task("counts", run=("sh", "-c", counts, "sh", flag)))
    await desk.until(lambda: _output(desk, attempt) == "1\n2\n3\n")
    [driver] = [child for child in psutil.Process().children() if desk.journal in " ".join(child.cmdline())]
    os.kill(driver.pid, signal.SIGKILL)
    await asyncio.sleep(0.5)
    (tmp_path / "go").touch()
    assert (await desk.ending(attempt)).kind is EndingKind.DONE
    assert _output(desk, attempt) == "1\n2\n3\nend\n"
    assert len(desk.spawned) == 1
    await desk.executor.close()
    # The driver that was killed may be waited for by its parent a little later.
    await desk.until(lambda: not _processes_of(desk.journal))


async def test_who_leaves_takes_the_carriers_along(cluster: RayCluster, tmp_path: Path) -> None:
    """Several at once, as on a busy machine: what a process wishes of Ray just before it ends may never be sent."""
    desks = [desk_on(cluster, tmp_path / str(n)) for n in range(6)]
    for ending in await asyncio.gather(*(desk.run(Task("quick", run=("true",))) for desk in desks)):
        assert ending.kind is EndingKind.DONE
    assert all(_processes_of(desk.journal) for desk in desks)
    await asyncio.gather(*(desk.executor.close() for desk in desks))
    await desks[0].until(lambda: not [process for desk in desks for process in _processes_of(desk.journal)])


async def test_attempts_of_a_carrier_that_is_killed_die_with_it_and_end_lost(
    cluster: RayCluster, tmp_path: Path
) -> None:
    """Only once nothing of them can be alive: their claims are free from then on."""
    desk = desk_on(cluster, tmp_path, lease_s=3.0)
    attempt = desk.start(Task("stubborn", run=("sh", "-c", STUBBORN, "sh", str(tmp_path / "up"))))
    await desk.until((tmp_path / "up").exists)
    carrier = psutil.Process(desk.spawned[0][1].pid).parent()
    assert carrier is not None
    killed_at = time.monotonic()
    carrier.kill()
    ending = await desk.ending(attempt)
    assert ending.kind is EndingKind.LOST
    assert time.monotonic() - killed_at >= 3.0
    assert desk.alive() == []
    await desk.executor.close()


async def test_where_there_is_no_cluster_attempts_say_so_and_may_be_tried_again(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    desk = desk_on("127.0.0.1:1", tmp_path)
    ending = await desk.run(Task("t", run=("true",)))
    assert ending.kind is EndingKind.OVERLOADED
    assert ending.detail.startswith("no Ray cluster at `127.0.0.1:1`: ")
    await desk.executor.close()


def _output(desk: RayDesk, attempt: int) -> str:
    log = desk.directory(attempt) / "output.log"
    return log.read_text() if log.exists() else ""
