"""The last line that each running attempt printed, and what it says that it does. Both are read twice a second while
anybody watches."""

import asyncio
from pathlib import Path
from typing import NamedTuple

from manyhands.hosts.agents.agent_words import doing_line
from manyhands.hosts.executors.live_facts import LiveFacts, read_live
from manyhands.surfaces.api.feed import Feed
from manyhands.surfaces.api.picture.picture_rows import PictureRow, Redact
from manyhands.surfaces.verbs.attempt_output import output_path
from manyhands.surfaces.verbs.task_report import last_lines

EVERY_S = 0.5
LINE_CHARACTERS_MAX = 200
#: More than anyone reads. Beyond it, only the attempts that started last are looked at.
ATTEMPTS_MAX = 200


class Looked(NamedTuple):
    """The output of an attempt, with its size and what it did when it was last looked at."""

    path: Path
    size: int = 0
    live: LiveFacts | None = None


async def tell_outputs(feed: Feed, directory: Path, redact: Redact) -> None:
    """Runs until it is cancelled."""
    known: dict[int, Looked] = {}
    told = 0  # followers
    while True:
        await asyncio.sleep(EVERY_S)
        feed.look_alive()
        told, had = feed.followers, told
        if told > had or not told:  # a new follower knows nothing yet
            known = {}
        if not told:
            continue
        bars = list(feed.picture.bars.in_flight.values())[-ATTEMPTS_MAX:]
        looking: dict[int, Looked] = {}
        for bar in bars:
            attempt = bar.tried.attempt
            path = output_path(directory, bar.record.run, bar.record.task.id, bar.number)
            looking[attempt] = known.get(attempt, Looked(path))
        before, (known, lines) = known, await asyncio.to_thread(_look, looking)
        for attempt, one in known.items():
            if one.live is not None and (attempt not in before or before[attempt].live != one.live):
                feed.tell_live(attempt, _row(one.live, redact))
        for attempt, text in lines.items():
            line = next((one for one in reversed(text.splitlines()) if one.strip()), "")
            if line:
                feed.tell_output(attempt, _safe(line, redact))


def _safe(line: str, redact: Redact) -> str:
    return redact(line.strip())[:LINE_CHARACTERS_MAX]


def _row(live: LiveFacts, redact: Redact) -> PictureRow:
    return {
        "does": redact(live.does)[:LINE_CHARACTERS_MAX],
        "line": _safe(doing_line(live.does), redact),  # a last line that is the same says nothing more
        "tokens": live.tokens_in + live.tokens_out,
        "cost": live.cost,
        "alive_at": live.alive_at,
    }


def _look(looking: dict[int, Looked]) -> tuple[dict[int, Looked], dict[int, str]]:
    """The attempts as they are now, and the last lines of those that have printed more."""
    now: dict[int, Looked] = {}
    lines: dict[int, str] = {}
    for attempt, (path, was, _) in looking.items():
        try:
            size = path.stat().st_size
        except OSError:
            size = 0
        if size != was:
            lines[attempt] = last_lines(path)
        now[attempt] = Looked(path, size, read_live(path.parent))
    return now, lines
