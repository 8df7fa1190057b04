"""The answers to what is only asked: runs, tasks, hosts and lanes as they are now."""

from collections.abc import Iterator

import msgspec

from manyhands.api import answers
from manyhands.api.asking import Asked, RunsQuery, TasksQuery, WidthsQuery
from manyhands.api.files import last_lines, output_path
from manyhands.api.office import Office
from manyhands.api.picture.rows import cause_of, claims_row, host_row, queued_at, run_row, short
from manyhands.core.claims import each_claim, is_resource, overlap
from manyhands.core.explain import explain
from manyhands.core.model import Claims, TaskState, claims_of
from manyhands.core.state import Record, Run
from manyhands.runtime.shown import fields_of, within

#: A prompt may be megabytes; a page shows its beginning.
FIELD_CHARACTERS_MAX = 20_000


def runs(office: Office, asked: Asked) -> answers.Runs:
    """The newest first."""
    query: RunsQuery = asked.query
    found = list(office.book.runs.values())[::-1]
    shown = found[query.offset : query.offset + query.limit]
    return answers.Runs([_run(office, run) for run in shown], len(found))


def run(office: Office, asked: Asked) -> answers.RunRow:
    return _run(office, office.run(asked.path["run"]))


def _run(office: Office, run: Run) -> answers.RunRow:
    return answers.RunRow(**run_row(run, office.redact))


def tasks(office: Office, asked: Asked) -> answers.Tasks:
    query: TasksQuery = asked.query
    looked_at = [office.run(query.run)] if query.run else list(office.book.runs.values())[::-1]
    counts = {str(state): sum(run.counts[state] for run in looked_at) for state in TaskState}
    found = [record for run in looked_at for record in _matching(run, query)]
    shown = found[query.offset : query.offset + query.limit]
    return answers.Tasks([_summary(office, record) for record in shown], len(found), query.offset, counts)


def _matching(run: Run, query: TasksQuery) -> Iterator[Record]:
    wanted = query.q.lower()
    for record in run.records.values():
        task = record.task
        if query.state and record.state is not query.state:
            continue
        if query.kind and task.kind != query.kind:
            continue
        if query.host and (not record.history or record.history[-1].host != query.host):
            continue
        if wanted and wanted not in task.id.lower() and wanted not in task.title.lower():
            continue
        if query.file and not _claims_file(claims_of(task), query.file):
            continue
        yield record


def _claims_file(claims: Claims, file: str) -> bool:
    return any(
        file in pattern or (not is_resource(pattern) and overlap(pattern, file)) for _, pattern in each_claim(claims)
    )


def _summary(office: Office, record: Record) -> answers.TaskSummary:
    task, history = record.task, record.history or []
    return answers.TaskSummary(
        run=record.run,
        task=task.id,
        title=short(task.title, office.redact),
        kind=task.kind,
        state=str(record.state),
        priority=task.priority,
        parent=task.parent,
        needs=task.needs,
        claims=claims_row(claims_of(task)),
        since=record.since,
        cause=short(cause_of(record), office.redact),
        host=history[-1].host if history else "",
        tries=len(history),
    )


def task(office: Office, asked: Asked) -> answers.TaskDetail:
    record = office.record(asked.path["run"], asked.path["task"])
    now = office.dispatcher.clock.now()
    redact = office.redact
    last = record.last_ending
    return answers.TaskDetail(
        run=record.run,
        task=record.task.id,
        state=str(record.state),
        since=record.since,
        cause=short(cause_of(record), redact),
        fields=within(fields_of(record.task), redact, FIELD_CHARACTERS_MAX),
        attempts=[_attempt(office, record, number) for number in range(1, len(record.history or ()) + 1)],
        explain=[redact(reason) for reason in explain(office.book, record, now) if reason],
        claims=claims_row(claims_of(record.task)),
        output=redact(_tail(office, record)),
        result=redact(last.result[:FIELD_CHARACTERS_MAX]) if last is not None else "",
    )


def _tail(office: Office, record: Record) -> str:
    history = record.history or []
    if history and history[-1].ending is None:
        return last_lines(output_path(office.directory, record.run, record.task.id, len(history)))
    return record.last_ending.tail if record.last_ending is not None else ""


def _attempt(office: Office, record: Record, number: int) -> answers.Attempt:
    assert record.history is not None
    tried = record.history[number - 1]
    ending = tried.ending
    return answers.Attempt(
        attempt=tried.attempt,
        number=number,
        host=tried.host,
        queued_at=queued_at(tried),
        started_at=tried.started_at,
        ended_at=tried.ended_at,
        ending=str(ending.kind) if ending else "",
        detail=short(ending.detail, office.redact) if ending else "",
        exit_code=ending.exit_code if ending else None,
        tokens_in=ending.tokens_in if ending else 0,
        tokens_out=ending.tokens_out if ending else 0,
        cost=ending.cost if ending else None,
    )


def hosts(office: Office, asked: Asked) -> answers.Hosts:
    slowest_of = office.feed.picture.slowest_of
    rows = [host_row(host, slowest_of, office.redact) for host in office.book.hosts.values()]
    return answers.Hosts([msgspec.convert(row, answers.HostRow) for row in rows])


def lanes(office: Office, asked: Asked) -> answers.Lanes:
    return answers.Lanes(
        [
            answers.HostLane(**msgspec.structs.asdict(lane), host=host.host)
            for host in hosts(office, asked).hosts
            for lane in host.lanes
        ]
    )


def widths(office: Office, asked: Asked) -> answers.Widths:
    query: WidthsQuery = asked.query
    office.feed.catch_up()
    moves = office.feed.picture.widths(query.host or None, query.since)
    return answers.Widths([answers.WidthMove(**move) for move in moves], len(moves))
