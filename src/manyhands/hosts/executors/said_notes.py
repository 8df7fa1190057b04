"""What a task wants remembered: decisions, open questions, lessons and a handoff, written line by line to a file."""

from pathlib import Path

from msgspec.structs import replace

from manyhands.core.values.ending import Ending, Note, NoteKind
from manyhands.hosts.executors.report_files import UnusableReport, note_unusable, read_report

NOTES_FILE, NOTES_VARIABLE = "notes.txt", "MANYHANDS_NOTES_FILE"
#: A note is for people who were not there. Whoever needs more space writes a file and names it.
NOTES_MAX = 50
CHARACTERS_MAX = 1_000
_KINDS = {str(kind): kind for kind in NoteKind}


def with_notes(ending: Ending, directory: Path, log: Path) -> Ending:
    """The same ending with what the attempt noted, however it ended."""
    try:
        content = read_report(directory / NOTES_FILE)
    except UnusableReport as error:
        note_unusable(log, NOTES_FILE, error)
        return ending
    return ending if content is None else replace(ending, notes=tuple(notes_in(content.decode(errors="replace"))))


def notes_in(text: str) -> list[Note]:
    """Each note begins with a line like `decision: …`. Lines after it that begin with no such word belong to it."""
    found: list[tuple[NoteKind, list[str]]] = []
    for line in text.splitlines():
        word, colon, rest = line.partition(":")
        kind = _KINDS.get(word.strip().lower()) if colon else None
        if kind is not None:
            found.append((kind, [rest]))
        elif found:
            found[-1][1].append(line)
    notes = [Note(kind, " ".join(" ".join(lines).split())[:CHARACTERS_MAX]) for kind, lines in found[:NOTES_MAX]]
    return [note for note in notes if note.text]
