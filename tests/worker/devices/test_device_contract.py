"""Checks the contract of devices for the real NVML binding, the machine's memory and simulated devices."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hosts.probes.nvml_child import build_library
from worker.devices.device_child import MIB, DeviceChild

FAKE_DRIVER = Path(__file__).parents[2] / "hosts" / "probes" / "fake_nvml.c"
WHOLE = "GPU-11111111-aaaa-bbbb-cccc-000000000000"
PARTITION = "MIG-33333333-aaaa-bbbb-cccc-000000000000"


@pytest.fixture(scope="session")
def fake_libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("driver")
    build_library(FAKE_DRIVER, directory / "libnvidia-ml.so.1")
    return directory


@pytest.fixture
def fake_nvidia(fake_libraries: Path, tmp_path: Path) -> dict[str, str]:
    """An environment in which the driver's library is a fake."""
    (tmp_path / "state").write_text("well")
    (tmp_path / "use").write_text("0 1024")
    return {
        "LD_LIBRARY_PATH": str(fake_libraries),
        "FAKE_NVML_STATE": str(tmp_path / "state"),
        "FAKE_NVML_USE": str(tmp_path / "use"),
        "CUDA_VISIBLE_DEVICES": "0",
    }


def say(environment: dict[str, str], file: str, text: str) -> None:
    Path(environment[file]).write_text(text)


@pytest.fixture(params=["cpu", "simulated", "nvml"])
async def devices(request: pytest.FixtureRequest, fake_nvidia: dict[str, str]) -> AsyncIterator[DeviceChild]:
    child = DeviceChild(request.param, fake_nvidia)
    yield child
    await child.close()


async def test_a_reading_is_possible(devices: DeviceChild) -> None:
    read = await devices.read()
    assert read, devices.trouble
    assert devices.trouble == ""
    for memory in read.values():
        assert 0 <= memory.free_bytes <= memory.total_bytes
        assert memory.own_bytes is not None
        assert memory.others_bytes is not None
        assert memory.own_bytes + memory.others_bytes <= memory.total_bytes


async def test_what_this_process_takes_and_gives_back_shows(devices: DeviceChild) -> None:
    ((name, before),) = (await devices.read()).items()
    await devices.take(256 * MIB)
    taken = (await devices.read())[name]
    await devices.give_back()
    given_back = (await devices.read())[name]
    assert before.own_bytes is not None
    assert taken.own_bytes is not None
    assert given_back.own_bytes is not None
    assert taken.own_bytes - before.own_bytes == pytest.approx(256 * MIB, rel=0.05)
    assert given_back.own_bytes - before.own_bytes == pytest.approx(0, abs=16 * MIB)


async def test_what_is_taken_is_no_longer_free(devices: DeviceChild) -> None:
    """Kernels update their figures late, and other processes free memory meanwhile. So the test tries several times."""
    less: list[int] = []  # in each try, how much less was free than before
    while len(less) < 8 and max(less, default=0) < 256 * MIB:
        await devices.give_back()
        ((name, before),) = (await devices.read()).items()
        await devices.take(512 * MIB)
        again_at = time.monotonic() + 5
        less.append(0)
        while less[-1] < 256 * MIB and time.monotonic() < again_at:
            less[-1] = before.free_bytes - (await devices.read())[name].free_bytes
    assert max(less) >= 256 * MIB, less


async def test_reading_opens_no_cuda(devices: DeviceChild) -> None:
    assert await devices.read()
    names = [Path(file).name for file in await devices.mapped_files()]
    assert [name for name in names if name.startswith(("libcuda", "libcublas", "libnvrtc"))] == []


async def test_nvml_tells_each_visible_device_by_uuid(fake_nvidia: dict[str, str]) -> None:
    child = DeviceChild("nvml", {**fake_nvidia, "CUDA_VISIBLE_DEVICES": "1,0"})
    read = await child.read()
    assert list(read) == [PARTITION, WHOLE]
    assert read[PARTITION].own_bytes is None  # a partition does not report which process holds memory
    assert read[PARTITION].others_bytes is None
    assert read[PARTITION].free_bytes == 7 * 2**30
    await child.close()


async def test_neighbours_on_an_nvml_device_are_told_from_us(fake_nvidia: dict[str, str]) -> None:
    say(fake_nvidia, "FAKE_NVML_USE", "512 3072")
    child = DeviceChild("nvml", fake_nvidia)
    memory = (await child.read())[WHOLE]
    assert memory.own_bytes == 512 * MIB
    assert memory.others_bytes == 4096 * MIB  # this includes 1 GiB that the driver holds
    await child.close()


@pytest.mark.parametrize("state", ["dead", "garbage", "hanging"])
async def test_a_device_that_does_not_answer_is_said_to(fake_nvidia: dict[str, str], state: str) -> None:
    say(fake_nvidia, "FAKE_NVML_STATE", state)
    child = DeviceChild("nvml", fake_nvidia)
    assert await child.read() == {}
    assert child.trouble
    await child.close()
