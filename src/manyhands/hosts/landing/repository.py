"""Which repository the workspace is in, which branch work lands on, and where that branch is checked out."""

import fcntl
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from manyhands.core.values.task import WORKTREE, Task
from manyhands.errors import Conflict, UsageError
from manyhands.hosts.landing.git import Git
from manyhands.sources.config.landing_config import LandingConfig

#: The first version in which `git merge-tree --write-tree` merges without a working tree.
GIT_MIN = (2, 38)
#: A file in the directory that all worktrees share.
WORKTREES_LOCK = "manyhands-worktrees.lock"
#: The prefix of the branches of attempts.
BRANCHES = "manyhands"
_NAMED_MAX = 5


class Repository(Struct, frozen=True):
    git: Git  # outside of any working tree of a person
    common: Path  # the directory that all worktrees share
    prefix: str  # the path of the workspace in the repository; "": its top
    target: str  # the branch that work lands on

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.target}"

    def tip(self) -> str:
        """The current commit of the target. Raises if a person has deleted the branch meanwhile."""
        tip = self.git.ask("rev-parse", "--verify", "--quiet", f"{self.ref}^{{commit}}")
        if tip is None:
            raise Conflict(f"branch `{self.target}` no longer exists", "create it again, or name another target")
        return tip

    @contextmanager
    def alone(self) -> Iterator[Git]:
        """Exclusive use of the list of worktrees: git makes worktrees in steps and fails on half-made ones."""
        descriptor = os.open(self.common / WORKTREES_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield self.git.holding(descriptor)
        finally:
            os.close(descriptor)

    def checked_out_at(self) -> Path | None:
        """The working tree that has the target checked out, if there is one."""
        for place, ref in self.worktrees():
            if ref == self.ref and place.is_dir():
                return place
        return None

    def worktrees(self) -> list[tuple[Path, str]]:
        """All worktrees, whoever made them, and the branch that each has checked out; "" for none."""
        with self.alone() as git:
            told = git("worktree", "list", "--porcelain", "-z")
        found = []
        for entry in told.split(b"\0\0"):
            fields = dict(line.partition(b" ")[::2] for line in entry.split(b"\0"))
            if b"worktree" in fields:
                found.append((Path(os.fsdecode(fields[b"worktree"])), os.fsdecode(fields.get(b"branch", b""))))
        return found


def find_repository(workspace: Path, landing: LandingConfig, held: tuple[int, ...] = ()) -> Repository:
    """Raises a `UsageError` that says what is missing for work to land here."""
    git = Git(workspace, held)
    _check_version(git)
    common = git.ask("rev-parse", "--path-format=absolute", "--git-common-dir")
    if common is None:
        raise UsageError(
            f"`{workspace}` is not in a usable git repository, but tasks there ask for worktrees",
            'run `git status` to see why, or leave out `workspace = "worktree"`',
        )
    is_bare = git.line("rev-parse", "--is-bare-repository") == "true"
    if not is_bare and git.line("rev-parse", "--is-inside-work-tree") != "true":
        raise UsageError(f"`{workspace}` is inside a .git directory", "run manyhands in the project itself")
    prefix = "" if is_bare else git.line("rev-parse", "--show-prefix").rstrip("/")
    target = _target(git, landing.target)
    if git.ask("show-ref", "--verify", f"refs/heads/{BRANCHES}") is not None:
        raise UsageError(
            f"a branch is called `{BRANCHES}`, so git cannot make branches below that name", "rename that branch"
        )
    return Repository(git.at(Path(common)).as_someone(), Path(common), prefix, target)


def _check_version(git: Git) -> None:
    said = git.ask("version") or ""
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is not None and (int(found[1]), int(found[2])) < GIT_MIN:
        raise UsageError(f"{said} is too old for worktrees to land", "install git 2.38 or newer")


def _target(git: Git, wanted: str) -> str:
    if wanted:
        if git.ask("check-ref-format", f"refs/heads/{wanted}") is None:
            raise UsageError(f"`landing.target` {wanted!r} is not a branch name", 'write it like target = "main"')
        if git.ask("rev-parse", "--verify", "--quiet", f"refs/heads/{wanted}^{{commit}}") is None:
            raise UsageError(f"there is no branch `{wanted}` to land on", f"create it with `git branch {wanted}`")
        return wanted
    ref = git.ask("symbolic-ref", "--quiet", "HEAD")
    if ref is None or not ref.startswith("refs/heads/"):
        raise UsageError(
            "HEAD is detached, so there is no branch to land on",
            'check out a branch, or name one: `[landing]` with `target = "main"`',
        )
    branch = ref.removeprefix("refs/heads/")
    if git.ask("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}") is None:
        raise UsageError(f"branch `{branch}` has no commit yet", "make a first commit")
    return branch


def check_before(workspace: Path, landing: LandingConfig, tasks: Iterable[Task]) -> None:
    """Before anything runs, refuse work that could not land, or would land over uncommitted changes of a person."""
    if not any(task.workspace == WORKTREE for task in tasks):
        return
    repository = find_repository(workspace, landing)
    if landing.pull_request:
        from manyhands.hosts.landing.pull_requests import check_pull_requests

        check_pull_requests(repository.git, os.environ)
        return
    check_clean(repository, landing)


def check_clean(repository: Repository, landing: LandingConfig) -> None:
    """Refuse to land over uncommitted changes of a person."""
    place = repository.checked_out_at()
    if place is None or landing.dirty == "stash" or landing.pull_request:
        return
    changed = changed_files(repository.git.at(place))
    if changed:
        raise Conflict(
            f"`{place}` has uncommitted changes, and work would land there: {listed(changed)}",
            'commit or stash them, or set `dirty = "stash"` under `[landing]`',
        )


def changed_files(git: Git) -> list[str]:
    """Tracked files that differ from the last commit. Other files are never overwritten, so they do not matter."""
    return git.names("diff", "--no-ext-diff", "--ignore-submodules=dirty", "--name-only", "-z", "HEAD", "--")


def listed(paths: list[str]) -> str:
    """A few names, and the number of the others."""
    from manyhands.hosts.executors.output_text import one_line

    more = f" and {len(paths) - _NAMED_MAX} more" if len(paths) > _NAMED_MAX else ""
    return one_line(", ".join(paths[:_NAMED_MAX]) + more)
