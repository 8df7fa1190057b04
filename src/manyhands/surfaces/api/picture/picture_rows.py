"""Runs, hosts, tasks and width moves as the page draws them: plain values under short names."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import asdict

from manyhands.core.book import Book
from manyhands.core.events import WidthMoved
from manyhands.core.people import why_it_waits
from manyhands.core.state import HostState, Lane, Record, Run
from manyhands.core.values.task import TaskState, claims_of
from manyhands.surfaces.verbs.host_verbs import pinned_width, success_of, width_reason
from manyhands.surfaces.verbs.run_verbs import run_row
from manyhands.surfaces.verbs.task_verbs import claims_row

PictureRow = dict[str, Any]
#: Leaves secrets out of a text.
Redact = Callable[[str], str]
#: (host, kind) → nine of ten attempts that were done lately took no longer than this.
SlowestOf = Callable[[str, str], float | None]

#: A text that people wrote or a program printed is cut to this on its way to the page's lists.
TEXT_CHARACTERS_MAX = 300


def short(text: str, redact: Redact) -> str:
    if not text:
        return ""
    cut = text[: 4 * TEXT_CHARACTERS_MAX]  # so that a secret is found before it is cut in two
    text = redact(cut)
    return text if len(text) <= TEXT_CHARACTERS_MAX else text[: TEXT_CHARACTERS_MAX - 1] + "…"


def kinds_of(book: Book) -> dict[str, None]:
    """The kinds in the order in which the store first had a task of them: a kind keeps its place, and so its colour."""
    first: dict[str, int] = {}
    for run in book.runs.values():
        for record in run.records.values():
            kind = record.task.kind
            first[kind] = min(first.get(kind, record.number), record.number)
    return dict.fromkeys(sorted(first, key=first.__getitem__))


def counts_row(run: Run) -> PictureRow:
    counts = {str(state): n for state, n in run.counts.items()}
    return {"run": run.name, "counts": counts, "total": len(run.records), "peak": run.peak}


def page_run(run: Run, redact: Redact) -> PictureRow:
    row = asdict(run_row(run))
    return {**row, "source": short(row["source"], redact)}


def page_task(record: Record, redact: Redact) -> PictureRow:
    task = record.task
    return {
        **state_row(record, redact),
        "title": short(task.title, redact),
        "kind": task.kind,
        "priority": task.priority,
        "parent": task.parent,
        "needs": task.needs,
        "claims": claims_row(claims_of(task)),
    }


def state_row(record: Record, redact: Redact) -> PictureRow:
    """The fields that can change, of a task that the page knows already."""
    return {
        "run": record.run,
        "task": record.task.id,
        "state": record.state,
        "since": record.since,
        "cause": short(cause_of(record), redact),
    }


def cause_of(record: Record) -> str:
    if record.question is not None:
        return why_it_waits(record.question)
    return "" if record.state in (TaskState.READY, TaskState.RUNNING, TaskState.DONE) else record.cause.why


def page_host(host: HostState, slowest_of: SlowestOf, redact: Redact) -> PictureRow:
    return {
        "host": host.name,
        "kinds": host.host.kinds,
        "width": host.width,
        "pinned": pinned_width(host),
        "why": width_reason(host),
        "ceiling": host.host.width.max,
        "paused": None if host.paused is None else short(host.paused, redact),
        "paused_until": host.paused_until,
        "closed": host.is_closed,
        "needs_person": host.needs_person,
        "workers": host.workers,
        "workers_why": short(host.workers_why, redact),
        "in_flight": len(host.running),
        "lanes": [_page_lane(host, kind, lane, slowest_of) for kind, lane in host.lanes.items()],
    }


def _page_lane(host: HostState, kind: str, lane: Lane, slowest_of: SlowestOf) -> PictureRow:
    return {
        "kind": kind,
        "width": lane.width,
        "why": lane.why,
        "in_flight": lane.in_flight,
        "success": success_of(host, kind),
        "usual_s": lane.usual_s,
        "p90_s": slowest_of(host.name, kind),
    }


def width_row(event: WidthMoved) -> PictureRow:
    return {
        "at": event.at,
        "host": event.host,
        "kind": event.kind,
        "was": event.was,
        "width": event.width,
        "reason": event.reason,
    }
