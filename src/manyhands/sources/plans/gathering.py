"""Tasks and problems gathered from the files of one plan, and the checks that need all of them."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from manyhands.core.graph import cycles
from manyhands.core.values.task import Task
from manyhands.readers.problems import (
    KEPT_MAX,
    LISTED_MAX,
    Problem,
    Problems,
    Sheet,
    did_you_mean,
    sheet_of_row,
    value_text,
)
from manyhands.sources.plans.plan_settings import PlanSettings, merge_settings, settings_from
from manyhands.sources.plans.sharing import Sharing
from manyhands.sources.plans.task_rows import task_from

#: Looking for a similar id costs a look at every id: this many looks are spent on hints, then none.
_LOOKS_MAX = 3_000_000


class Places:
    """Which file and line each task came from, in a few bytes a task."""

    def __init__(self) -> None:
        self._lines = array("I")
        self._files: list[tuple[int, str]] = []  # (number of its first task, file)

    def begin(self, file: str) -> None:
        self._files.append((len(self._lines), file))

    def add(self, line: int) -> None:
        self._lines.append(line)

    def of(self, number: int) -> tuple[str, int]:
        file = next(name for first, name in reversed(self._files) if first <= number)
        return file, self._lines[number]


class Gathering:
    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.places = Places()
        self.problems = Problems()
        self.sharing = Sharing()
        self._files: list[str] = []
        self._settings: dict[str, Any] = {}
        self._settings_sheet: Sheet | None = None
        #: Every id that any row claims, good rows and bad: where it was first seen, as file << 32 | line.
        self._seen: dict[str, int] = {}
        #: Bad rows that have needs: what is wrong with those is told too.
        self._refused: list[tuple[str, list[str], Sheet]] = []
        #: For files that have more than one line a task: where to look for the line of `needs`.
        self._sheet_of: dict[int, Sheet] = {}

    def begin(self, file: str) -> None:
        self._files.append(file)
        self.places.begin(file)

    def add(self, task: Task, line: int) -> None:
        """A good task."""
        if task.id in self._seen:
            self._tell_twice(task.id, line)
            return
        self._seen[task.id] = (len(self._files) - 1) << 32 | line
        self.tasks.append(self.sharing.shared(task))
        self.places.add(line)

    def take(self, row: object, sheet: Sheet) -> None:
        """A row that may be good or bad. Its line is that of the row, its fields may have others."""
        line = sheet.line_of(())
        count = len(self.tasks)
        task = task_from(row, sheet)
        if task is not None:
            self.add(task, line)
            if task.needs and len(self.tasks) > count:
                self._sheet_of[count] = sheet
        elif isinstance(row, dict) and isinstance(row.get("id"), str):
            self.claim_id(row["id"], line)
            needs = row.get("needs")
            if isinstance(needs, list) and len(self._refused) < KEPT_MAX:
                self._refused.append((row["id"], [need for need in needs if isinstance(need, str)], sheet))

    def claim_id(self, task_id: str, line: int) -> None:
        """A bad row: nothing comes of it, but others may need its task and none may have its id."""
        if task_id in self._seen:
            self._tell_twice(task_id, line)
        else:
            self._seen[task_id] = (len(self._files) - 1) << 32 | line

    def salvage_id(self, task_id: str) -> None:
        """From a file that cannot be parsed: enough to know that a need of others exists."""
        self._seen.setdefault(task_id, (len(self._files) - 1) << 32)

    def take_settings(self, table: object, sheet: Sheet) -> None:
        merge_settings(self._settings, settings_from(table, sheet), sheet)
        self._settings_sheet = sheet

    def _tell_twice(self, task_id: str, line: int) -> None:
        first = self._seen[task_id]
        file, first_line = self._files[first >> 32], first & 0xFFFFFFFF
        where = f"line {first_line}" if file == self._files[-1] else f"`{file}` line {first_line}"
        self.problems.add(
            Problem(
                file=self._files[-1],
                line=line,
                field="id",
                value=value_text(task_id),
                message=f"`id` {value_text(task_id)} is already the id of the task on {where}",
                hint="ids are unique over all files of a plan; rename one of the two",
            )
        )

    def finish(self) -> PlanSettings:
        """The checks that need the whole plan. Whether it is good, `problems` says."""
        self._check_needs()
        self._check_cycles()
        self._check_parents()
        if not self.problems.total:
            return msgspec.convert(self._settings, PlanSettings)
        return PlanSettings()

    def _all_needs(self) -> Iterator[tuple[str, Sequence[str], int]]:
        """(id, needs, number) of every row that needs something; the number of a bad row is negative."""
        for number, task in enumerate(self.tasks):
            if task.needs:
                yield task.id, task.needs, number
        for number, (task_id, needs, _) in enumerate(self._refused):
            yield task_id, needs, -1 - number

    def _check_needs(self) -> None:
        looks = _LOOKS_MAX
        for _, needs, number in self._all_needs():
            for need in needs:
                if need in self._seen:
                    continue
                hint = ""
                if looks >= 0 and self.problems.total < LISTED_MAX:
                    looks -= len(self._seen)
                    hint = did_you_mean(need, _similar(need, self._seen))
                message = f"`needs` names {value_text(need)}, and the plan has no such task"
                self._tell_of(number, "needs", need, message, hint or "a need is the id of another task")

    def _check_cycles(self) -> None:
        needs_of: dict[str, Sequence[str]] = {}
        number_of: dict[str, int] = {}
        for task_id, needs, number in self._all_needs():
            needs_of.setdefault(task_id, needs)
            number_of.setdefault(task_id, number)
        for cycle in cycles(needs_of):
            ring = [*cycle, cycle[0]]
            if len(ring) > 12:
                ring = [*ring[:6], f"… {len(cycle) - 8} more …", *ring[-3:]]
            message = f"tasks wait for each other: {' → '.join(ring)}"
            self._tell_of(number_of[cycle[0]], "needs", cycle[0], message, "take out one of these needs")

    def _check_parents(self) -> None:
        bounds = self._settings.get("parents")
        if not bounds or self._settings_sheet is None or self.problems.total:
            return  # a row that is missing because it is bad may be the child
        parents = dict.fromkeys(task.parent for task in self.tasks if task.parent)
        for parent in bounds:
            if parent not in parents:
                hint = did_you_mean(parent, list(parents)[:1000]) or "a task names its parent with `parent`"
                sheet = self._settings_sheet
                sheet.tell(("parents", parent), f"no task has the parent {value_text(parent)}", hint, parent)

    def _tell_of(self, number: int, field: str, value: object, message: str, hint: str) -> None:
        sheet = self._refused[-1 - number][2] if number < 0 else self._sheet_of.get(number)
        if sheet is None:
            file, line = self.places.of(number)
            sheet = sheet_of_row(file, line, self.problems)
        sheet.tell((field,), message, hint, value)


def _similar(word: str, ids: dict[str, int]) -> list[str]:
    """Few enough ids for a close look: about as long, and begun or ended alike."""
    if len(ids) <= 1000:
        return list(ids)
    head, tail = word[:2], word[-2:]
    near = (
        other for other in ids if abs(len(other) - len(word)) <= 2 and (other.startswith(head) or other.endswith(tail))
    )
    return [other for other, _ in zip(near, range(1000), strict=False)]
