"""Where attempts run, how wide each host is and why, and what can be done to a host."""

from typing import Annotated

from msgspec import Meta, Struct

from manyhands.core.events import HostPaused, HostResumed, Input, WidthSet
from manyhands.core.quiet import clock_words, quiet_until
from manyhands.core.state import HostState, Lane
from manyhands.core.values.host import Host
from manyhands.errors import Conflict, UnknownHost, UsageError
from manyhands.readers.problems import did_you_mean
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.request_verbs import RequestKept, Wanted

#: No host can run more attempts at once, so a larger number is a mistake.
PINNED_MAX = 10_000
PinnedWidth = Annotated[
    int, Meta(ge=1, le=PINNED_MAX, description="the most attempts at once on this host; null: the clutch decides")
]


class LaneRow(Struct):
    """The attempts of one kind on one host."""

    lane: str  # kind@host
    host: str
    kind: str
    width: int
    in_flight: int
    peak: int
    usual_s: float | None  # how long a good attempt of the kind takes there
    success: float | None  # the share of attempts that are done
    why: str


class LaneList(Struct):
    lanes: list[LaneRow]


class HostRow(Struct):
    host: str
    takes: tuple[str, ...]  # what a task may bring: run, call, prompt
    kinds: tuple[str, ...]
    width: int | None  # None: not known before its first use
    pinned: int | None  # the width that a person or the config has set
    ceiling: int | None  # the largest width that the config allows
    in_flight: int
    peak: int
    paused: str | None  # why it takes nothing; None if it does
    paused_until: float | None
    workers: int | None  # model workers it should have; None: nothing scales them
    workers_why: str
    probe_trouble: str  # why its probe reads nothing; "" if it does
    why: str
    lanes: list[LaneRow]


class HostList(Struct):
    hosts: list[HostRow]


def list_hosts(view: BookView) -> HostList:
    """The hosts of the config, as the journal knows them."""
    seen = hosts_seen(view)
    return HostList([host_row(host, seen.get(host.name), view.now) for host in view.hosts])


def list_lanes(view: BookView) -> LaneList:
    return LaneList([lane for state in hosts_seen(view).values() for lane in lane_rows(state)])


def host_row(host: Host, state: HostState | None, at: float) -> HostRow:
    """`state` is None if the host has not been used yet."""
    return HostRow(
        host=host.name,
        takes=host.takes,
        kinds=host.kinds,
        width=state.width if state else host.width.start or host.width.max,
        pinned=_pinned(host, state),
        ceiling=host.width.max,
        in_flight=len(state.running) if state else 0,
        peak=state.peak if state else 0,
        paused=state.paused if state else None,
        paused_until=state.paused_until if state else None,
        workers=state.workers if state else None,
        workers_why=state.workers_why if state else "",
        probe_trouble=state.probe_trouble if state else "",
        why=_why(host, state, at),
        lanes=lane_rows(state) if state else [],
    )


def _why(host: Host, state: HostState | None, at: float) -> str:
    """What holds it comes before why it is so wide. Without a dispatcher nobody notes when quiet hours begin."""
    if (until := quiet_until(host.quiet, at)) is not None:
        return f"quiet until {clock_words(until)}"
    hold = None if state is None else state.budget_hold
    if hold is not None and (hold.until is None or hold.until > at):
        return str(hold) if hold.until is None else f"{hold}; it begins anew at {clock_words(hold.until)}"
    return "not used yet" if state is None else width_reason(state)


def width_reason(state: HostState) -> str:
    return state.reason if state.pinned is None else "set by a person"


def _pinned(host: Host, state: HostState | None) -> int | None:
    if state is not None and state.pinned is not None:
        return state.pinned
    return host.width.max if host.width.max is not None and host.width.min == host.width.max else None


def pinned_width(state: HostState) -> int | None:
    return _pinned(state.host, state)


def lane_rows(state: HostState) -> list[LaneRow]:
    return [_lane_row(state, kind, lane) for kind, lane in state.lanes.items()]


def _lane_row(state: HostState, kind: str, lane: Lane) -> LaneRow:
    is_bound = lane.width is not None
    return LaneRow(
        lane=f"{kind}@{state.name}",
        host=state.name,
        kind=kind,
        width=lane.width if lane.width is not None else state.width,
        in_flight=lane.in_flight,
        peak=lane.peak,
        usual_s=lane.usual_s,
        success=success_of(state, kind),
        why=lane.why if is_bound else state.reason,
    )


def success_of(state: HostState, kind: str) -> float | None:
    known = state.difficulty.kinds.get(kind) if state.difficulty is not None else None
    return known.success if known is not None and known.weight else None


def hosts_seen(view: BookView) -> dict[str, HostState]:
    """The hosts as the journal knows them; none if there is no journal yet."""
    book = view.book_if_any
    return book.hosts if book is not None else {}


def pause_host(view: BookView, name: str, why: str, until: float | None = None) -> Wanted[RequestKept]:
    _known(view, name)
    return _wanted(HostPaused(view.now, name, why, until), f"host {name} takes nothing more until it is resumed")


def resume_host(view: BookView, name: str) -> Wanted[RequestKept]:
    host = _known(view, name)
    if host is None or host.paused is None:
        raise Conflict(f"host `{name}` is not paused", "`manyhands host` lists the hosts and their state")
    return _wanted(HostResumed(view.now, name), f"host {name} takes tasks again")


def set_width(view: BookView, name: str, width: int | None) -> Wanted[RequestKept]:
    """None: the clutch decides again."""
    _known(view, name)
    if width is not None and not 1 <= width <= PINNED_MAX:
        raise UsageError(
            f"the width of host `{name}` must be from 1 to {PINNED_MAX:,}, got {width:,}",
            "leave the width out to let the clutch decide",
        )
    to = "is free again: the clutch decides" if width is None else f"is {width}"
    return _wanted(WidthSet(view.now, name, width), f"the width of {name} {to}")


def _known(view: BookView, name: str) -> HostState | None:
    """The host as the journal knows it; None if it has not been used yet."""
    seen = hosts_seen(view)
    names = [host.name for host in view.hosts]
    if name not in names:
        if name in seen:
            raise Conflict(f"host `{name}` is no longer in the config", "it takes nothing as it is")
        hint = did_you_mean(name, names) or f"the hosts are {', '.join(names)}"
        raise UnknownHost(f"there is no host `{name[:100]}`", hint)
    return seen.get(name)


def _wanted(event: Input, done: str) -> Wanted[RequestKept]:
    later = f"{done}; this takes effect with the next `manyhands run` or `manyhands serve`"
    return Wanted([event], lambda heard: RequestKept(done if heard else later, heard))
