"""Which files changed together, from git. Without git, a repository or history, the answer is empty and says why."""

import subprocess
from pathlib import Path
from typing import NamedTuple

from manyhands.sources.split.tie_weights import COMMIT_FILES_MAX

#: Older history says little about the structure of the code today, and costs time.
COMMITS_MAX = 12_000
_TIMEOUT_S = 120.0


class History(NamedTuple):
    commits: list[list[str]]
    missing: str = ""  # why there are no commits


def read_history(root: Path) -> History:
    """Commits of 2 to 25 files, newest first, with paths relative to `root`."""
    command = ["git", "-C", str(root), "log", f"--max-count={COMMITS_MAX}", "--no-merges", "--no-renames"]
    command += ["--name-only", "--relative", "-z", "--format=%x01", "--", "."]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        return History([], "git is not installed")
    except subprocess.TimeoutExpired:
        return History([], f"git log took over {_TIMEOUT_S:.0f} s")
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return History([], said[-1] if said else f"git log ended with {done.returncode}")
    commits = [
        [name for name in entry.decode(errors="replace").strip("\n\0").split("\0") if name]
        for entry in done.stdout.split(b"\x01")
    ]
    return History([[name.strip("\n") for name in names] for names in commits if 2 <= len(names) <= COMMIT_FILES_MAX])
