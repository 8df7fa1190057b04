"""Homes for attempts that must not share one: several first starts in one home collide on a program's database.

A home is used by one attempt at a time and kept for the next. It begins with the settings of the program, and with
links to everything else that the person's home has, so that tools find their own settings.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from manyhands.readers.plain_file import read_plain, write_plain

#: Databases and their journals: what a program writes for itself, and where copies in one home collide.
_STATE_SUFFIXES = (".db", ".sqlite", ".sqlite3", "-wal", "-shm", "-journal", ".lock", ".log")
#: Directories that people fill and programs only read; what else a program keeps may be gigabytes.
_SETTING_DIRECTORIES = frozenset(
    ("agent", "command", "extension", "hook", "mode", "output-style", "plugin", "prompt", "rule", "skill", "theme")
)  # or with an s
_SETTING_BYTES_MAX = 1_000_000


class OwnHomes:
    def __init__(self, root: Path, own: Sequence[str]) -> None:
        """`own` is what the program keeps below its home."""
        self._root = root
        self._own = [Path(place) for place in own]
        self._taken: set[Path] = set()

    def take(self, person: Path, wanted: str = "") -> Path:
        """A free home: the one that is wanted, or the first. `person` is whose settings it has. Raises OSError."""
        if wanted and self.is_free(wanted):
            home = Path(wanted)
        else:
            number = 1
            while (home := self._root / str(number)) in self._taken:
                number += 1
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._furnish(person, home, Path())
        self._taken.add(home)
        return home

    def give_back(self, home: Path) -> None:
        self._taken.discard(home)

    def is_free(self, home: str) -> bool:
        """It is one of these, and nobody has it."""
        path = Path(home)
        return path.parent == self._root and path.is_dir() and path not in self._taken

    def _furnish(self, person: Path, home: Path, below: Path) -> None:
        """Everything in this directory of the person: settings are copied, the program's other files left out."""
        if not (person / below).is_dir():
            return
        for entry in (person / below).iterdir():
            place = below / entry.name
            if any(place in own.parents for own in self._own):
                (home / place).mkdir(exist_ok=True)
                self._furnish(person, home, place)
            elif place in self._own and entry.is_dir():
                (home / place).mkdir(exist_ok=True)
                for setting in entry.iterdir():
                    _furnish_setting(setting, home / place / setting.name)
            elif any(place.parent == own.parent and place.name.startswith(f"{own.name}.") for own in self._own):
                _furnish_setting(entry, home / place)  # such as `.claude.json` beside `.claude`
            elif not self._root.is_relative_to(entry):  # a link to where the homes are would lead in circles
                _link(entry, home / place)


def _furnish_setting(source: Path, target: Path) -> None:
    if source.name.removesuffix("s") in _SETTING_DIRECTORIES and source.is_dir():
        _link(source, target)
    elif source.is_file() and not source.name.endswith(_STATE_SUFFIXES):
        with suppress(OSError):
            _copy(source, target)


def _link(source: Path, target: Path) -> None:
    with suppress(FileExistsError):
        target.symlink_to(source)


def _copy(source: Path, target: Path) -> None:
    """A small file that a person or a sign-in wrote; again if it is newer than the copy.

    An agent may have put a link at `target`. It is not followed, so nothing outside of the home is written.
    """
    written_at_ns = source.stat().st_mtime_ns
    if os.path.lexists(target) and target.lstat().st_mtime_ns >= written_at_ns:
        return
    write_plain(target, read_plain(source, _SETTING_BYTES_MAX, through_links=True))
    os.utime(target, ns=(written_at_ns, written_at_ns), follow_symlinks=False)
