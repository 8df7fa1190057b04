"""The package as people get it: wheel and sdist are built, complete, and work where nothing else is installed."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from manyhands import __version__
from manyhands.install_hints import Installation, find_installation

ROOT = Path(__file__).parents[2]
_NO_NETWORK = ("error sending request", "Failed to fetch", "dns error")


@pytest.mark.slow
def test_wheel_and_sdist_are_built_and_work_in_a_clean_environment(tmp_path: Path) -> None:
    uv(tmp_path, "build", "--quiet", "--out-dir", "dist", str(ROOT))  # the wheel is built from the sdist
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (sdist,) = (tmp_path / "dist").glob("*.tar.gz")
    assert f"-{__version__}-" in wheel.name
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        told = opened.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    parts = ("py.typed", "apps/demo/stand_in_agent.py", "surfaces/page/index.html")
    assert {f"manyhands/{part}" for part in parts} <= names
    assert not [name for name in names if name.startswith("tests/")]
    check_readme(told)
    with tarfile.open(sdist) as opened_sdist:
        packed = {name.partition("/")[2] for name in opened_sdist.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "docs/plans.md", "tests/helpers.py"} <= packed

    uv(tmp_path, "venv", "--quiet", "--python", sys.executable, "clean")
    uv(tmp_path, "pip", "install", "--quiet", "--python", "clean/bin/python", str(wheel))
    done = run(tmp_path, "clean/bin/manyhands", "--version")
    assert done.stdout.startswith(f"manyhands {__version__}\nextras: none\n")
    mix = run(tmp_path, "clean/bin/manyhands", "demo", "--mix", "--scale", "0.001", "--output", "json")
    assert '"peaks"' in mix.stdout


def check_readme(told: str) -> None:
    """On PyPI a relative link leads nowhere."""
    links = re.findall(r"\]\(([^)\s]+)\)", told.partition("\n\n")[2])
    assert len(links) > 10
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert "Project-URL: Homepage, https://" in told


def uv(directory: Path, *words: str) -> None:
    done = run(directory, str(Path(sys.executable).parent / "uv"), *words, check=False)
    if any(sign in done.stderr for sign in _NO_NETWORK):
        pytest.skip("what the package needs cannot be fetched")
    assert done.returncode == 0, done.stderr


def run(directory: Path, *command: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, check=check)


@pytest.mark.parametrize(
    ("file", "hint"),
    [
        ("uv-receipt.toml", "uv tool install {source}"),
        ("pipx_metadata.json", "pipx install --force {source}"),
        ("pyvenv.cfg", "pip install {source}"),
    ],
)
def test_a_hint_fits_how_manyhands_was_installed(tmp_path: Path, file: str, hint: str) -> None:
    (tmp_path / file).touch()
    tool = find_installation(tmp_path).tool
    assert Installation(tool).command("ray") == hint.format(source="'manyhands[ray]'")
    checkout = Installation(tool, "/home/me/many hands", is_editable=True).command("ray")
    assert checkout.endswith(" install --force" * (tool == "pipx") + " --editable '/home/me/many hands[ray]'")


def test_the_container_file_copies_what_is_there() -> None:
    text = (ROOT / "Containerfile").read_text()
    copied = [word for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE) for word in line.split()]
    assert len(copied) >= 4
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_the_lock_has_what_users_install_as_it_was_tested_and_with_hashes() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)[^\n]*\\\n    --hash=sha256:[0-9a-f]{64}", lock, re.MULTILINE))
    assert len(locked) == len(re.findall(r"^\w", lock, re.MULTILINE)) >= 30  # every package has a hash
    tested = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    assert {name: version for name, version in locked.items() if tested.get(name, version) != version} == {}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [re.split(r"[\[<>=;~! ]", each)[0].lower() for each in project["dependencies"]]
    assert [name for name in wanted if name not in locked] == [], "run `make lock`"
