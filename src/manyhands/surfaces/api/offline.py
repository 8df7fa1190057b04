"""Answers that need a whole journal, made in a process of their own so that the dispatcher is not held up.

The request comes on stdin as JSON, so that no secret appears in a list of processes. The answer goes to stdout.
"""

import gzip
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import msgspec
from msgspec import Struct

from manyhands.core.events import AnyEvent
from manyhands.engine.public_values import within
from manyhands.engine.redaction import Secrets
from manyhands.engine.store.store_opening import open_reader, open_series
from manyhands.surfaces.api.answer_types import Story, StoryLine
from manyhands.surfaces.api.picture.past import Past, past_of
from manyhands.surfaces.api.picture.picture_rows import Redact
from manyhands.surfaces.api.picture.recording import EVENTS_MAX, Recording
from manyhands.surfaces.api.picture.story import story_of
from manyhands.surfaces.review.review_page import as_page
from manyhands.surfaces.review.review_types import Review
from manyhands.surfaces.verbs.review_verbs import review_of_journal

#: A text of a review is cut to this.
TEXT_CHARACTERS_MAX = 20_000
#: The exit code of a process that has nothing to tell because there is no such run.
NOT_FOUND = 3
GZIP_LEVEL = 5

_encode = msgspec.json.encode


class OfflineRequest(Struct):
    what: str  # recording, html, trace, log, review, story or past
    where: str
    is_directory: bool
    run: str
    task: str = ""
    gzip: bool = False
    secrets: tuple[str, ...] = ()
    events_max: int = EVENTS_MAX
    until_seq: int = 0  # of the past: the last event that belongs to it
    directory: str = ""  # of the review: where attempts left their files
    at: float = 0.0  # of the review: now


def answer(wanted: OfflineRequest) -> Iterator[bytes]:
    """The answer, piece by piece; no piece at all if there is no such run."""
    secrets = Secrets({})
    secrets.know(wanted.secrets)
    if wanted.what == "review":
        yield from _reviewed(wanted, secrets.redact)
        return
    with closing(open_reader(Path(wanted.where) if wanted.is_directory else wanted.where)) as reader:
        if wanted.what == "story":
            yield _encode(told_story(reader.read(), wanted, secrets.redact))
            return
        if wanted.what == "past":
            yield _encode(_past(reader.read(), wanted))
            return
        pieces = recorded(Recording(reader.read(), wanted.run, secrets.redact))
        if wanted.what == "recording":
            yield from pieces
            return
        whole = b"".join(pieces)
        if whole and wanted.what == "log":
            from manyhands.surfaces.api.picture.lane_log import lane_log

            yield from (_encode(line) + b"\n" for line in lane_log(msgspec.json.decode(whole)))
        elif whole and wanted.what == "trace":
            from manyhands.surfaces.api.picture.trace import trace_of

            yield _encode(trace_of(msgspec.json.decode(whole)))
        elif whole:
            from manyhands.surfaces.page.inlining import single_page

            yield single_page(whole.decode()).encode()


def _reviewed(wanted: OfflineRequest, redact: Redact) -> Iterator[bytes]:
    where = Path(wanted.where) if wanted.is_directory else wanted.where
    review = review_of_journal(where, Path(wanted.directory), wanted.run, wanted.at)
    if review is not None:
        plain = within(msgspec.to_builtins(review), redact, TEXT_CHARACTERS_MAX)
        yield as_page(msgspec.convert(plain, Review)).encode()


def _past(journal: Iterable[tuple[int, AnyEvent]], wanted: OfflineRequest) -> Past:
    with closing(open_series(Path(wanted.where) if wanted.is_directory else wanted.where)) as series:
        return past_of(journal, wanted.until_seq, series.read())


def told_story(journal: Iterable[tuple[int, AnyEvent]], wanted: OfflineRequest, redact: Redact) -> Story:
    """The story of a task, as far as the first `events_max` events of the journal tell it."""
    events = (event for _, event in journal)
    told = story_of(islice(events, wanted.events_max), wanted.run, wanted.task, redact)
    story = [StoryLine(at, text) for at, text in told]
    return Story(story, truncated=next(events, None) is not None)


def recorded(recording: Recording) -> Iterator[bytes]:
    """The recording as JSON, piece by piece. Every frame is a line, so that a page can play before it has the last."""
    first = recording.snapshot()
    if first is None:
        return
    yield b'{"run":%b,"snapshot":%b,"frames":[\n' % (_encode(recording.run), _encode(first))
    comma = b""
    for frame in recording.frames():
        yield comma + _encode(frame)
        comma = b",\n"
    yield b'\n],"truncated":%b}' % (b"true" if recording.truncated else b"false")


def write(pieces: Iterable[bytes], out: IO[bytes]) -> bool:
    """Whether there were any pieces."""
    some = False
    for piece in pieces:
        out.write(piece)
        some = True
    return some


def main() -> None:
    wanted = msgspec.convert(json.load(sys.stdin), OfflineRequest)
    out: IO[bytes] = sys.stdout.buffer
    pieces = answer(wanted)
    first = next(pieces, None)
    if first is None:
        sys.exit(NOT_FOUND)
    if wanted.gzip:
        out = cast(Any, gzip.GzipFile(fileobj=out, mode="wb", compresslevel=GZIP_LEVEL, mtime=0))
    out.write(first)
    write(pieces, out)
    out.close()


if __name__ == "__main__":
    main()
