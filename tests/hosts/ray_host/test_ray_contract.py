"""What every executor promises, held by the executor on a Ray cluster of three nodes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hosts.executors.stages import Stage, shell_task
from hosts.executors.test_executor_contract import (  # noqa: F401 - collected here, on the stage below
    test_a_check_that_fails_fails_the_attempt_and_shows_its_output,
    test_a_directory_that_cannot_be_made_is_an_ending,
    test_many_at_once_are_all_stopped_by_closing,
    test_what_is_stopped_at_the_gate_never_runs,
    test_what_is_stopped_before_it_began_still_ends,
)
from hosts.ray_host.ray_stage import RayCluster, desk_on

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]


@pytest.fixture
async def stage(cluster: RayCluster, tmp_path: Path) -> AsyncIterator[Stage]:
    desk = desk_on(cluster, tmp_path)
    workspace = tmp_path / "workspace"
    flags = workspace / "flags"
    flags.mkdir()
    yield Stage("ray", desk, workspace, shell_task, desk.executor.close, lambda: len(list(flags.iterdir())), many=12)
    await desk.executor.close()
    attempts = [attempt for attempt, _ in desk.reported]
    assert len(attempts) == len(set(attempts)), "an attempt ended twice"
    assert desk.alive() == []


@pytest.fixture
def process_stage(stage: Stage) -> Stage:
    return stage
