"""The part of a run that is below one parent, as if it were a run of its own."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from manyhands.core.state import Record, Run
from manyhands.core.values.about import About, RunAbout
from manyhands.core.values.task import TERMINAL, TaskState
from manyhands.engine.observed_peaks import peak_of_all


def part_below(run: Run, epic: str) -> Run:
    """The tasks whose parents lead to the epic, and the epic itself if it is a task. None of them: an empty run."""
    records = {id: record for id, record in run.records.items() if _is_below(run.records, id, epic)}
    about = run.about.epics.get(epic, About())
    counts = dict.fromkeys(TaskState, 0)
    for record in records.values():
        counts[record.state] += 1
    ends = [record.since for record in records.values()]
    unfinished = sum(record.state not in TERMINAL for record in records.values())
    return replace(
        run,
        records=records,
        counts=counts,
        unfinished=unfinished,
        in_flight=counts[TaskState.RUNNING],
        ended_at=max(ends) if ends and not unfinished else None,
        peak=peak_of_all(records.values()),
        about=RunAbout(about.title, about.goal, about.description, run.about.epics),
    )


def _is_below(records: Mapping[str, Record], id: str, epic: str) -> bool:
    return any(each == epic for each in _upwards(records, id))


def _upwards(records: Mapping[str, Record], id: str) -> Iterator[str]:
    seen: set[str] = set()
    while id and id not in seen:
        seen.add(id)
        yield id
        id = records[id].task.parent if id in records else ""
