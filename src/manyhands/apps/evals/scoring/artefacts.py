"""Scores that only need to read: files in the workspace, and the output of the last session."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from manyhands.apps.evals.spec.eval_types import SCORE_GROUP, Case, Scorer
from manyhands.apps.evals.spec.json_path import NotThere, find
from manyhands.readers.plain_file import open_plain

#: The rest of a longer file is not read.
TEXT_BYTES_MAX = 10_000_000


class TrialScore(NamedTuple):
    value: float | None
    error: str = ""  # why there is no value; "" if the scorer does not apply


class Artefacts(NamedTuple):
    """What a trial left behind."""

    workspace: Path
    output: str  # of its last session
    case: Case
    done: bool  # every session ended well


class NoScore(Exception):
    """The scorer cannot give a score, and why."""


LOOKS = ("done", "file", "contains", "regex", "json")


def look(scorer: Scorer, left: Artefacts) -> TrialScore:
    """The score of a scorer whose type is one of `LOOKS`."""
    try:
        match scorer.type:
            case "done":
                return TrialScore(float(left.done))
            case "file":
                return TrialScore(float((left.workspace / scorer.file).exists()))
            case "contains":
                wanted = scorer.text or str(left.case.expect)
                return TrialScore(float(wanted in text_for(scorer, left)))
            case "regex":
                return TrialScore(_matched(scorer.pattern, text_for(scorer, left)))
            case "json":
                return TrialScore(_found(scorer, left))
            case _:
                raise AssertionError(scorer.type)
    except NoScore as error:
        return TrialScore(None, str(error))
    except OSError as error:
        return TrialScore(None, f"{scorer.file or 'the output'} cannot be read: {error.strerror or error}")


def text_for(scorer: Scorer, left: Artefacts) -> str:
    """A missing file counts as empty: the arm did not write it."""
    if not scorer.file:
        return left.output
    file = left.workspace / scorer.file
    return read_text(file) if file.is_file() else ""


def read_text(file: Path) -> str:
    with open(open_plain(file, through_links=True), "rb") as stream:
        return stream.read(TEXT_BYTES_MAX).decode(errors="replace")


def _matched(pattern: str, text: str) -> float:
    found = re.search(pattern, text, re.MULTILINE)
    if SCORE_GROUP not in re.compile(pattern).groupindex:
        return float(found is not None)
    if found is None:
        return 0.0
    try:
        return float(found[SCORE_GROUP])
    except (TypeError, ValueError):
        raise NoScore(f"`{found[SCORE_GROUP]}` is not a number") from None


def _found(scorer: Scorer, left: Artefacts) -> float:
    """A missing document or value is caused by the arm and scores 0. A value of the wrong kind gives no score."""
    expected = scorer.equals if scorer.equals is not None else left.case.expect
    try:
        value: Any = find(json.loads(text_for(scorer, left)), scorer.path)
    except (ValueError, NotThere, RecursionError):
        return 0.0
    if expected is not None:
        return float(value == expected)
    if isinstance(value, bool | int | float):
        return float(value)
    raise NoScore(
        f"`{scorer.path}` holds {str(value)[:60]!r}, which is not a number; set `equals` to compare it with a value"
    )
