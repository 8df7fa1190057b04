"""What a program leaves where it works, although nobody asked for it."""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path


class Litter:
    """Only what was not there before is removed, because it may be somebody's."""

    def __init__(self, place: Path, patterns: Sequence[str]) -> None:
        self._place = place
        self._patterns = patterns
        self._before = self._found()

    def remove(self) -> None:
        for path in self._found() - self._before:
            with suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    os.unlink(path)

    def _found(self) -> set[Path]:
        with suppress(OSError):
            return {path for pattern in self._patterns for path in self._place.glob(pattern)}
        return set()
