"""A console in whose PATH a stand-in for an agent is."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.setup.stand_in import put_claude
from surfaces.cli.console import Console, console
from surfaces.cli.two_models import server

__all__ = ["console", "server"]


@pytest.fixture
def with_claude(console: Console, tmp_path_factory: pytest.TempPathFactory) -> Console:
    """`claude` is on the PATH and someone has signed in; other agents are not there."""
    away = tmp_path_factory.mktemp("away")
    python = Path(sys.executable).parent
    console.env["PATH"] = os.pathsep.join([str(put_claude(away / "bin")), str(python), "/usr/bin", "/bin"])
    console.env["HOME"] = str(away / "home")
    console.env["ANTHROPIC_API_KEY"] = "stand-in"
    (away / "home" / ".claude").mkdir(parents=True)
    return console


@pytest.fixture
def git(console: Console) -> Callable[..., str]:
    def run(*arguments: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
        return subprocess.run(command, cwd=console.directory, capture_output=True, text=True, check=True).stdout

    return run
