"""An environment where CUDA seems available: a driver that answers, a CUDA library, and a torch that loads it."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from hosts.probes.nvml_child import build_library

FAKE_DRIVER = Path(__file__).parents[1] / "hosts" / "probes" / "fake_nvml.c"
#: A process that imports this, or asks the loader for CUDA, has the library mapped until it ends.
TORCH = "import ctypes\nctypes.CDLL('libcuda.so.1')\n"


@pytest.fixture(scope="session")
def cuda_in_reach(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    directory = tmp_path_factory.mktemp("cuda")
    (directory / "cuda.c").write_text("int cuInit(unsigned flags) { return flags; }\n")
    build_library(directory / "cuda.c", directory / "libcuda.so.1")
    build_library(FAKE_DRIVER, directory / "libnvidia-ml.so.1")
    (directory / "torch.py").write_text(TORCH)
    (directory / "state").write_text("well")
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(directory),
        "PYTHONPATH": str(directory),
        "FAKE_NVML_STATE": str(directory / "state"),
    }


def cuda_of(names: Iterable[str]) -> list[str]:
    """The mapped files that show that a process opened CUDA. The driver's management library does not show it."""
    return [name for name in names if name.startswith(("libcuda", "libcublas", "libcudnn", "libnvrtc", "libtorch"))]
