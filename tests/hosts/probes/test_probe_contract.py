"""What every probe promises, real and simulated: see hosts/probes/probe.py."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import structs

from hosts.probes.stages import SIMULATED, STAGES, Stage, ailments_of, stage_called
from manyhands.hosts.probes.simulated_probe import SHOWN_BY, shown_fields

NAMES = [*STAGES, *(f"simulated {source}" for source in SIMULATED)]
AILING = [(name, ailment) for name in NAMES for ailment in ailments_of(name)]
#: Longer than any answer takes on a loaded machine: a hang fails instead of hanging.
PATIENCE_S = 90.0


@pytest.fixture
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    name = request.param
    stage = stage_called(name, tmp_path, request.getfixturevalue("fake_driver") if name == "nvml" else None)
    await stage.open()
    yield stage
    await stage.close()


@pytest.mark.parametrize("stage", NAMES, indirect=True)
async def test_a_host_that_is_well_gives_a_reading_with_values_in_range(stage: Stage) -> None:
    await stage.probe.read(1.0)
    reading = await stage.probe.read(2.0)
    assert reading is not None, stage.probe.trouble
    assert stage.probe.trouble == ""
    assert (reading.at, reading.source) == (2.0, stage.source)
    values = structs.asdict(reading)
    for name in ("kv_use", "utilisation", "pressure"):
        assert values[name] is None or 0 <= values[name] <= 1, name
    for name in ("running", "waiting", "preemptions", "cores", "memory_total_bytes", "memory_used_bytes"):
        assert values[name] is None or (isinstance(values[name], int) and values[name] >= 0), name
    assert all(size > 0 for size in (reading.attempt_bytes or {}).values())
    if reading.memory_total_bytes is not None and reading.memory_used_bytes is not None:
        assert 0 < reading.memory_used_bytes <= reading.memory_total_bytes


@pytest.mark.parametrize("stage", NAMES, indirect=True)
async def test_a_probe_shows_nothing_its_simulated_twin_does_not(stage: Stage) -> None:
    reading = await stage.probe.read(1.0)
    assert reading is not None, stage.probe.trouble
    assert shown_fields(reading)
    assert shown_fields(reading) <= SHOWN_BY[stage.source]


@pytest.mark.parametrize(("stage", "ailment"), AILING, indirect=["stage"])
async def test_a_host_that_is_not_well_gives_none_and_says_why(stage: Stage, ailment: str) -> None:
    await stage.probe.read(1.0)
    await stage.be(ailment)
    async with asyncio.timeout(PATIENCE_S):
        reading = await stage.probe.read(2.0)
    assert reading is None
    assert stage.probe.trouble


@pytest.mark.parametrize("stage", NAMES, indirect=True)
async def test_a_host_that_is_well_again_is_read_again(stage: Stage) -> None:
    assert await stage.probe.read(0.0) is not None, stage.probe.trouble
    for ailment in ("dead", stage.ailments[-1]):
        await stage.be(ailment)
        assert await stage.probe.read(1.0) is None
        await stage.be("well")
        assert await stage.probe.read(2.0) is not None, stage.probe.trouble
        assert stage.probe.trouble == ""


@pytest.mark.parametrize("stage", NAMES, indirect=True)
async def test_totals_never_fall_when_the_host_starts_again(stage: Stage) -> None:
    first = await stage.probe.read(1.0)
    assert first is not None, stage.probe.trouble
    await stage.restart()
    second = await stage.probe.read(2.0)
    assert second is not None, stage.probe.trouble
    if "preemptions" in SHOWN_BY[stage.source]:
        assert first.preemptions == 7
        assert second.preemptions == 9  # 2 more since the restart
    else:
        assert second.preemptions is None


@pytest.mark.parametrize("stage", NAMES, indirect=True)
async def test_closing_twice_is_harmless(stage: Stage) -> None:
    await stage.probe.read(1.0)
    await stage.probe.close()
    await stage.probe.close()
    assert stage.probe.trouble == ""
