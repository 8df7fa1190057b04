"""Handles one id on several lines: which line counts, and whether an unfinished merge is the cause."""

import re

from msgspec import Struct

from manyhands.readers.problems import Problem, Problems, value_text
from manyhands.sources.beads.issue import Issue
from manyhands.sources.beads.times import nanoseconds

_MARKER = re.compile(rb"(<{7}|\|{7}|={7}|>{7})(?: .*)?\r?")
_LISTED_MAX = 5


class _Merge(Struct):
    """The lines between conflict markers."""

    begin: int
    middle: int = 0
    end: int = 0
    on_both: int = 0
    different: list[str] = []


def is_newer(one: str, other: str) -> bool | None:
    """Whether the first `updated_at` is newer; None if neither is."""
    at, other_at = nanoseconds(one) or 0, nanoseconds(other) or 0
    return None if at == other_at else at > other_at


class DuplicateIds:
    def __init__(self, file: str, problems: Problems) -> None:
        self._file = file
        self._problems = problems
        self._merges: list[_Merge] = []
        #: (id, the line that counts, the other line, whether they differ)
        self._found: list[tuple[str, int, int, bool]] = []

    def is_marker(self, line: bytes, number: int) -> bool:
        if line[:1] not in b"<|=>" or not (marker := _MARKER.fullmatch(line)):
            return False
        is_inside = bool(self._merges) and not self._merges[-1].end
        sign = marker[1][:1]
        if sign == b"<" or not is_inside:
            self._merges.append(_Merge(number))
        if sign == b"=":
            self._merges[-1].middle = number
        elif sign == b">":
            self._merges[-1].end = number
        return True

    def takes_over(self, known: Issue, known_line: int, found: Issue, line: int, lines: list[bytes]) -> bool:
        """Whether the line found later counts: the newer line does, or the later one if both have the same age."""
        takes_over = is_newer(found.updated_at, known.updated_at) is not False
        differ = lines[known_line - 1].rstrip() != lines[line - 1].rstrip()
        winner, loser = (line, known_line) if takes_over else (known_line, line)
        self._found.append((found.id, winner, loser, differ))
        return takes_over

    def tell(self) -> None:
        for id, winner, loser, differ in self._found:
            merge = self._merge_around(winner, loser)
            if merge is not None:
                merge.on_both += 1
                if differ:
                    merge.different.append(id)
                continue
            message = f"`id` {value_text(id)} is also on line {winner}, which is used because it is newer or later"
            hint = "delete the line that is out of date" if differ else "the two lines are equal; delete one"
            self._problems.add(
                Problem(file=self._file, line=loser, field="id", value=value_text(id), message=message, hint=hint)
            )
        for merge in self._merges:
            self._tell_merge(merge)

    def _merge_around(self, *lines: int) -> _Merge | None:
        return next((m for m in self._merges if all(m.begin < line < (m.end or line + 1) for line in lines)), None)

    def _tell_merge(self, merge: _Merge) -> None:
        end = f"to line {merge.end}" if merge.end else "and has no end"
        message = f"an unfinished merge begins here {end}: {merge.on_both} ids are on both sides"
        if merge.different:
            listed = ", ".join(merge.different[:_LISTED_MAX]) + (" …" if len(merge.different) > _LISTED_MAX else "")
            message += f", {len(merge.different)} of them different ({listed}); the newer one is used"
        hint = "finish the merge: keep the newer line of each id and remove the markers"
        self._problems.add(Problem(file=self._file, line=merge.begin, message=message, hint=hint))
