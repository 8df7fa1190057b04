"""Plans in JSON: a row a line, or one list of rows. Read as a stream, a row at a time."""

import json
import re
from functools import partial
from typing import Any, BinaryIO

import msgspec

from manyhands.readers.problems import Problem, Sheet, sheet_of_row
from manyhands.readers.shape import known
from manyhands.readers.text import BOM, decoded, not_utf8
from manyhands.sources.plans.gathering import Gathering
from manyhands.sources.plans.quick_rows import quick_task

#: A line is parsed as a whole, so its length is bounded. The number of lines is not.
LINE_BYTES_MAX = (64 << 20) + 1
_decode_any = msgspec.json.Decoder().decode
_MALFORMED = re.compile(r"(?:JSON is malformed: )?(.*?)(?: \(byte (\d+)\))?")
_ID = re.compile(r'"id"\s*:\s*"([^"\\]{1,200})"')


def read_jsonl(file: str, stream: BinaryIO, gathering: Gathering) -> None:
    is_first = True
    for number, line in enumerate(iter(partial(stream.readline, LINE_BYTES_MAX), b""), 1):
        if len(line) == LINE_BYTES_MAX:
            message = f"the line has more than {LINE_BYTES_MAX - 1:,} bytes"
            gathering.problems.add(Problem(file=file, line=number, message=message, hint="a task is one line"))
            return
        if number == 1:
            line = line.removeprefix(BOM)
        task = quick_task(line)
        if task is not None:
            gathering.add(task, number)
        elif not line.strip():
            continue
        else:
            _take_row(line, is_first, sheet_of_row(file, number, gathering.problems), gathering)
        is_first = False


def _take_row(line: bytes, is_first: bool, sheet: Sheet, gathering: Gathering) -> None:
    row = _parse(line, sheet, gathering)
    if row is None:
        return
    if isinstance(row, dict) and row.keys() == {"plan"}:
        if is_first:
            gathering.take_settings(row["plan"], sheet)
        else:
            sheet.tell(("plan",), "the plan's settings must be the first row", "move this row to the top")
    else:
        gathering.take(row, sheet)


def _parse(line: bytes, sheet: Sheet, gathering: Gathering) -> Any:
    """The row as plain values; None if the sheet has been told why there are none."""
    number = sheet.line_of(())
    try:
        row = _decode_any(line)
        repeated = _repeated_keys(line)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        gathering.problems.add(syntax_problem(sheet.file, number, line, error))
        if salvaged := _ID.search(line.decode(errors="replace")):
            gathering.claim_id(salvaged[1], number)
        return None
    for key in repeated:
        sheet.tell((key,), f"`{key}` is given twice in one table", "keep one of the two")
    if row is None:
        sheet.tell((), "a task must be a table, got nothing")
    return None if repeated else row


def _repeated_keys(line: bytes) -> list[str]:
    repeated: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            repeated.extend(key for place, key in enumerate(keys) if key in keys[:place])

    json.loads(line, object_pairs_hook=note)
    return list(dict.fromkeys(repeated))


def syntax_problem(file: str, line: int, text: bytes, error: Exception) -> Problem:
    if isinstance(error, UnicodeDecodeError):
        return not_utf8(file, line, error.object[error.start : error.start + 1], text[:2])
    if isinstance(error, RecursionError):
        return Problem(file=file, line=line, message="is nested too deeply")
    if b"\0" in text:
        return Problem(file=file, line=line, message="has a NUL byte", hint="take it out; is this a text file?")
    found = _MALFORMED.fullmatch(str(error))
    reason, place = (found[1], found[2]) if found else (str(error), None)
    column = f" at column {int(place) + 1}" if place else ""
    return Problem(
        file=file,
        line=line,
        message=f"is not valid JSON: {reason}{column}",
        hint="one JSON object a line, strings in double quotes, no comma at the end",
    )


class _Document(msgspec.Struct):
    task: list[msgspec.Raw] = []
    plan: msgspec.Raw = msgspec.Raw()


def read_json(file: str, raw: bytes, gathering: Gathering) -> None:
    """One list of rows, or an object that has it under `task`."""
    whole = sheet_of_row(file, 1, gathering.problems)
    raw = raw.removeprefix(BOM)
    if decoded(raw, file, gathering.problems) is None:
        return
    try:
        document = msgspec.json.decode(raw, type=list[msgspec.Raw] | _Document)
    except msgspec.ValidationError:
        whole.tell((), "must be a list of tasks, or a table that has it as `task`")
        return
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        place = re.search(r"\(byte (\d+)\)", str(error))
        line = raw.count(b"\n", 0, int(place[1])) + 1 if place else 1
        gathering.problems.add(syntax_problem(file, line, raw, error))
        return
    if isinstance(document, list):
        rows = document
    else:
        rows = document.task
        for key in msgspec.json.decode(raw, type=dict[str, msgspec.Raw]):
            known(key, ["task", "plan"], (), whole)
        if bytes(document.plan):
            gathering.take_settings(_decode_any(document.plan), whole)
    _take_rows(file, raw, rows, gathering)


def _take_rows(file: str, raw: bytes, rows: list[msgspec.Raw], gathering: Gathering) -> None:
    at, line = 0, 1
    for row in rows:
        text = bytes(row)
        start = raw.find(text, at)
        line += raw.count(b"\n", at, start)
        sheet = sheet_of_row(file, line, gathering.problems)
        task = quick_task(text)
        if task is not None:
            gathering.add(task, line)
        else:
            _take_row(text, False, sheet, gathering)
        line += text.count(b"\n")
        at = start + len(text)
