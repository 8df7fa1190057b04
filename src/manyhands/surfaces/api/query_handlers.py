"""The answers to what is only asked: runs, tasks, hosts and lanes as they are now."""

from collections.abc import Iterator

import msgspec

from manyhands.core.claims import each_claim, is_resource, overlap
from manyhands.core.explain import explain
from manyhands.core.state import Record, Run
from manyhands.core.values.task import Claims, TaskState, claims_of
from manyhands.engine.public_values import fields_of, within
from manyhands.surfaces.api import answer_types
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.output_files import last_lines, output_path
from manyhands.surfaces.api.picture.picture_rows import cause_of, claims_row, host_row, queued_at, run_row, short
from manyhands.surfaces.api.request_types import ApiRequest, RunsQuery, TasksQuery, WidthsQuery

#: A prompt may be megabytes; a page shows its beginning.
FIELD_CHARACTERS_MAX = 20_000


def runs(office: ApiContext, asked: ApiRequest) -> answer_types.Runs:
    """The newest first."""
    query: RunsQuery = asked.query
    found = list(office.book.runs.values())[::-1]
    shown = found[query.offset : query.offset + query.limit]
    return answer_types.Runs([_run(office, run) for run in shown], len(found))


def run(office: ApiContext, asked: ApiRequest) -> answer_types.RunRow:
    return _run(office, office.run(asked.path["run"]))


def _run(office: ApiContext, run: Run) -> answer_types.RunRow:
    return answer_types.RunRow(**run_row(run, office.redact))


def tasks(office: ApiContext, asked: ApiRequest) -> answer_types.TasksAnswer:
    query: TasksQuery = asked.query
    looked_at = [office.run(query.run)] if query.run else list(office.book.runs.values())[::-1]
    counts = {str(state): sum(run.counts[state] for run in looked_at) for state in TaskState}
    found = [record for run in looked_at for record in _matching(run, query)]
    shown = found[query.offset : query.offset + query.limit]
    return answer_types.TasksAnswer([_summary(office, record) for record in shown], len(found), query.offset, counts)


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


def _summary(office: ApiContext, record: Record) -> answer_types.TaskSummary:
    task, history = record.task, record.history or []
    return answer_types.TaskSummary(
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


def task(office: ApiContext, asked: ApiRequest) -> answer_types.TaskDetail:
    record = office.record(asked.path["run"], asked.path["task"])
    now = office.dispatcher.clock.now()
    redact = office.redact
    last = record.last_ending
    return answer_types.TaskDetail(
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


def _tail(office: ApiContext, record: Record) -> str:
    history = record.history or []
    if history and history[-1].ending is None:
        return last_lines(output_path(office.directory, record.run, record.task.id, len(history)))
    return record.last_ending.tail if record.last_ending is not None else ""


def _attempt(office: ApiContext, record: Record, number: int) -> answer_types.Attempt:
    assert record.history is not None
    tried = record.history[number - 1]
    ending = tried.ending
    return answer_types.Attempt(
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


def hosts(office: ApiContext, asked: ApiRequest) -> answer_types.Hosts:
    slowest_of = office.feed.picture.slowest_of
    rows = [host_row(host, slowest_of, office.redact) for host in office.book.hosts.values()]
    return answer_types.Hosts([msgspec.convert(row, answer_types.HostRow) for row in rows])


def lanes(office: ApiContext, asked: ApiRequest) -> answer_types.Lanes:
    return answer_types.Lanes(
        [
            answer_types.HostLane(**msgspec.structs.asdict(lane), host=host.host)
            for host in hosts(office, asked).hosts
            for lane in host.lanes
        ]
    )


def widths(office: ApiContext, asked: ApiRequest) -> answer_types.Widths:
    query: WidthsQuery = asked.query
    office.feed.catch_up()
    moves = office.feed.picture.widths(query.host or None, query.since)
    return answer_types.Widths([answer_types.WidthMove(**move) for move in moves], len(moves))
