"""`note`, from inside an attempt: something that should be remembered, added to the file of its notes."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from manyhands.core.values.ending import NoteKind
from manyhands.errors import Conflict, UsageError
from manyhands.hosts.executors.report_files import UnusableReport, read_report
from manyhands.hosts.executors.said_notes import CHARACTERS_MAX, NOTES_MAX, NOTES_VARIABLE, notes_in
from manyhands.readers.plain_file import open_plain


class NoteKept(Struct):
    note: str
    told: str


def keep_note(environ: Mapping[str, str], kind: NoteKind, text: str) -> NoteKept:
    """It is read with the others when the attempt ends, however that is."""
    place = environ.get(NOTES_VARIABLE)
    if not place:
        raise Conflict(
            "only an attempt can note something, and this does not run inside one",
            f"a task writes a line such as `lesson: …` to the file in `${NOTES_VARIABLE}`",
        )
    words = " ".join(text.split())
    if not words:
        raise UsageError("the note is empty", "say what should be remembered")
    if len(words) > CHARACTERS_MAX:
        raise UsageError(
            f"the note has {len(words):,} characters, and at most {CHARACTERS_MAX:,} are kept",
            "write the rest to a file, and name the file in the note",
        )
    try:
        kept = read_report(Path(place)) or b""
        if len(notes_in(kept.decode(errors="replace"))) >= NOTES_MAX:
            raise Conflict(f"this attempt has {NOTES_MAX} notes, and no more are kept", "shorten what is in the file")
        with open(open_plain(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as file:
            # The line before it may have no end yet; an empty line says nothing.
            file.write(f"\n{kind}: {words}\n".encode(errors="replace"))
    except (UnusableReport, OSError) as error:
        raise Conflict(f"the file of notes cannot be used: {error}", f"look at {place}") from error
    return NoteKept(f"{kind}: {words}", "It is recorded when your attempt ends.")
