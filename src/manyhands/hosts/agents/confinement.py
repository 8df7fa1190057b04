"""What an attempt of an agent may write, and what is hidden from it."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from manyhands.core.values.task import Task
from manyhands.hosts.agents.landlock import FileRights, landlock_version, make_confined
from manyhands.hosts.executors.process import MakeProcess
from manyhands.readers.plain_file import read_plain

Confine = Literal["workspace", "claims", "off"]
#: Below the home, of many programs; used where they are.
SHARED_PLACES = (".cache", ".npm", ".claude.json")
#: Devices that every program writes to.
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm", "/dev/fd")
_MARKER_BYTES_MAX = 4096  # a path
_GLOB = frozenset("*?[")


def rights_for(
    confine: Confine,
    task: Task,
    workspace: Path,
    own: Sequence[Path],
    env: Mapping[str, str],
    hide: Sequence[str],
) -> FileRights:
    """`workspace` is where the attempt works, `own` are the places that the attempt and its program have anyway."""
    places = [workspace, *_git_places(workspace)] if confine == "workspace" else claimed_places(task, workspace)
    return rights_in(places, own, env, hide)


def rights_in(places: Sequence[Path], own: Sequence[Path], env: Mapping[str, str], hide: Sequence[str]) -> FileRights:
    """`places` are where the work is done."""
    home = Path(env.get("HOME", "/"))
    own = [*own, *(home / place for place in SHARED_PLACES)]
    own += [Path(env[name]) for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CACHE_HOME") if env.get(name)]
    own += [Path(device) for device in _DEVICES]
    hidden = [_absolute(place, home) for place in hide]
    if not hidden:
        return FileRights((*places, *own))
    inside = tuple(path for path in (*places, *own) if not _is_below(path, hidden))
    return FileRights(inside, _all_but(hidden))


def shared_places(root: Path, workspace: Path) -> list[Path]:
    """Where the attempts that share a process may write: `root`, and what git writes for any worktree below it."""
    return [root, *(place.parent if place.parent.name == "worktrees" else place for place in _git_places(workspace))]


def make_own_places(names: Sequence[str], home: Path) -> list[Path]:
    """What a program keeps below its home, made if it is new: inside it could not make it itself."""
    places = [home / name for name in names]
    for place in places:
        with suppress(OSError):  # then the program says what it lacks
            place.mkdir(parents=True, exist_ok=True)
    return places


def confined(rights: FileRights) -> Callable[[MakeProcess], object] | None:
    """What makes a process with these rights; None: this kernel cannot, and somebody should be told."""
    if not landlock_version():
        return None
    return lambda make: make_confined(rights, make)


def claimed_places(task: Task, workspace: Path) -> list[Path]:
    """What the task says that it writes. Of a file that is not there yet its directory, of a glob where it begins."""
    found: list[Path] = []
    for pattern in (*task.claims.write, *task.claims.append) if task.claims is not None else ("**",):
        parts = Path(pattern).parts
        plain = next((n for n, part in enumerate(parts) if _GLOB & set(part)), len(parts))
        place = workspace.joinpath(*parts[:plain])
        while not place.exists() and place != workspace:
            place = place.parent
        if place.is_relative_to(workspace):
            found.append(place)
    return found


def is_in_git(workspace: Path) -> bool:
    return _git_marker(workspace) is not None


def _git_marker(workspace: Path) -> Path | None:
    return next((place / ".git" for place in (workspace, *workspace.parents) if (place / ".git").exists()), None)


def _git_places(workspace: Path) -> list[Path]:
    """Of a git worktree, what git writes outside of it: never hooks or config, which others run."""
    marker = _git_marker(workspace)
    try:
        if marker is None or not marker.is_file():
            return []
        said = read_plain(marker, _MARKER_BYTES_MAX).decode().partition("gitdir:")[2].strip()
    except (OSError, UnicodeDecodeError):
        return []
    own = Path(said)
    if not own.is_absolute() or own.parent.name != "worktrees":
        return []
    return [own, own.parents[1] / "objects"]


def _all_but(hidden: Sequence[Path]) -> tuple[Path, ...]:
    """Everything that is there except what is hidden: the neighbours of each on its way from the root."""
    on_the_way = {parent for path in hidden for parent in path.parents}
    found: list[Path] = []
    for parent in on_the_way:
        try:
            names = os.listdir(parent)
        except OSError:
            continue
        for name in names:
            path = parent / name
            # A link may lead back to what is hidden; where it leads otherwise has its own place here.
            if path not in on_the_way and path not in hidden and not path.is_symlink():
                found.append(path)
    return tuple(found)


def _absolute(place: str, home: Path) -> Path:
    path = home / place[2:] if place.startswith("~/") else Path(place)
    return Path(os.path.realpath(path))


def _is_below(path: Path, hidden: Sequence[Path]) -> bool:
    return any(path == one or one in path.parents for one in hidden)
