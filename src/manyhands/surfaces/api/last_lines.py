"""The last line that each running attempt printed. It is read twice a second while anybody watches."""

import asyncio
from pathlib import Path

from manyhands.surfaces.api.feed import Feed
from manyhands.surfaces.api.picture.picture_rows import Redact
from manyhands.surfaces.verbs.attempt_output import output_path
from manyhands.surfaces.verbs.task_report import last_lines

EVERY_S = 0.5
LINE_CHARACTERS_MAX = 200
#: More than anyone reads. Beyond it, only the attempts that started last are looked at.
ATTEMPTS_MAX = 200

#: attempt → its file, and its size when it was last looked at
Looked = dict[int, tuple[Path, int]]


async def tell_outputs(feed: Feed, directory: Path, redact: Redact) -> None:
    """Runs until it is cancelled."""
    known: Looked = {}
    while True:
        await asyncio.sleep(EVERY_S)
        feed.look_alive()
        if not feed.followers:
            known = {}
            continue
        bars = list(feed.picture.bars.in_flight.values())[-ATTEMPTS_MAX:]
        looking: Looked = {}
        for bar in bars:
            attempt = bar.tried.attempt
            path = output_path(directory, bar.record.run, bar.record.task.id, bar.number)
            looking[attempt] = known.get(attempt, (path, 0))
        known, lines = await asyncio.to_thread(_look, looking)
        for attempt, text in lines.items():
            line = next((one for one in reversed(text.splitlines()) if one.strip()), "")
            if line:
                feed.tell_output(attempt, redact(line.strip())[:LINE_CHARACTERS_MAX])


def _look(looking: Looked) -> tuple[Looked, dict[int, str]]:
    """The sizes of the files now, and the last lines of those that have grown."""
    now: Looked = {}
    lines: dict[int, str] = {}
    for attempt, (path, was) in looking.items():
        try:
            size = path.stat().st_size
        except OSError:
            size = 0
        if size != was:
            lines[attempt] = last_lines(path)
        now[attempt] = (path, size)
    return now, lines
