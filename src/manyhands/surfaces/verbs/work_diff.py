"""What an attempt did in its worktree: the diff, how large it is, and what its check printed."""

import re
import shlex
from pathlib import Path

import msgspec
from msgspec import Struct

from manyhands.core.state import Record
from manyhands.engine.run_opening import attempt_directory
from manyhands.errors import Conflict, UsageError
from manyhands.hosts.executors.output_text import tail_of
from manyhands.hosts.landing.change_size import ChangedFile, change_in_words, changed_lines
from manyhands.hosts.landing.git import Git, GitFailed
from manyhands.hosts.landing.landing_record import read_record
from manyhands.surfaces.verbs.attempt_output import output_path
from manyhands.surfaces.verbs.book_view import BookView

#: A longer diff is cut. Whoever wants to read more has git.
DIFF_BYTES_MAX = 1 << 20
OUTPUT_BYTES_MAX = 64 << 10
_COMMIT = re.compile("[0-9a-f]{40}([0-9a-f]{24})?")
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")


class WorkDiff(Struct):
    run: str
    task: str
    state: str
    attempt: int  # its number among the attempts at the task
    commit: str
    base: str  # the commit that it was made on
    files: list[ChangedFile]
    summary: str  # `2 files, +10 −3`
    diff: str  # unified, as git prints it
    is_cut: bool  # the diff is longer than this
    check: str  # the command; "": the task has none
    check_output: str


def work_diff(view: BookView, record: Record) -> WorkDiff:
    """The latest work of the task that there is. It runs git, so call it beside the loop."""
    number, commit = _latest_work(view.directory, record)
    git = Git(view.directory)
    base = _base_of(git, commit)
    files = changed_lines(git, base, commit)
    diff = git("diff", *_PLAIN, "--end-of-options", base, commit, "--")
    shown = diff if len(diff) <= DIFF_BYTES_MAX else diff[: diff.rfind(b"\n", 0, DIFF_BYTES_MAX) + 1]
    return WorkDiff(
        run=record.run,
        task=record.task.id,
        state=str(record.state),
        attempt=number,
        commit=commit,
        base=base,
        files=files,
        summary=change_in_words(files),
        diff=shown.decode(errors="replace"),
        is_cut=len(shown) < len(diff),
        check=shlex.join(record.task.check),
        check_output=_check_output(view.directory, record, number) if record.task.check else "",
    )


def _latest_work(directory: Path, record: Record) -> tuple[int, str]:
    """The attempt's number, and its commit: what waited for a person, what landed, or what a failed attempt left."""
    for number, tried in reversed([*enumerate(record.history or (), 1)]):
        asked = tried.ending.asks if tried.ending is not None else None
        commit = asked.commit if asked is not None else ""
        if commit := commit or _recorded_commit(directory, record, number):
            return number, commit
    raise Conflict(
        f"task `{record.task.id}` has no work in a worktree that was kept",
        f"`manyhands task show {record.task.id}` shows its attempts; what landed is in `git log`",
    )


def _recorded_commit(directory: Path, record: Record, number: int) -> str:
    """The commit that landed, or else that of the branch; "": none is recorded."""
    try:
        known = read_record(Path(attempt_directory(directory, record.run, record.task.id, number)))
    except (OSError, msgspec.MsgspecError):
        return ""  # it had no worktree
    commit = known.landed or known.commit
    return commit if _COMMIT.fullmatch(commit) else ""  # a task can write to this file


def _base_of(git: Git, commit: str) -> str:
    try:
        base = git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^")
    except (UsageError, GitFailed):
        base = None
    if base is None:
        raise Conflict(
            f"commit `{commit[:10]}` is not in the repository around `{git.directory}`",
            "its branch may have been deleted; `manyhands task send-back` has the work done again",
        )
    return base


def _check_output(directory: Path, record: Record, number: int) -> str:
    """What the check printed: all that follows the line with its command, which we wrote."""
    lines = tail_of(output_path(directory, record.run, record.task.id, number), bytes_max=OUTPUT_BYTES_MAX).splitlines()
    command = f"$ {shlex.join(record.task.check)}"
    # Fields such as `{id}` are filled in, so the line need not be the same.
    starts = [n for n, line in enumerate(lines) if line == command] or [
        n for n, line in enumerate(lines) if line.startswith("$ ")
    ]
    return "\n".join(lines[starts[-1] + 1 :]) if starts else ""
