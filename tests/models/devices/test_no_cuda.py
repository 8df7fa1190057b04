"""No process that does not compute opens CUDA: not on import, not for the config, not to dispatch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from probes.nvml_child import build_library

#: Whoever imports it, or asks the loader for CUDA, has the library mapped until the process ends.
TORCH = "import ctypes\nctypes.CDLL('libcuda.so.1')\n"

#: What is run, then which files are mapped.
PROGRAM = """
import json, sys
from pathlib import Path
try:
    {statement}
except SystemExit as left:
    assert not left.code, left.code
lines = [line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines()]
print()
print(json.dumps(sorted({{Path(line[5]).name for line in lines if len(line) > 5}})))
"""

IMPORT_ALL = """import importlib, pkgutil, manyhands
    for module in pkgutil.walk_packages(manyhands.__path__, "manyhands."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as missing:
                assert not missing.name.startswith("manyhands"), missing"""


def the_command(*arguments: str) -> str:
    return f"sys.argv = ['manyhands', *{list(arguments)!r}]; from manyhands.cli.main import main; main()"


@pytest.fixture(scope="session")
def cuda_in_reach(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with a CUDA library and a torch that loads it."""
    directory = tmp_path_factory.mktemp("cuda")
    (directory / "cuda.c").write_text("int cuInit(unsigned flags) { return flags; }\n")
    build_library(directory / "cuda.c", directory / "libcuda.so.1")
    (directory / "torch.py").write_text(TORCH)
    return {**os.environ, "LD_LIBRARY_PATH": str(directory), "PYTHONPATH": str(directory)}


def mapped(statement: str, environment: dict[str, str], directory: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(statement=statement)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=directory,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [name for name in json.loads(done.stdout.splitlines()[-1]) if name.startswith("libcuda")]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "manyhands.toml").write_text(
        '[hosts.local]\ntype = "shell"\nwidth = 2\n\n'
        '[hosts.gpu]\ntype = "openai"\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\nkinds = ["text"]\nprobe = "nvml"\n'
    )
    (tmp_path / "plan.toml").write_text('[[task]]\nid = "a"\nkind = "code"\nrun = ["true"]\n')
    return tmp_path


@pytest.mark.parametrize(
    "statement",
    [IMPORT_ALL, the_command("config"), the_command("run", "plan.toml")],
    ids=["import", "config", "dispatch"],
)
def test_no_cuda_library_is_mapped(statement: str, cuda_in_reach: dict[str, str], project: Path) -> None:
    assert mapped(statement, cuda_in_reach, project) == []


def test_it_would_show_if_one_were(cuda_in_reach: dict[str, str], project: Path) -> None:
    assert mapped("import torch", cuda_in_reach, project) == ["libcuda.so.1"]
