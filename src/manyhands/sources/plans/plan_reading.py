"""A plan: the tasks of one or more files, read as a whole or refused as a whole."""

import os
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from manyhands.core.values.task import Task
from manyhands.errors import BacklogError
from manyhands.readers.plain_file import open_plain
from manyhands.readers.problems import Problem, describe, sheet_of_row
from manyhands.readers.text import obstacle, unreadable, whole_file
from manyhands.sources.plans.gathering import Gathering, Places
from manyhands.sources.plans.plan_settings import PlanSettings

SUFFIXES = (".toml", ".yaml", ".yml", ".jsonl", ".json")


class PlanRefused(BacklogError):
    """Nothing of the plan is used. `problems` has the first thousand, `total` counts all."""

    def __init__(self, problems: list[Problem], total: int | None = None) -> None:
        self.problems = problems
        self.total = len(problems) if total is None else total
        super().__init__(*describe("plan", problems, self.total))


class Plan(NamedTuple):
    tasks: list[Task]  # in the order of the files
    settings: PlanSettings
    source: str  # for people: where the tasks come from
    places: Places


def read_plan(paths: Iterable[str | os.PathLike[str]]) -> Plan:
    """Several files make one plan. Raises `PlanRefused` with everything that is wrong with any of them."""
    gathering = Gathering()
    names = list(dict.fromkeys(os.fspath(path) for path in ([paths] if isinstance(paths, str) else paths)))
    for name in names:
        _read_file(name, gathering)
    settings = gathering.finish()
    problems = gathering.problems
    if problems.total:
        raise PlanRefused(problems.by_line(), problems.total)
    return Plan(gathering.tasks, settings, ", ".join(names), gathering.places)


def plan_of_rows(rows: Sequence[Mapping[str, Any]], source: str, known: Container[str] = ()) -> Plan:
    """The same checks as of a plan file; what they need may also be `known` elsewhere."""
    gathering = Gathering()
    gathering.begin(source)
    for place, row in enumerate(rows, 1):
        line = place if len(rows) > 1 else 0  # of a single one nobody need be told which
        gathering.take(row, sheet_of_row(source, line, gathering.problems))
    for need in [need for task in gathering.tasks for need in task.needs if need in known]:
        gathering.salvage_id(need)
    settings = gathering.finish()
    if gathering.problems.total:
        raise PlanRefused(gathering.problems.by_line(), gathering.problems.total)
    return Plan(gathering.tasks, settings, source, gathering.places)


def _read_file(name: str, gathering: Gathering) -> None:
    file = Path(name)
    gathering.begin(name)
    problem = obstacle(file, name, "plan file")
    if problem is None and file.suffix.lower() not in SUFFIXES:
        problem = Problem(
            file=name,
            value=file.suffix,
            message=f"is not a plan file: its name ends in `{file.suffix}`",
            hint=f"the name of a plan ends in {', '.join(SUFFIXES)}",
        )
    if problem is not None:
        gathering.problems.add(problem)
        return
    before = len(gathering.tasks), gathering.problems.total
    try:
        _read_format(file, name, gathering)
    except OSError as error:
        gathering.problems.add(unreadable(name, error))
    if before == (len(gathering.tasks), gathering.problems.total):
        hint = '`[[task]]` with `id = "…"` and `run = ["…"]` below it is the shortest plan'
        gathering.problems.add(Problem(file=name, message="has no tasks", hint=hint))


def _read_format(file: Path, name: str, gathering: Gathering) -> None:
    suffix = file.suffix.lower()
    if suffix == ".jsonl":
        from manyhands.sources.plans.jsonl import read_jsonl

        with open(open_plain(file, through_links=True), "rb") as stream:
            read_jsonl(name, stream, gathering)
    elif suffix == ".json":
        from manyhands.sources.plans.jsonl import read_json

        read_json(name, whole_file(file), gathering)
    else:
        from manyhands.sources.plans.documents import read_toml, read_yaml

        (read_toml if suffix == ".toml" else read_yaml)(name, whole_file(file), gathering)
