"""The worktree of one attempt: where it is, how it is made, and how it is removed."""

import contextlib
import hashlib
import os
import re
import shutil
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from manyhands.errors import UsageError
from manyhands.hosts.landing.commits import is_on_target
from manyhands.hosts.landing.git import Git, GitFailed
from manyhands.hosts.landing.repository import BRANCHES, Repository

#: A directory below the store's directory.
WORKTREES = "worktrees"
_UNSAFE = re.compile(r"[^A-Za-z0-9._+=,-]|^[.-]|\.(?=\.)|\.$|(?<=@)\{")
_NAME_MAX = 120


class Worktree(Struct, frozen=True):
    repository: Repository
    path: Path
    branch: str
    base: str  # the commit of the target that it started from
    start: str = ""  # work on that commit which is there already; "": none

    @property
    def git(self) -> Git:
        return self.repository.git.at(self.path).below(self.path.parent)

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"

    @property
    def workspace(self) -> Path:
        """The directory in the worktree that corresponds to the project's workspace."""
        return self.path / self.repository.prefix

    def make(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = ("--quiet", "--no-checkout", "--no-track", "-b", self.branch)
        with self.repository.alone() as git:
            # From a commit, not a branch: then git does not write to the repository's config, which has one lock.
            git("worktree", "add", *new, "--", str(self.path), self.start or self.base)
        self.git("reset", "--quiet", "--hard")
        if self.start:
            self.git("reset", "--quiet", "--soft", self.base)  # so that it looks as the earlier attempt left it

    def remove(self, *, keep_branch: bool) -> None:
        """Remove the worktree. A second call does nothing. The next start tries again what cannot be deleted now."""
        remove_worktree(self.repository, self.path)
        if not keep_branch:
            self.repository.git("update-ref", "-d", self.ref)


def worktree_for(repository: Repository, store: Path, run: str, task: str, number: int) -> Worktree:
    """A worktree with a free name: a branch from a deleted store may have the same name."""
    name = first = f"{safe_name(run)}/{safe_name(f'{task}.{number}')}"
    again = 1
    while repository.git.ask("show-ref", "--verify", f"refs/heads/{BRANCHES}/{name}") is not None:
        again += 1
        name = f"{first}-{again}"
    return Worktree(repository, store.absolute() / WORKTREES / name, f"{BRANCHES}/{name}", repository.tip())


def continued(fresh: Worktree, commit: str) -> Worktree:
    """The same worktree with the work of that commit, which is a child of its base."""
    base = fresh.repository.git.line("rev-parse", "--verify", "--end-of-options", f"{commit}^")
    return replace(fresh, base=base, start=commit)


def place_of(worktree: Worktree, store: Path) -> str:
    return str(worktree.path.relative_to(store.absolute() / WORKTREES))


def at_place(worktree: Worktree, store: Path, place: str) -> Worktree:
    """The worktree where an earlier one was: some agents resume only in the directory where they began."""
    root = store.absolute() / WORKTREES
    path = Path(os.path.normpath(root / place))
    is_free = path.parent.parent == root and not path.exists()
    return replace(worktree, path=path) if is_free else worktree


def safe_name(name: str) -> str:
    """A name that suits a branch and a directory. Different names stay different."""
    safe = _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in os.fsencode(match[0])), name)
    if safe.endswith(".lock"):
        safe = safe.removesuffix(".lock") + "%2Elock"
    if len(safe) > _NAME_MAX:
        digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
        safe = f"{safe[: _NAME_MAX - 17].rstrip('.%')}-{digest}"
    return safe


def remove_worktree(repository: Repository, path: Path) -> None:
    _delete(path)  # not with git, which gives up at the first directory that is not writable
    with repository.alone() as git:
        try:
            # Forced twice, to remove even one that was locked while it was made. `prune` would affect others too.
            git("worktree", "remove", "--force", "--force", "--", str(path))
        except GitFailed as error:
            if "is not a working tree" not in error.stderr:
                git("worktree", "prune")  # git was killed while it made this worktree
    if path.exists():
        raise UsageError(f"worktree `{path}` cannot be deleted", "delete it by hand, then run `git worktree prune`")


def _delete(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
        return
    shutil.rmtree(path, ignore_errors=True)
    if not path.exists():
        return
    for directory, names, _ in os.walk(path):
        for name in names:
            below = os.path.join(directory, name)
            if not os.path.islink(below):
                with contextlib.suppress(OSError):
                    os.chmod(below, 0o700)
    shutil.rmtree(path, ignore_errors=True)


def clear_leftovers(repository: Repository, store: Path) -> list[str]:
    """Remove what attempts of dead dispatchers left; return the branches that are kept because they have work."""
    root = store.absolute() / WORKTREES
    kept: list[str] = []
    # After a kill, a worktree may be known only to git, or exist only in the file system.
    known = {path: ref.removeprefix("refs/heads/") for path, ref in repository.worktrees() if root in path.parents}
    for path in sorted({*root.glob("*/*"), *known}):
        branch = known.get(path) or f"{BRANCHES}/{path.parent.name}/{path.name}"
        remove_worktree(repository, path)
        tip = repository.git.ask("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}")
        if tip is None:
            continue
        if is_on_target(repository, tip):
            repository.git("update-ref", "-d", f"refs/heads/{branch}")
        else:
            kept.append(branch)
    for directory in root.glob("*"):
        with contextlib.suppress(OSError):
            directory.rmdir()
    return kept
