"""NVML through the real binding and a driver library of ours; see fake_nvml.c for the devices it has."""

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from hosts.probes.nvml_child import NvmlChild, build_library

GIB = 1 << 30
WHOLE = "GPU-11111111-aaaa-bbbb-cccc-000000000000"
PARTITION = "MIG-33333333-aaaa-bbbb-cccc-000000000000"


@pytest.fixture
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The file that says how the library behaves; a test may be parametrized with it."""
    state = tmp_path / "state"
    state.write_text(getattr(request, "param", "well"))
    return state


@pytest.mark.parametrize(
    ("visible", "uuids"),
    [
        (None, [WHOLE, PARTITION]),
        ("1,0", [PARTITION, WHOLE]),
        (WHOLE[:12], [WHOLE]),
        (PARTITION, [PARTITION]),
        ("MIG-GPU-22222222-aaaa-bbbb-cccc-000000000000/5/0", [PARTITION]),
        ("0,-1,1", [WHOLE]),
    ],
)
async def test_the_devices_read_are_those_a_cuda_program_would_see(
    fake_driver: Path, state: Path, visible: str | None, uuids: list[str]
) -> None:
    child = NvmlChild(fake_driver, state, visible)
    assert await child.read(1.0) is not None, child.trouble
    assert [device["uuid"] for device in child.devices] == uuids
    await child.close()


async def test_memory_is_what_is_not_free_and_is_followed_as_it_drifts(fake_driver: Path, state: Path) -> None:
    child = NvmlChild(fake_driver, state, visible="0")
    used = []
    for at in (1.0, 2.0, 3.0):
        reading = await child.read(at)
        assert reading is not None, child.trouble
        assert reading.memory_total_bytes == 24 * GIB
        assert reading.utilisation == 0.4
        used.append(reading.memory_used_bytes)
    # 1 GiB used and 1 GiB reserved by the driver, which a sum over users would miss.
    assert used == [int(2.25 * GIB), int(2.5 * GIB), int(2.75 * GIB)]
    await child.close()


async def test_a_partition_has_memory_of_its_own_and_tells_no_utilisation(fake_driver: Path, state: Path) -> None:
    child = NvmlChild(fake_driver, state, visible="1")
    reading = await child.read(1.0)
    assert reading is not None, child.trouble
    assert (reading.memory_total_bytes, reading.memory_used_bytes) == (10 * GIB, 3 * GIB)
    assert reading.utilisation is None
    await child.close()


async def test_of_several_devices_the_fullest_is_told(fake_driver: Path, state: Path) -> None:
    child = NvmlChild(fake_driver, state)
    reading = await child.read(1.0)
    assert reading is not None, child.trouble
    assert (reading.memory_total_bytes, reading.memory_used_bytes) == (10 * GIB, 3 * GIB)
    await child.close()


@pytest.mark.parametrize("state", ["unified"], indirect=True)
async def test_a_device_without_memory_of_its_own_shares_the_machines(fake_driver: Path, state: Path) -> None:
    child = NvmlChild(fake_driver, state, visible="0")
    reading = await child.read(1.0)
    assert reading is not None, child.trouble
    assert reading.memory_total_bytes == psutil.virtual_memory().total
    await child.close()


@pytest.mark.parametrize("visible", ["", "-1", "7", "GPU-", "GPU-99999999", "none"])
async def test_hidden_devices_are_no_device(fake_driver: Path, state: Path, visible: str) -> None:
    child = NvmlChild(fake_driver, state, visible)
    assert await child.read(1.0) is None
    assert child.trouble.startswith("no device")
    assert repr(visible) in child.trouble
    await child.close()


async def test_without_a_driver_there_is_no_device(state: Path) -> None:
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        pass
    else:
        pytest.skip("this machine has an NVIDIA driver")
    child = NvmlChild(None, state)
    assert await child.read(1.0) is None
    assert child.trouble.startswith("no device")
    await child.close()


@pytest.mark.parametrize("state", ["hanging"], indirect=True)
async def test_a_hanging_driver_is_not_asked_twice_and_does_not_keep_the_program_from_ending(
    fake_driver: Path, state: Path
) -> None:
    child = NvmlChild(fake_driver, state)
    assert await child.read(1.0) is None
    assert await child.read(2.0) is None
    assert "has not answered an earlier question" in child.trouble
    await child.close()  # the driver hangs on; `close` fails the test if the process does


async def test_reading_nvml_loads_nothing_of_cuda(fake_driver: Path, state: Path) -> None:
    child = NvmlChild(fake_driver, state)
    assert await child.read(1.0) is not None, child.trouble
    assert await child.cuda_libraries() == []
    await child.close()


IMPORT_EVERYTHING = """
import importlib, json, pkgutil, sys
sys.path.insert(0, sys.argv[1])
import manyhands
from hosts.probes.nvml_child import mapped_cuda_libraries
imported = []
for module in pkgutil.walk_packages(manyhands.__path__, "manyhands."):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name.startswith("manyhands"):
            raise
        continue  # needs an extra that is not installed
    imported.append(module.name)
print(json.dumps({"imported": imported, "cuda": mapped_cuda_libraries(), "torch": "torch" in sys.modules}))
"""


def test_importing_every_module_loads_nothing_of_cuda_and_no_torch() -> None:
    tests = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_EVERYTHING, str(tests)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert "manyhands.hosts.probes.nvml_probe" in answer["imported"]
    assert answer["cuda"] == []
    assert answer["torch"] is False


def test_a_cuda_library_would_be_found_if_one_were_loaded(tmp_path: Path) -> None:
    (tmp_path / "empty.c").write_text("int cuInit(unsigned flags) { return flags; }\n")
    build_library(tmp_path / "empty.c", tmp_path / "libcuda.so.1")
    program = (
        "import ctypes, sys; sys.path.insert(0, sys.argv[1]); ctypes.CDLL(sys.argv[2])\n"
        "from hosts.probes.nvml_child import mapped_cuda_libraries\n"
        "print(mapped_cuda_libraries())\n"
    )
    tests, library = Path(__file__).parents[2], tmp_path / "libcuda.so.1"
    done = subprocess.run(
        [sys.executable, "-c", program, str(tests), str(library)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str([str(library)])
