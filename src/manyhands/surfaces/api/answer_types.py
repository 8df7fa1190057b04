"""The answers that only the HTTP API gives, as types. The OpenAPI description is made from them.

The answers of the verbs that all surfaces share are declared beside the verbs.
"""

from typing import Any

import msgspec
from msgspec import Struct

from manyhands.engine.store.contract.samples import SeriesSample


class StoryLine(Struct):
    at: float
    text: str


class Story(Struct):
    story: list[StoryLine]
    truncated: bool  # the journal has more events than a story reads


class OutputAnswer(Struct):
    text: str
    next: int  # the byte to continue from
    size: int
    attempt: int


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
    """A run in the format of the stream."""

    run: str
    snapshot: dict[str, Any]
    frames: list[dict[str, Any]]
    truncated: bool


class Trace(Struct):
    traceEvents: list[dict[str, Any]]  # the format's own name
    displayTimeUnit: str
