"""What an attempt left behind: files in the store, or its ending if there are none."""

from pathlib import Path
from typing import NamedTuple

from manyhands.core import families
from manyhands.core.book import Book
from manyhands.core.state import Record
from manyhands.core.values.ending import Ending
from manyhands.engine.run_opening import attempt_directory
from manyhands.errors import Conflict, UnknownTask
from manyhands.readers.plain_file import is_plain
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.store_view import find_task

#: A long answer or returned value is in one of these files; what the commands printed is in the last.
RESULTS = ("result.txt", "result.json")
OUTPUT = "output.log"


class AttemptOutput(NamedTuple):
    record: Record
    number: int
    results: list[Path]
    output: Path | None
    ending: Ending | None  # None: the attempt is still running


def left_by(view: BookView, id: str, run: str | None, attempt: int | None) -> AttemptOutput:
    """What that attempt at the task left behind, or the last attempt."""
    record = _who_did(view.book, find_task(view.book, id, run))
    number = attempt_number(record, attempt)
    place = Path(attempt_directory(view.directory, record.run, record.task.id, number))
    results = [file for name in RESULTS if is_plain(file := place / name)]
    output = place / OUTPUT
    tried = (record.history or [])[number - 1]
    return AttemptOutput(record, number, results, output if is_plain(output) else None, tried.ending)


def attempt_number(record: Record, attempt: int | None) -> int:
    """That attempt at the task, or the last."""
    id, tried = record.task.id, len(record.history or ())
    if not tried:
        raise Conflict(f"task `{id}` has not been tried yet", f"`manyhands task explain {id}` says why")
    number = attempt if attempt is not None else tried
    if not 1 <= number <= tried:
        raise UnknownTask(f"task `{id}` has no attempt {number}", f"it has had {tried}")
    return number


def output_path(directory: Path, run: str, task: str, number: int) -> Path:
    return Path(attempt_directory(directory, run, task, number)) / OUTPUT


def _who_did(book: Book, record: Record) -> Record:
    """A member of a family is done by a step of its latest round."""
    return families.applied(book.runs[record.run], record) or record
