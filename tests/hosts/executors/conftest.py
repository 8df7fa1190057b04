"""Stages for tests of one executor alone; each is closed, and looked after, when its test ends."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hosts.executors.stages import Stage, raise_stage


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncIterator[Stage]:
    stage = await raise_stage("shell", tmp_path)
    yield stage
    await stage.close()
    assert stage.desk.alive() == []


@pytest.fixture
async def python(tmp_path: Path) -> AsyncIterator[Stage]:
    stage = await raise_stage("python-async", tmp_path)
    yield stage
    await stage.close()
    assert stage.desk.alive() == []
