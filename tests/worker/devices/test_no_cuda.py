"""Processes that do not compute never open CUDA: not on import, not to read the config, not to dispatch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from worker.cuda_in_reach import cuda_of

#: Runs a statement, then prints which files are mapped.
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
    return f"sys.argv = ['manyhands', *{list(arguments)!r}]; from manyhands.surfaces.cli.main import main; main()"


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
    return list(json.loads(done.stdout.splitlines()[-1]))


#: A host that is probed through NVML, and a model that needs torch.
CONFIG = """
[hosts.local]
type = "shell"
probe = "nvml"
kinds = ["code"]

[hosts.worker]
type = "worker"
kinds = ["embed"]

[models.large]
path = "large"
backend = "torch"
"""

#: The task runs until the dispatcher has loaded NVML, at most 30 s.
PLAN = """
[[task]]
id = "a"
kind = "code"
run = ["sh", "-c", "for n in $(seq 600); do grep -q libnvidia-ml /proc/$PPID/maps && exit; sleep 0.05; done; exit 1"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "manyhands.toml").write_text(CONFIG)
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


@pytest.mark.parametrize(
    ("statement", "reads_nvml"),
    [(IMPORT_ALL, False), (the_command("config"), False), (the_command("run", "plan.toml"), True)],
    ids=["import", "config", "dispatch"],
)
def test_no_cuda_library_is_mapped(
    statement: str, reads_nvml: bool, cuda_in_reach: dict[str, str], project: Path
) -> None:
    names = mapped(statement, cuda_in_reach, project)
    assert cuda_of(names) == []
    assert ("libnvidia-ml.so.1" in names) == reads_nvml


def test_it_would_show_if_one_were(cuda_in_reach: dict[str, str], project: Path) -> None:
    assert cuda_of(mapped("import torch", cuda_in_reach, project)) == ["libcuda.so.1"]
