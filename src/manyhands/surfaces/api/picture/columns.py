"""Many tasks or bars in columns instead of rows: a fraction of the bytes, and as fast as it can be made and read."""

from collections.abc import Iterable, Sequence
from itertools import islice

from manyhands.core.state import Record, Run
from manyhands.core.values.task import TERMINAL, Claims, claims_of
from manyhands.surfaces.api.picture.bars import Bars
from manyhands.surfaces.api.picture.picture_rows import PictureRow, Redact, cause_of, short
from manyhands.surfaces.verbs.task_report import queued_at
from manyhands.surfaces.verbs.task_verbs import claims_row

TASKS_MAX = 50_000


def coded(values: Iterable[str]) -> PictureRow:
    """A column with few different words: each word once, and an index for every row."""
    place: dict[str, int] = {}
    index = [place.setdefault(value, len(place)) for value in values]
    return {"values": list(place), "index": index}


def task_columns(runs: Sequence[Run], redact: Redact) -> PictureRow:
    total = sum(len(run.records) for run in runs)
    records = chosen(runs) if total > TASKS_MAX else [one for run in runs for one in run.records.values()]
    causes = [cause_of(record) for record in records]
    titles = [record.task.title for record in records]
    return {
        "total": total,
        "shown": len(records),
        "run": coded(record.run for record in records),
        "task": [record.task.id for record in records],
        "title": safe(titles, redact),
        "kind": coded(record.task.kind for record in records),
        "state": coded(str(record.state) for record in records),
        "priority": [record.task.priority for record in records],
        "parent": [record.task.parent for record in records],
        "needs": [record.task.needs for record in records],
        "claims": claims_column(records),
        "since": [record.since for record in records],
        "cause": safe(causes, redact),
    }


def claims_column(records: list[Record]) -> list[list[str]]:
    made: dict[Claims, list[str]] = {}  # tasks with equal claims share them
    column = []
    for record in records:
        claims = claims_of(record.task)
        row = made.get(claims)
        if row is None:
            row = made[claims] = claims_row(claims)
        column.append(row)
    return column


def chosen(runs: Sequence[Run]) -> list[Record]:
    """Unfinished tasks first, then the newest of the others."""
    unfinished = (one for run in reversed(runs) for one in run.records.values() if one.state not in TERMINAL)
    records = list(islice(unfinished, TASKS_MAX))
    ended = (one for run in reversed(runs) for one in reversed(run.records.values()) if one.state in TERMINAL)
    return records + list(islice(ended, TASKS_MAX - len(records)))


def safe(texts: list[str], redact: Redact) -> list[str]:
    """The texts without secrets, and cut. Searching all of them at once is much faster than one by one."""
    whole = "\n".join(text for text in texts if text)
    if len(whole) <= 300 * len(texts) and redact(whole) == whole and max(map(len, texts), default=0) <= 300:
        return texts
    return [short(text, redact) for text in texts]


def bar_columns(bars: Bars) -> PictureRow:
    shown = list(bars)
    return {
        "total": bars.total,
        "shown": len(shown),
        "attempt": [bar.tried.attempt for bar in shown],
        "run": coded(bar.record.run for bar in shown),
        "task": [bar.record.task.id for bar in shown],
        "kind": coded(bar.record.task.kind for bar in shown),
        "host": coded(bar.tried.host for bar in shown),
        "slot": [bar.slot for bar in shown],
        "queued_at": [queued_at(bar.tried) for bar in shown],
        "started_at": [bar.tried.started_at for bar in shown],
        "ended_at": [bar.tried.ended_at for bar in shown],
        "ending": coded(str(bar.tried.ending.kind) if bar.tried.ending else "" for bar in shown),
        "overload": coded(str(bar.tried.ending.overload or "") if bar.tried.ending else "" for bar in shown),
        "number": [bar.number for bar in shown],
        "of": [bar.record.task.attempts for bar in shown],
        "tokens": [
            bar.tried.ending.tokens_in + bar.tried.ending.tokens_out if bar.tried.ending else 0 for bar in shown
        ],
        "cost": [bar.tried.ending.cost if bar.tried.ending else None for bar in shown],
    }
