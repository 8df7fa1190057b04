"""Why hosts have free slots: the obstacles that keep tasks waiting, seen from the host.

The cost depends on the number of pools, lanes and running attempts, never on the number of tasks.
"""

import math
from collections import deque
from itertools import islice

from manyhands.core.book import Book
from manyhands.core.obstacles import group_obstacle, hold_of, host_obstacle, run_obstacle, what_meets
from manyhands.core.placement import takes
from manyhands.core.ready import Group
from manyhands.core.state import HostState, Record, Run
from manyhands.core.values.task import TaskState, form_of
from manyhands.surfaces.api.picture.picture_rows import PictureRow, Redact, short

#: How many parked groups are looked at: one reason is enough for a person.
PARKED_LOOKS_MAX = 64
SPANS_MAX = 5_000

#: (run, kind) → the forms of its tasks: whether a host takes a task depends on both.
Forms = dict[tuple[str, str], set[str]]
#: (cause, detail, until when if that is known). Of several causes, the one that comes first here is shown.
IdleReason = tuple[str, str, float | None]
_FIRST = ("rate", "memory", "lane", "barrier", "budget", "concurrency", "claims", "rule", "drained", "elsewhere")


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
            cause, detail, until = why_idle(book, host, runs, forms)
            row = {"host": host.name, "free": free, "cause": cause, "detail": short(detail, redact)}
            rows.append(row if until is None else {**row, "until": until})
    return rows


def why_idle(book: Book, host: HostState, runs: list[Run], forms: Forms) -> IdleReason:
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
    found = [*_of_pools(book, host), *_of_parked(book, host)]
    if found:
        return min(found, key=lambda why: _FIRST.index(why[0]))
    return _of_states(host, runs, forms)


def _of_pools(book: Book, host: HostState) -> list[IdleReason]:
    found: list[IdleReason] = []
    for pool in book.ready.pools.values():
        if host not in pool.hosts:
            continue
        group = next((entry[2] for entry in pool.heap if entry[2].queue), None)
        if group is None:
            continue
        obstacle = run_obstacle(pool)
        if obstacle is not None:
            found.append((obstacle.what, obstacle.text, None))
        else:
            found.append(_of_host(book, host, group))
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
    return ("barrier" if group.key.barrier else "memory"), text, None


def _of_parked(book: Book, host: HostState) -> list[IdleReason]:
    for _, groups in islice(book.ready.parked(), PARKED_LOOKS_MAX):
        group = next((one for one in groups[:PARKED_LOOKS_MAX] if host in one.pool.hosts and one.queue), None)
        if group is None:
            continue
        obstacle = group_obstacle(group, book.held, book.running, book.ready)
        if obstacle is None:
            continue
        if obstacle.holder is not None:
            held = what_meets(group.key.claims, obstacle.holder.claims)
            return [("claims", f"{group.head.task.id} waits: {held} is held by {obstacle.holder}", None)]
        cause = "concurrency" if obstacle.what == "parent" else "claims"
        return [(cause, f"{group.head.task.id} waits: {obstacle.text}", None)]
    return []


def _of_states(host: HostState, runs: list[Run], forms: Forms) -> IdleReason:
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
    if waiting[TaskState.BLOCKED]:
        return "needs", f"{waiting[TaskState.BLOCKED]:,} wait for other tasks", None
    if drained:
        return "drained", f"{drained:,} wait in runs that are stopping", None
    if waiting[TaskState.NEEDS_PERSON]:
        return "person", f"{waiting[TaskState.NEEDS_PERSON]:,} wait for a person; see the inbox", None
    if waiting[TaskState.DEFERRED]:
        return "deferred", f"{waiting[TaskState.DEFERRED]:,} are deferred until someone resumes them", None
    return "no work", "there are no tasks left that it takes", None
