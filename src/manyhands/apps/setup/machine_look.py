"""What there is to work with: the project, agents on the PATH, model servers on this machine, GPUs."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, get_args

from manyhands.apps.setup.check_finding import check_for, lacking_for
from manyhands.apps.setup.model_servers import ServedModels, servers_here
from manyhands.hosts.agents.signing_in import seems_signed_in
from manyhands.hosts.landing.git import Git
from manyhands.sources.config.agent_config import AgentName

_GPUS_S = 10.0


class FoundAgent(NamedTuple):
    name: str
    seems_signed_in: bool


class MachineLook(NamedTuple):
    directory: Path
    has_commits: bool  # it is in a git repository that worktrees can be made of
    check: tuple[str, ...]  # how its tests run
    check_lacks: str  # what must be installed before they can
    has_beads: bool
    agents: tuple[FoundAgent, ...]
    servers: tuple[ServedModels, ...]
    gpus: tuple[str, ...]


def look(directory: Path, environ: Mapping[str, str] | None = None) -> MachineLook:
    environ = os.environ if environ is None else environ
    return MachineLook(
        directory,
        has_commits(directory),
        check_for(directory),
        lacking_for(directory),
        (directory / ".beads").is_dir(),
        tuple(_agents(environ)),
        servers_here(),
        _gpus(),
    )


def has_commits(directory: Path) -> bool:
    """Is the directory in a git repository that has a commit?"""
    if shutil.which("git") is None:
        return False
    return Git(directory).ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}") is not None


def _agents(environ: Mapping[str, str]) -> list[FoundAgent]:
    names = [name for name in get_args(AgentName) if name and shutil.which(name, path=environ.get("PATH"))]
    found = [FoundAgent(name, seems_signed_in(name, environ)) for name in names]
    return sorted(found, key=lambda agent: not agent.seems_signed_in)


def _gpus() -> tuple[str, ...]:
    if shutil.which("nvidia-smi") is None:
        return ()
    command = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_GPUS_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(line.strip() for line in done.stdout.splitlines() if line.strip()) if not done.returncode else ()
