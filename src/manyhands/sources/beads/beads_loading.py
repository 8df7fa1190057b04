"""Loads the current state of a backlog from its file or database, and chooses the writer for it."""

from pathlib import Path

from manyhands.sources.beads.bd import BdCommand, BdError
from manyhands.sources.beads.beads_finding import BeadsPlace, Mode
from manyhands.sources.beads.beads_reading import Beads, parse
from manyhands.sources.beads.beads_writing import BeadsFile
from manyhands.sources.beads.issue_changes import BacklogWriter
from manyhands.sources.beads.locking import LOCK_NAME, shared
from manyhands.sources.beads.replacing import take


def load(place: BeadsPlace, program: str = "bd") -> Beads:
    """Load from the database if it keeps the issues and `bd` is installed, otherwise from the file."""
    if place.mode is Mode.BD:
        bd = BdCommand(place, program)
        if place.file is None or bd.is_installed():
            return bd.read()
    if place.file is None:
        raise BdError(f"`{place.directory}` has no file to read")
    return load_file(place, place.file)


def load_file(place: BeadsPlace, file: Path) -> Beads:
    with shared(place.directory / LOCK_NAME):
        raw = take(file).raw
    return parse(raw, str(file), place.statuses)


def writer_for(place: BeadsPlace, program: str = "bd") -> BacklogWriter:
    return BeadsFile(place) if place.mode is Mode.FILE else BdCommand(place, program)
