"""Why a task is where it is: the same obstacles that decide, told to a person."""

from manyhands.core.book import Book
from manyhands.core.model import TaskState
from manyhands.core.obstacles import group_obstacle, host_obstacle, run_obstacle
from manyhands.core.ready import Group
from manyhands.core.state import Record, Run


def explain(book: Book, record: Record, at: float) -> list[str]:
    """The reasons in the order they are checked; the first is what the task waits for now."""
    run = book.runs[record.run]
    state = record.state
    if state is TaskState.READY:
        return _what_keeps(book, run, record)
    if state is TaskState.BLOCKED:
        return [_open_needs(run, record)]
    if state is TaskState.BACKOFF:
        left_s = max(0.0, record.until - at)
        return [f"{record.cause or 'the last attempt did not end well'}; again in {left_s:.1f} s"]
    if state is TaskState.RUNNING and record.history:
        tried = record.history[-1]
        return [f"runs on {tried.host} as attempt {len(record.history)} for {at - tried.started_at:.1f} s"]
    return [record.cause] if record.cause else []


def _open_needs(run: Run, record: Record) -> str:
    open_needs: list[str] = []
    for need in record.task.needs:
        needed = run.records.get(need)
        if needed is None:
            open_needs.append(f"{need} (never submitted)")
        elif needed.state is not TaskState.DONE:
            open_needs.append(f"{need} ({needed.state})")
    shown = ", ".join(open_needs[:5])
    more = f" and {len(open_needs) - 5} more" if len(open_needs) > 5 else ""
    return f"needs {shown}{more}"


def _what_keeps(book: Book, run: Run, record: Record) -> list[str]:
    group = book.ready.group_of(run, record)
    reasons: list[str] = []
    if (obstacle := run_obstacle(group.pool)) is not None:
        reasons.append(obstacle.text)
    if (obstacle := group_obstacle(group, book.held, book.running, book.ready)) is not None:
        reasons.append(obstacle.text)
    reasons.extend(_host_reasons(group, book))
    if not reasons and group.head is not record:
        reasons.append(f"goes after {group.head.task.id}, which comes first in the same lane")
    return reasons or ["may start now"]


def _host_reasons(group: Group, book: Book) -> list[str]:
    """Only if no host has room do they keep it waiting."""
    if not group.pool.hosts:
        return [f"no host takes kind {group.key.kind} with {group.key.form}"]
    reasons: list[str] = []
    for host in group.pool.hosts:
        reason = host_obstacle(host, group)
        if reason is None and host.limit.start_at(book.at, group.key.kind) > book.at:
            reason = f"{host.name}: {host.limit.start_reason}"
        if reason is None:
            return []
        reasons.append(reason)
    return reasons
