"""On a machine that has nothing of manyhands: from `uv tool install .` to the first landed commit, in four commands."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from apps.setup.stand_in import put_claude

ROOT = Path(__file__).parents[2]
COMMANDS = ("uv tool install {root}", "manyhands init --yes", "manyhands doctor", "manyhands run first-plan.toml")
_NO_NETWORK = ("error sending request", "Failed to fetch", "dns error")


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed")
def test_four_commands_lead_to_a_landed_commit(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    uv = Path(str(shutil.which("uv"))).parent
    path = [
        str(tmp_path / "tools"),
        str(put_claude(tmp_path / "agents")),
        str(uv),
        "/usr/local/bin",
        "/usr/bin",
        "/bin",
    ]
    env = {name: value for name, value in os.environ.items() if name.startswith(("UV_", "PIP_", "SSL_", "LANG"))}
    env |= {
        "PATH": os.pathsep.join(path),
        "HOME": str(home),
        "ANTHROPIC_API_KEY": "stand-in",
        "UV_TOOL_DIR": str(tmp_path / "uv-tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "tools"),
    }
    (project / "Makefile").write_text("test:\n\ttest -e Makefile\n")
    for words in ("init -q", "add -A", "commit -q -m first"):
        git(project, *words.split())
    for command in COMMANDS:
        done = subprocess.run(
            command.format(root=ROOT).split(), cwd=project, env=env, capture_output=True, text=True, check=False
        )
        if any(sign in done.stderr for sign in _NO_NETWORK):
            pytest.skip("the packages that manyhands needs cannot be fetched")
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert git(project, "log", "--format=%s").splitlines() == ["first-change", "first"]
    assert (project / "NOTES.md").exists()


def git(directory: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@x", *words]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True).stdout
