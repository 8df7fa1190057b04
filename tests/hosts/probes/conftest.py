"""The fake driver library, built once per test process."""

from pathlib import Path

import pytest

from hosts.probes.nvml_child import build_library

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for LD_LIBRARY_PATH with a libnvidia-ml.so.1 of ours in it."""
    directory = tmp_path_factory.mktemp("driver")
    build_library(HERE / "fake_nvml.c", directory / "libnvidia-ml.so.1")
    return directory
