"""Why hosts have free slots: the obstacles that keep tasks waiting, seen from the host.

The cost depends on the number of pools, lanes and running attempts, never on the number of tasks.
"""

import math
from collections import deque
from itertools import islice

from manyhands.core.book import Book
from manyhands.core.obstacles import (
    group_obstacle,
    has_enough,
    hold_of,
    host_obstacle,
    no_host_has_enough,
    run_obstacle,
    what_meets,
)
from manyhands.core.placement import takes
from manyhands.core.ready import Group
from manyhands.core.state import HostState, Record, Run
from manyhands.core.values.task import TaskState, form_of
from manyhands.core.wishes import wish_for
from manyhands.quantities import quantity
from manyhands.surfaces.api.picture.picture_rows import PictureRow, Redact, short

#: How many parked groups are looked at: one reason is enough for a person.
PARKED_LOOKS_MAX = 64
SPANS_MAX = 5_000

#: (run, kind) → the forms of its tasks: whether a host takes a task depends on both.
Forms = dict[tuple[str, str], set[str]]
#: (cause, detail, until when if that is known). Of several causes, the one that comes first here is shown.
IdleReason = tuple[str, str, float | None]
_FIRST = (
    *("rate", "memory", "lane", "barrier", "budget", "concurrency"),
    *("claims", "rule", "asks", "drained", "elsewhere"),
)
#: For so many open runs, the newest, it is told why a slot is free for each of them alone.
RUNS_TOLD_MAX = 8


class IdleSpans:
    """Which hosts are idle now, and the idle spans that have ended, for pages that open later."""

    def __init__(self) -> None:
        self.rows: list[PictureRow] = []
        self._over: deque[PictureRow] = deque(maxlen=SPANS_MAX)
        self._since: dict[str, float] = {}

    def now(self, at: float, rows: list[PictureRow]) -> bool:
        """Whether anything changed."""
        if rows == self.rows:
            return False
        coming = {row["host"]: row for row in rows}
        for row in self.rows:
            name = row["host"]
            if not _is_same_span(row, coming.get(name)):
                self._over.append({**row, "from": self._since.pop(name), "to": at})
        for name in coming:
            self._since.setdefault(name, at)
        self.rows = rows
        return True

    def spans(self) -> list[PictureRow]:
        """The latest spans that have ended, then the open ones."""
        return [*self._over, *({**row, "from": self._since[row["host"]], "to": None} for row in self.rows)]


def _is_same_span(row: PictureRow, coming: PictureRow | None) -> bool:
    """The details of a cause change far more often than the cause."""
    return coming is not None and all(row[name] == coming[name] for name in ("free", "cause"))


def forms_of(book: Book) -> Forms:
    forms: Forms = {}
    for run in book.runs.values():
        for record in run.records.values():
            note_form(forms, record)
    return forms


def note_form(forms: Forms, record: Record) -> None:
    forms.setdefault((record.run, record.task.kind), set()).add(form_of(record.task))


def idle_rows(book: Book, forms: Forms, redact: Redact) -> list[PictureRow]:
    runs = [run for run in book.runs.values() if run.unfinished]
    rows: list[PictureRow] = []
    for host in book.hosts.values():
        free = host.width - len(host.running)
        if free > 0:
            why, of_runs = why_idle(book, host, runs, forms)
            row = {"host": host.name, "free": free, **_told(why, redact)}
            rows.append(
                {**row, "runs": {name: _told(one, redact) for name, one in of_runs.items()}} if of_runs else row
            )
    return rows


def _told(why: IdleReason, redact: Redact) -> PictureRow:
    cause, detail, until = why
    row = {"cause": cause, "detail": short(detail, redact)}
    return row if until is None else {**row, "until": until}


def why_idle(book: Book, host: HostState, runs: list[Run], forms: Forms) -> tuple[IdleReason, dict[str, IdleReason]]:
    """Why, and for each of several runs why it does not use the host, where that is something else."""
    if (why := _of_itself(host)) is not None:
        return why, {}
    found = [*_of_pools(book, host), *_of_parked(book, host)]

    def first(of: list[Run], those: list[IdleReason]) -> IdleReason:
        return min(those, key=lambda why: _FIRST.index(why[0])) if those else _of_states(book, host, of, forms)

    overall = first(runs, [why for _, why in found])
    if len(runs) < 2:
        return overall, {}
    alone = {run.name: first([run], [why for name, why in found if name == run.name]) for run in runs[-RUNS_TOLD_MAX:]}
    return overall, {name: one for name, one in alone.items() if one != overall}


def _of_itself(host: HostState) -> IdleReason | None:
    """What closes the host to everything."""
    if host.paused is not None:
        return "paused", host.paused, host.paused_until
    if (hold := hold_of(host)) is not None:
        return hold.what, hold.text, hold.until
    if host.barrier is not None:
        return "barrier", f"{host.barrier.task.id} runs alone here", None
    if host.kept_by:
        return "barrier", f"it is kept for {host.kept_by} until that has finished", None
    if host.kept_for is not None and host.kept_for.queue:
        return "barrier", f"it is being emptied for {host.kept_for.head.task.id}", None
    return None


