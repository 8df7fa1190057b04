"""What the live picture shows, in as many lines and columns as the terminal has: a function of the book."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Group
from rich.text import Text

from manyhands.core.book import Book
from manyhands.core.obstacles import hold_of
from manyhands.core.state import HostState, Run, Running
from manyhands.core.values.task import TERMINAL, TaskState
from manyhands.surfaces.api.picture.idle import Forms, why_idle
from manyhands.surfaces.cli.happenings import Happened, Tone, after
from manyhands.surfaces.cli.printing import counted, duration
from manyhands.surfaces.cli.terminal_text import for_terminal
from manyhands.surfaces.review.spending import money
from manyhands.surfaces.verbs.host_verbs import width_reason

#: Columns for all of a lane's row but its bar.
_BESIDE_BAR = 64
BAR_MIN, BAR_MAX = 8, 24
_HOST_MAX = _KIND_MAX = 12
LANES_MAX = 8
LATEST_MAX = 5
#: Colour never says anything alone.
COLOURS = {Tone.GOOD: "green", Tone.BAD: "bold red", Tone.WAITS: "yellow", Tone.PLAIN: "cyan"}


class LiveSight(NamedTuple):
    """All that one picture is made of."""

    book: Book
    run: Run
    now: float
    running: Sequence[Running]  # the oldest first
    said: Mapping[int, str]  # attempt → the last line it printed
    latest: Sequence[Happened]
    forms: Forms
    rate: float  # tasks a second
    left_s: float | None


def draw(sight: LiveSight, columns: int, lines: int) -> Group:
    """At most `lines - 1` lines: one more would scroll the terminal."""
    room = max(4, lines - 1)
    parts = [*_header(sight, columns)]
    lanes = [*_lanes(sight.book, columns, running=True)]
    parts += _cut(lanes, min(1 + LANES_MAX, max(2, room // 3)), "lanes")
    parts += [*_whys(sight)][: max(1, room // 6)]
    left = room - len(parts)
    wanted = _noted(sight.latest, min(LATEST_MAX, (left - 3) // 2)) if left >= 6 else []
    latest = [drawn_event(sight.run, one) for one in wanted]
    attempts = [_attempt(one, sight, columns) for one in sight.running]
    for_attempts = left - (len(latest) + 1 if latest else 0)
    if attempts and for_attempts >= 2:
        parts += [_title("IN FLIGHT", columns), *_cut(attempts, for_attempts - 1, "attempts")]
    if latest:
        parts += [_title("LATEST", columns), *latest]
    for part in parts:
        part.truncate(columns, overflow="ellipsis")
        part.no_wrap = True
    return Group(*parts[:room])


def _noted(latest: Sequence[Happened], room: int) -> list[Happened]:
    """The latest, but not only successes: what is out of the ordinary keeps most of the room for a while."""
    places = range(len(latest))
    odd = [n for n in places if latest[n].tone is not Tone.GOOD][-(room - room // 3) :]
    plain = [n for n in reversed(places) if n not in odd][: room - len(odd)]
    return [latest[n] for n in sorted([*odd, *plain])]


def final_lanes(book: Book) -> Group:
    return Group(*_lanes(book, 80, running=False))


def drawn_event(run: Run, one: Happened) -> Text:
    line = Text(f"{after(run, one.at):>8}  ")
    line.append(f"{one.what:<10} ", COLOURS[one.tone])
    line.append(f"{_plain(one.name)}  ")
    line.append(_plain(one.text), "" if one.tone is Tone.BAD else "dim")
    line.no_wrap = True
    return line


def _header(sight: LiveSight, columns: int) -> Iterator[Text]:
    run, total = sight.run, len(sight.run.records)
    finished = sum(run.counts[state] for state in TERMINAL)
    line = Text()
    line.append(_plain(run.name), "bold")
    line.append(f"  {duration(sight.now - run.bounded_at)}  ")
    told = [f"{finished:,} of {total:,}"]
    if sight.rate:
        told.append(pace(sight.rate))
    if run.draining:
        told.append("stopping")
    elif sight.left_s is not None:
        told.append(f"about {duration(sight.left_s)} left")
    if run.cost:
        told.append(f"cost {money(run.cost)}" + (f" of {money(run.max_cost)}" if run.max_cost is not None else ""))
    behind = "  " + " · ".join(told)
    cells = max(4, columns - len(line) - len(behind))
    bad = run.counts[TaskState.FAILED] + run.counts[TaskState.SKIPPED] + run.counts[TaskState.CANCELLED]
    done_cells, bad_cells = _shares(cells, total, run.counts[TaskState.DONE], bad)
    line.append("━" * done_cells, "green")
    line.append("━" * bad_cells, "red")
    line.append("─" * (cells - done_cells - bad_cells), "dim")
    line.append(behind)
    yield line
    yield Text(f"{counted({str(state): n for state, n in run.counts.items()})}")


def _shares(cells: int, total: int, *parts: int) -> list[int]:
    """Cells of a bar, rounded down, but at least one for what is not nothing."""
    return [min(cells, max(1 if part else 0, cells * part // total)) for part in parts]


def _lanes(book: Book, columns: int, running: bool) -> Iterator[Text]:
    bar_cells = max(BAR_MIN, min(BAR_MAX, columns - _BESIDE_BAR))
    rows = [
        (host, kind) for host in book.hosts.values() for kind in sorted(host.lanes) if host.lanes[kind].peak
    ]  # what never ran is not shown
    if not rows:
        return
    host_width = min(_HOST_MAX, max(4, *(len(host.name) for host, _ in rows)))
    kind_width = min(_KIND_MAX, max(4, *(len(kind) for _, kind in rows)))
    width_title = f"{'WIDTH':<{bar_cells + 12}}" if running else f"{'WIDTH':<7}"
    columns_after = f"{'USUAL':>7}  {'RATE':>8}" if running else f"{'PEAK':>5}  {'USUAL':>7}"
    yield Text(f"{'HOST':<{host_width}}  {'KIND':<{kind_width}}  {width_title}{columns_after}", "bold")
    for host, kind in rows:
        lane = host.lanes[kind]
        line = Text(f"{_fit(host.name, host_width)}  {_fit(kind or '–', kind_width)}  ")
        usual = "" if lane.usual_s is None else duration(lane.usual_s)
        if running:
            line.append_text(_bar(host, kind, bar_cells))
            rate = pace(lane.in_flight / lane.usual_s) if lane.usual_s and lane.in_flight else "–"
            line.append(f"{usual:>7}  {rate:>8}")
        else:
            line.append(f"{_width(host, kind):<7}{lane.peak:>5}  {usual:>7}")
        yield line


def _bar(host: HostState, kind: str, cells: int) -> Text:
    """Filled slots are used by this lane, shaded ones by other lanes of the host, and empty ones are free."""
    width = _width(host, kind)
    mine = host.lanes[kind].in_flight
    others = min(len(host.running) - mine, max(0, width - mine))
    free = max(0, width - mine - others)
    slots = mine + others + free
    if slots > cells:  # nobody can count so many: shares of the bar instead
        filled, shaded = _shares(cells, slots, mine, others)
        shaded = min(shaded, cells - filled)
        parts = (filled, shaded, cells - filled - shaded)
    else:
        parts = (mine, others, free)
    bar = Text().append("█" * parts[0], "yellow" if host.paused is not None else "green")
    bar.append("▒" * parts[1] + "░" * parts[2], "dim")
    bar.append(f" {mine} of {width}")
    if host.paused is not None:
        bar.append(" paused", "yellow")
    bar.truncate(cells + 12, pad=True)
    return bar


def _width(host: HostState, kind: str) -> int:
    lane = host.lanes[kind]
    return host.width if lane.width is None else min(host.width, lane.width)


def _whys(sight: LiveSight) -> Iterator[Text]:
    """Why each host is not wider, or not full."""
    runs = [run for run in sight.book.runs.values() if run.unfinished]
    for host in sight.book.hosts.values():
        is_held = hold_of(host) is not None
        if not is_held and not any(lane.peak for lane in host.lanes.values()):
            continue
        free = host.width - len(host.running)
        line = Text(f"{_fit(host.name, min(_HOST_MAX, len(host.name)))}: ", "dim")
        if host.paused is not None:
            left = "" if host.paused_until is None else f", {duration(max(0.0, host.paused_until - sight.now))} left"
            line.append(_plain(f"paused{left}: {host.paused}"), "yellow")
        elif free > 0:
            (_, detail, _), _ = why_idle(sight.book, host, runs, sight.forms)
            line.append(_plain(f"{free} free: {detail}"), "dim")
        else:
            line.append(_plain(f"full at {host.width}: {width_reason(host)}"), "dim")
        yield line


def _attempt(one: Running, sight: LiveSight, columns: int) -> Text:
    name = f"{one.record.task.id}#{len(one.record.history or ())}"
    line = Text("  ")
    line.append(_fit(name, 24 if columns < 100 else 32), "cyan")
    line.append(f"  {_fit(one.host.name, 8)} {duration(sight.now - one.started_at):>7}  ")
    said = sight.said.get(one.attempt, "")
    task = one.record.task
    line.append(_plain(said or task.title or task.prompt[:200]), "" if said else "dim")
    return line


def _title(text: str, columns: int) -> Text:
    return Text(f"── {text} " + "─" * max(0, columns - len(text) - 4), "dim")


def _cut(lines: list[Text], room: int, what: str) -> list[Text]:
    if len(lines) <= room:
        return lines
    return [*lines[: room - 1], Text(f"  … {len(lines) - room + 1:,} more {what}", "dim")]


def _fit(text: str, cells: int) -> str:
    plain = _plain(text)
    return set_cell_size(plain, cells) if cell_len(plain) <= cells else set_cell_size(plain, cells - 1) + "…"


def _plain(text: str) -> str:
    """What a task or a program wrote, on one line, without what a terminal would obey."""
    return for_terminal(" ".join(text.split()))


def pace(per_s: float) -> str:
    """1,234/s, 8.7/s, 3.2/min or 1.5/h: the unit in which the number is easy to picture."""
    for unit, size in (("s", 1), ("min", 60), ("h", 3600)):
        if per_s * size >= 1 or unit == "h":
            break
    return f"{per_s * size:,.{0 if per_s * size >= 10 else 1}f}/{unit}"
