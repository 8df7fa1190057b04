"""Compares what an attempt really changed with what it had claimed."""

from collections.abc import Sequence

from msgspec import Struct

from manyhands.core.claims import overlap
from manyhands.core.values.task import Task, claims_of
from manyhands.hosts.landing.git import Git

_GITLINK = "160000"


class Touched(Struct, frozen=True):
    paths: list[str]  # relative to the top of the repository
    undeclared: list[str]  # those that no write or append claim covers
    strays: list[str]  # git repositories that the attempt made inside the worktree


def touched_by(git: Git, base: str, tree: str, task: Task, prefix: str) -> Touched:
    paths: list[str] = []
    new_links: list[str] = []
    fields = iter(git.names("diff-tree", "-r", "-z", "--no-renames", "--end-of-options", base, tree, "--"))
    for entry, path in zip(fields, fields, strict=True):
        paths.append(path)
        if entry.split(" ")[:2] == [":000000", _GITLINK]:
            new_links.append(path)
    claims = claims_of(task)
    declared = (*claims.write, *claims.append)
    undeclared = [] if task.claims is None else [path for path in paths if not is_claimed(path, declared, prefix)]
    return Touched(paths, undeclared, _strays(git, tree, new_links))


def is_claimed(path: str, claims: Sequence[str], prefix: str) -> bool:
    """Whether a claim covers the path. Claims are relative to the workspace, `prefix` in the repository."""
    if prefix:
        if not path.startswith(f"{prefix}/"):
            return False
        path = path[len(prefix) + 1 :]
    return any(overlap(path, claim) for claim in claims)


def _strays(git: Git, tree: str, links: list[str]) -> list[str]:
    if not links:
        return []
    known = git.ask("config", "--blob", f"{tree}:.gitmodules", "--get-regexp", r"\.path$") or ""
    modules = {line.partition(" ")[2] for line in known.splitlines()}
    return [path for path in links if path not in modules]