def _of_pools(book: Book, host: HostState) -> list[tuple[str, IdleReason]]:
    """(run, why) of every pool whose tasks could go there."""
    found: list[tuple[str, IdleReason]] = []
    for pool in book.ready.pools.values():
        if host not in pool.hosts:
            continue
        # What a task asks for and the host has not, even when it is empty, is not what keeps its slots free.
        entries = (entry[2] for entry in pool.heap[:PARKED_LOOKS_MAX])
        group = next((one for one in entries if one.queue and has_enough(host, one)), None)
        if group is None:
            continue
        obstacle = run_obstacle(pool)
        why = (obstacle.what, obstacle.text, None) if obstacle is not None else _of_host(book, host, group)
        found.append((pool.run.name, why))
    return found


def _of_host(book: Book, host: HostState, group: Group) -> IdleReason:
    """Why this host does not take the first task that waits, though it has a free slot."""
    kind = group.key.kind
    text = host_obstacle(host, group)
    if text is None:
        start_at, why = host.limit.start_at(book.at, kind, group.head.seen_bytes)
        if start_at > book.at:  # infinite: until an attempt that holds memory ends
            is_memory = math.isinf(start_at)
            return ("memory", why, None) if is_memory else ("rate", why, round(start_at, 1))
        return "elsewhere", f"{group.head.task.id} waits for a better host than this one", None
    if host.on_trial:
        return "rate", text, None
    lane = host.lane(kind)
    if lane.width is not None and lane.in_flight >= lane.width:
        return "lane", text, None
    if host.host.lease_s is not None and wish_for(host, group.head) is None:
        return "asks", text, None
    return ("barrier" if group.key.barrier else "memory"), text, None


def _of_parked(book: Book, host: HostState) -> list[tuple[str, IdleReason]]:
    for _, groups in islice(book.ready.parked(), PARKED_LOOKS_MAX):
        group = next((one for one in groups[:PARKED_LOOKS_MAX] if _may_go(one, host)), None)
        if group is None:
            continue
        obstacle = group_obstacle(group, book.held, book.running, book.ready)
        if obstacle is None:
            continue
        if obstacle.holder is not None:
            held = what_meets(group.key.claims, obstacle.holder.claims)
            text = f"{group.head.task.id} waits: {held} is held by {obstacle.holder}"
            return [(group.pool.run.name, ("claims", text, None))]
        cause = "concurrency" if obstacle.what == "parent" else "claims"
        return [(group.pool.run.name, (cause, f"{group.head.task.id} waits: {obstacle.text}", None))]
    return []


def _may_go(group: Group, host: HostState) -> bool:
    return bool(group.queue) and host in group.pool.hosts and has_enough(host, group)


def _never_run(book: Book, host: HostState, runs: list[Run]) -> int:
    """How many tasks of a kind that it takes ask for more than any host has."""
    names = {run.name for run in runs}
    pools = [pool for pool in book.ready.pools.values() if host in pool.hosts and pool.run.name in names]
    groups = [entry[2] for pool in pools for entry in pool.heap[:PARKED_LOOKS_MAX]]
    return sum(len(group.queue) for group in groups if no_host_has_enough(group))


def _of_states(book: Book, host: HostState, runs: list[Run], forms: Forms) -> IdleReason:
    """Nothing is ready for this host: what the tasks that it takes wait for instead."""
    waiting = dict.fromkeys((TaskState.BACKOFF, TaskState.BLOCKED, TaskState.DEFERRED, TaskState.NEEDS_PERSON), 0)
    drained = 0
    for run in runs:
        for kind, counts in run.counts_of_kind.items():
            if any(takes(host.host, kind, form) for form in forms.get((run.name, kind), ())):
                drained += counts[TaskState.READY] if run.draining else 0
                for state in waiting:
                    waiting[state] += counts[state]
    if waiting[TaskState.BACKOFF]:
        return "backoff", f"{waiting[TaskState.BACKOFF]:,} wait for a delay before they are tried again", None
    if never := _never_run(book, host, runs):
        return (
            "never",
            f"{quantity(never, 'task')} can never run: no host has what {'it asks' if never == 1 else 'they ask'} for",
            None,
        )
    if waiting[TaskState.BLOCKED]:
        return (
            "needs",
            f"{waiting[TaskState.BLOCKED]:,} {'waits' if waiting[TaskState.BLOCKED] == 1 else 'wait'} for other tasks",
            None,
        )
    if drained:
        return "drained", f"{drained:,} wait in runs that are stopping", None
    if waiting[TaskState.NEEDS_PERSON]:
        return "person", f"{waiting[TaskState.NEEDS_PERSON]:,} wait for a person; see the inbox", None
    if waiting[TaskState.DEFERRED]:
        return "deferred", f"{waiting[TaskState.DEFERRED]:,} are deferred until someone resumes them", None
    return "no work", "there are no tasks left that it takes", None
