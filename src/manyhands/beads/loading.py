"""A backlog as it stands now, from whoever keeps it, and the writer that fits it."""

from pathlib import Path

from manyhands.beads.bd import BdCommand, BdError
from manyhands.beads.changes import BacklogWriter
from manyhands.beads.finding import Mode, Place
from manyhands.beads.locking import LOCK_NAME, shared
from manyhands.beads.reading import Beads, parse
from manyhands.beads.replacing import take
from manyhands.beads.writing import BeadsFile


def load(place: Place, program: str = "bd") -> Beads:
    """From the database if one keeps the issues and `bd` is there to ask, else from the file."""
    if place.mode is Mode.BD:
        bd = BdCommand(place, program)
        if place.file is None or bd.is_installed():
            return bd.read()
    if place.file is None:
        raise BdError(f"`{place.directory}` has no file to read")
    return load_file(place, place.file)


def load_file(place: Place, file: Path) -> Beads:
    with shared(place.directory / LOCK_NAME):
        raw = take(file).raw
    return parse(raw, str(file), place.statuses)


def writer_for(place: Place, program: str = "bd") -> BacklogWriter:
    return BeadsFile(place) if place.mode is Mode.FILE else BdCommand(place, program)
