"""What is answered, as types: the handlers make them and the OpenAPI description is drawn from them."""

from typing import Any

import msgspec
from msgspec import Struct

from manyhands.engine.store.contract.samples import SeriesSample


class RunRow(Struct):
    run: str
    source: str
    opened_at: float
    ended_at: float | None
    concurrency: int | None
    draining: bool
    counts: dict[str, int]
    total: int
    peak: int


class Runs(Struct):
    runs: list[RunRow]
    total: int


class TaskSummary(Struct):
    run: str
    task: str
    title: str
    kind: str
    state: str
    priority: int
    parent: str
    needs: tuple[str, ...]
    claims: list[str]
    since: float
    cause: str
    host: str  # of its latest attempt
    tries: int


class TasksAnswer(Struct):
    """`total` counts what was asked for, `counts` all tasks of the runs looked at, whatever else was asked."""

    tasks: list[TaskSummary]
    total: int
    offset: int
    counts: dict[str, int]


class Attempt(Struct):
    attempt: int
    number: int
    host: str
    queued_at: float
    started_at: float
    ended_at: float | None
    ending: str
    detail: str
    exit_code: int | None
    tokens_in: int
    tokens_out: int
    cost: float | None  # None: unknown


class TaskDetail(Struct):
    run: str
    task: str
    state: str
    since: float
    cause: str
    fields: dict[str, Any]  # as in a plan; the values of `env` are left out
    attempts: list[Attempt]
    explain: list[str]
    claims: list[str]
    output: str  # the end of what the latest attempt printed
    result: str


class Told(Struct):
    at: float
    text: str


class Story(Struct):
    story: list[Told]
    truncated: bool = False  # the journal is longer than what was looked through


class OutputAnswer(Struct):
    text: str
    next: int  # the byte to go on from
    size: int
    attempt: int


class LaneRow(Struct):
    kind: str
    width: int | None
    why: str
    in_flight: int
    success: float | None
    usual_s: float | None
    p90_s: float | None


class HostRow(Struct):
    host: str
    kinds: tuple[str, ...]
    width: int
    pinned: int | None
    why: str
    ceiling: int | None
    paused: str | None
    paused_until: float | None
    workers: int | None
    workers_why: str
    in_flight: int
    lanes: list[LaneRow]


class Hosts(Struct):
    hosts: list[HostRow]


class HostLane(LaneRow):
    host: str


class Lanes(Struct):
    lanes: list[HostLane]


class WidthMove(Struct):
    at: float
    host: str
    kind: str
    was: int
    width: int
    reason: str


class Widths(Struct):
    widths: list[WidthMove]
    total: int


class HostPoint(Struct):
    width: int
    in_flight: int
    ended: dict[str, int]
    tokens_in: int
    tokens_out: int
    cost: float | None


class RunPoint(Struct):
    tasks: dict[str, int]
    queue_age_s: float


class Point(Struct):
    at: float
    hosts: dict[str, HostPoint]
    runs: dict[str, RunPoint]
    commits: int
    commit_mean_s: float
    commit_max_s: float


class SeriesAnswer(Struct):
    series: list[Point]
    total: int


def point_of(sample: SeriesSample) -> Point:
    return Point(
        sample.at,
        {name: HostPoint(*msgspec.structs.astuple(host)) for name, host in sample.hosts.items()},
        {name: RunPoint(*msgspec.structs.astuple(run)) for name, run in sample.runs.items()},
        sample.commits,
        sample.commit_mean_s,
        sample.commit_max_s,
    )


class RecordingAnswer(Struct):
    """In the format of the stream."""

    run: str
    snapshot: dict[str, Any]
    frames: list[dict[str, Any]]
    truncated: bool


class Trace(Struct):
    traceEvents: list[dict[str, Any]]  # the format's own name
    displayTimeUnit: str


class AddedAnswer(Struct):
    run: str
    tasks: list[str]


class Done(Struct):
    """It is on disk and will be acted on."""

    done: str
