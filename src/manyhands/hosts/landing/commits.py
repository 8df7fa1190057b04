"""Commits that land: one for each task. A trailer names the task, and the commit is found again by it."""

import os
import re
from pathlib import Path

from manyhands.core.commands import StartAttempt
from manyhands.core.values.task import Task
from manyhands.hosts.executors.output_text import one_line
from manyhands.hosts.landing.git import Git
from manyhands.hosts.landing.repository import Repository

TRAILER = "Manyhands-Task"
_ATTEMPT = "Manyhands-Attempt"
_SUBJECTS_MAX = 20
_SUBJECT_CHARACTERS_MAX = 72
#: The ids of split parts, and of tasks that a program submitted without an id.
_MADE_ID = re.compile(r"s?[0-9a-f]{12,}")
#: What tools leave behind. If `.gitignore` does not name it, any two attempts would conflict in it.
_NOBODYS_WORK = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "node_modules"}


def name_of(order: StartAttempt) -> str:
    """The value of the trailer."""
    return one_line(f"{order.run}/{order.task.id}")


def message_of(order: StartAttempt, subjects: list[str]) -> str:
    """The commit message. `subjects` are those of the attempt's own commits, which become part of this one."""
    lines = [_subject(order.task), ""]
    if subjects:
        lines += [*(f"* {_plain(subject)}" for subject in subjects[:_SUBJECTS_MAX]), ""]
    return "\n".join([*lines, f"{TRAILER}: {name_of(order)}", f"{_ATTEMPT}: {order.number}", ""])


def _subject(task: Task) -> str:
    """The task and its title, or the beginning of its prompt. An id that a program made says nothing to people."""
    title = _plain(task.title) or next((_plain(line) for line in task.prompt.splitlines() if _plain(line)), "")
    id = _plain(task.id)
    subject = title if title and _MADE_ID.fullmatch(id) else f"{id}: {title}" if title else id
    return subject if len(subject) <= _SUBJECT_CHARACTERS_MAX else subject[: _SUBJECT_CHARACTERS_MAX - 1] + "…"


def _plain(text: str) -> str:
    """On one line, without what a terminal would obey."""
    return "".join(letter for letter in one_line(text) if letter.isprintable())


def commit(git: Git, tree: str, parent: str, message: str) -> str:
    given = message.encode(errors="replace")
    return git.line("commit-tree", "--no-gpg-sign", "-p", parent, "-F", "-", tree, given=given)


def tree_of(git: Git, commit: str) -> str:
    return git.line("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}")


def snapshot(git: Git, base: str) -> tuple[str, list[str]]:
    """The current working tree without new caches, and the subjects of the commits made in it since `base`."""
    # The process that held the lock is dead: an attempt's processes have ended before we look at its work.
    Path(git.line("rev-parse", "--path-format=absolute", "--git-path", "index.lock")).unlink(missing_ok=True)
    git("add", "--all", "--", ".")
    new = git.names("diff", "--cached", "--name-only", "--no-renames", "--diff-filter=A", "-z", base, "--")
    if caches := [name for name in new if not _NOBODYS_WORK.isdisjoint(name.split("/")[:-1])]:
        git(
            "update-index", "--force-remove", "-z", "--stdin", given=b"".join(os.fsencode(f"{one}\0") for one in caches)
        )
    subjects = git.line(
        "log", "--reverse", "--no-merges", "--format=%s", f"--max-count={_SUBJECTS_MAX}", f"{base}..HEAD"
    )
    return git.line("write-tree"), [line for line in subjects.splitlines() if line.strip()]


def find_landed(repository: Repository, since: str, name: str) -> str | None:
    """The commit of this task on the target that is newer than `since`, if there is one."""
    log = repository.git.ask(
        "log",
        f"--format=%H%x00%(trailers:key={TRAILER},valueonly,unfold,separator=%x1f)%x01",
        "--end-of-options",
        f"{since}..{repository.ref}",
        "--",
    )
    for entry in (log or "").split("\x01"):
        found, _, names = entry.strip("\n").partition("\0")
        if name in names.split("\x1f"):
            return found
    return None


def is_on_target(repository: Repository, commit: str) -> bool:
    """Whether this commit, or the one it became when it landed, is on the target."""
    git = repository.git
    if git.ask("merge-base", "--is-ancestor", commit, repository.ref) is not None:
        return True
    name = git.ask("log", "-1", f"--format=%(trailers:key={TRAILER},valueonly,unfold,separator=%x1f)", commit, "--")
    return bool(name) and find_landed(repository, f"{commit}^", name or "") is not None
