"""What `make` refuses to do, and says."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def made(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """On a machine where a user cannot have a network namespace."""
    unshare = tmp_path / "bin" / "unshare"
    unshare.parent.mkdir()
    unshare.write_text("#!/bin/sh\nexit 1\n")
    unshare.chmod(0o755)
    env = {**os.environ, "PATH": f"{unshare.parent}:{os.environ['PATH']}"}
    argv = ["make", "--old-file=setup", f"AGENTS={tmp_path / 'agents'}", *words]
    return subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_real_agents_are_not_run_where_they_would_reach_a_network(tmp_path: Path) -> None:
    done = made(tmp_path, "run-agents", "ARGS=--collect-only")
    assert done.returncode != 0
    assert "this user cannot have a network namespace" in done.stdout
    assert "pytest" not in done.stdout


def test_a_check_without_a_network_namespace_says_that_agents_were_skipped(tmp_path: Path) -> None:
    done = made(tmp_path, "test-few-agents")
    assert done.returncode == 0, done.stderr
    assert "SKIPPED: no agent program is run" in done.stdout
    assert "npm" not in done.stdout
