"""Runs, hosts, tasks and width moves as the page gets them: plain values under short names."""

from collections.abc import Callable
from typing import Any

from manyhands.core.events import WidthMoved
from manyhands.core.state import AttemptRecord, HostState, Lane, Record, Run
from manyhands.core.values.task import Claims, TaskState, claims_of

Row = dict[str, Any]
#: Leaves secrets out of a text.
Redact = Callable[[str], str]
#: Of (host, kind): nine of ten attempts that were done lately took no longer.
SlowestOf = Callable[[str, str], float | None]

#: A text that people wrote or a program printed is cut to this on its way to the page's lists.
TEXT_CHARACTERS_MAX = 300


def short(text: str, redact: Redact) -> str:
    if not text:
        return ""
    cut = text[: 4 * TEXT_CHARACTERS_MAX]  # so that a secret is found before it is cut in two
    text = redact(cut)
    return text if len(text) <= TEXT_CHARACTERS_MAX else text[: TEXT_CHARACTERS_MAX - 1] + "…"


def counts_row(run: Run) -> Row:
    counts = {str(state): n for state, n in run.counts.items()}
    return {"run": run.name, "counts": counts, "total": len(run.records), "peak": run.peak}


def run_row(run: Run, redact: Redact) -> Row:
    return {
        **counts_row(run),
        "source": short(run.source, redact),
        "opened_at": run.opened_at,
        "ended_at": run.ended_at,
        "concurrency": run.concurrency,
        "draining": run.draining,
    }


def task_row(record: Record, redact: Redact) -> Row:
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


def state_row(record: Record, redact: Redact) -> Row:
    """Of a task that is known already, what can change."""
    return {
        "run": record.run,
        "task": record.task.id,
        "state": record.state,
        "since": record.since,
        "cause": short(cause_of(record), redact),
    }


def cause_of(record: Record) -> str:
    return "" if record.state in (TaskState.READY, TaskState.RUNNING, TaskState.DONE) else record.cause


def host_row(host: HostState, slowest_of: SlowestOf, redact: Redact) -> Row:
    return {
        "host": host.name,
        "kinds": host.host.kinds,
        "width": host.width,
        "pinned": _pinned(host),
        "why": host.reason if host.pinned is None else "set by a person",
        "ceiling": host.host.width.max,
        "paused": None if host.paused is None else short(host.paused, redact),
        "paused_until": host.paused_until,
        "workers": host.workers,
        "workers_why": short(host.workers_why, redact),
        "in_flight": len(host.running),
        "lanes": [lane_row(host, kind, lane, slowest_of) for kind, lane in host.lanes.items()],
    }


def _pinned(host: HostState) -> int | None:
    """By a person's word, or by the config."""
    configured = host.host.width
    if host.pinned is None and configured.max is not None and configured.min == configured.max:
        return configured.max
    return host.pinned


def lane_row(host: HostState, kind: str, lane: Lane, slowest_of: SlowestOf) -> Row:
    known = host.difficulty.kinds.get(kind) if host.difficulty is not None else None
    return {
        "kind": kind,
        "width": lane.width,
        "why": lane.why,
        "in_flight": lane.in_flight,
        "success": known.success if known is not None and known.weight else None,
        "usual_s": lane.usual_s,
        "p90_s": slowest_of(host.name, kind),
    }


def width_row(event: WidthMoved) -> Row:
    return {
        "at": event.at,
        "host": event.host,
        "kind": event.kind,
        "was": event.was,
        "width": event.width,
        "reason": event.reason,
    }


def queued_at(tried: AttemptRecord) -> float:
    return tried.started_at if tried.queued_at is None else tried.queued_at


def claims_row(claims: Claims) -> list[str]:
    """`write src/auth/**`: what an attempt holds, for people."""
    rows = [f"write {pattern}" for pattern in claims.write]
    if claims.append or claims.read:
        rows += [f"append {pattern}" for pattern in claims.append]
        rows += [f"read {pattern}" for pattern in claims.read]
    return rows
