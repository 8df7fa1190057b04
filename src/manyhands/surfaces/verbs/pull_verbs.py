"""Agents that come by themselves: ask for a task, say how it goes, hand it in or give it back, and reserve files.

The same functions serve a live dispatcher and another process that leaves requests in the store.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar, assert_never

from msgspec import Struct

from manyhands.core import pulling
from manyhands.core.book import Book
from manyhands.core.events import Input, LeaseRenewed, RunOpened, RunResumed, TasksSubmitted, WorkHandedIn, WorkWanted
from manyhands.core.placement import matches
from manyhands.core.state import AttemptRecord, HostState, Record
from manyhands.core.values.ending import Ending, EndingKind, Note
from manyhands.core.values.provenance import Origin, Purpose
from manyhands.core.values.task import Claims, Task
from manyhands.core.wishes import is_pulled
from manyhands.engine.request_checks import why_not_used
from manyhands.errors import Conflict, UnknownHost, UsageError
from manyhands.readers.name_rules import is_good_name
from manyhands.surfaces.verbs.pull_answers import (
    HeldWork,
    LeaseReport,
    NextWork,
    WorkTaken,
    held_work,
    taken,
    unfinished_for,
)
from manyhands.surfaces.verbs.store_view import RESERVED_RUN

LinkedValue = TypeVar("LinkedValue")

#: An agent waits for a task this long at most in one call. Then it asks again.
WAIT_MAX_S = 600.0
#: A wish must live long enough to be decided on.
WISH_MIN_S = 1.0
#: How long the answer to a hand-in waits for the ending. A check may take longer.
ENDING_WAIT_S = 10.0
DETAIL_CHARACTERS_MAX, RESULT_CHARACTERS_MAX, NOTES_MAX = 500, 20_000, 50


def may_say(kind: EndingKind) -> bool:
    """Is it for an agent to say that its attempt ended like this?"""
    match kind:
        case EndingKind.DONE | EndingKind.FAILED | EndingKind.OVERLOADED:
            return True
        case EndingKind.TIMED_OUT | EndingKind.CANCELLED | EndingKind.PREEMPTED | EndingKind.LOST:
            return False
        case _:
            assert_never(kind)


#: For schemas and messages.
ENDINGS = tuple(str(kind) for kind in EndingKind if may_say(kind))


class WorkLink(Protocol):
    """A dispatcher as an agent reaches it."""

    @property
    def book(self) -> Book: ...

    @property
    def now(self) -> float: ...

    async def submit(self, *events: Input) -> None:
        """Returns when the events are on disk and the book has them."""

    async def until(self, find: Callable[[], LinkedValue | None], seconds: float) -> LinkedValue | None:
        """What it finds in the book, now or within so many seconds."""


class UsageSaid(Struct, frozen=True):
    """What the agent has used for this attempt so far."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None

    def check(self) -> None:
        if why := why_not_used(self.tokens_in, self.tokens_out, self.cost):
            raise UsageError(why, "leave it out if you do not know it")


async def next_work(
    link: WorkLink, puller: str, host_name: str | None, kinds: Sequence[str], wait_s: float
) -> NextWork:
    """The task that the agent holds, or the next one for it. It waits for one that may start."""
    host = _host(link.book, host_name)
    _check_name(puller)
    wait_s = min(wait_s, WAIT_MAX_S)
    wish = WorkWanted(link.now, host.name, puller, link.now + max(wait_s, WISH_MIN_S), tuple(kinds))
    held = await _wait_for(link, host, wish, wait_s)
    left = unfinished_for(link.book.hosts.get(host.name, host), link.book)
    return NextWork(held, left, "" if held is not None else _why_none(host, left))


async def _wait_for(link: WorkLink, host: HostState, wish: WorkWanted, wait_s: float) -> HeldWork | None:
    def find() -> HeldWork | None:
        here = link.book.hosts.get(host.name)
        running = None if here is None else pulling.held_by(here, wish.puller)
        return None if running is None else held_work(running, link.book.runs[running.record.run].about)

    if (held := find()) is not None:
        return held
    await link.submit(wish)
    if (held := await link.until(find, wait_s)) is not None:
        return held
    await link.submit(WorkWanted(link.now, host.name, wish.puller, 0.0, run=wish.run, task=wish.task))
    return find()  # it may have come at the last moment


def _why_none(host: HostState, left: int) -> str:
    if host.paused is not None:
        return f"{host.name} is paused: {host.paused}"
    if not left:
        return f"all tasks for {host.name} are finished"
    return f"none of the {left} unfinished tasks for {host.name} may start now; `task_explain` says why one waits"


async def report_work(link: WorkLink, token: int, puller: str, progress: str, usage: UsageSaid) -> LeaseReport:
    """Renew the lease. The answer says until when, and whether the agent must stop."""
    usage.check()
    _check_lease(link.book, token, puller)
    said = one_line(progress)
    await link.submit(LeaseRenewed(link.now, token, puller, said, usage.tokens_in, usage.tokens_out, usage.cost))
    _check_lease(link.book, token, puller)
    running = link.book.running[token]
    assert running.lease is not None
    stop = "" if running.stop_why is None else f"{running.stop_why}: {running.stop_detail}"
    return LeaseReport(token, running.lease.until, stop)


async def finish_work(
    link: WorkLink,
    token: int,
    puller: str,
    kind: EndingKind,
    detail: str,
    result: str,
    usage: UsageSaid,
    notes: Sequence[Note],
) -> WorkTaken:
    """Hand the work in. It is refused if the lease has run out, because the task may be in other hands by now."""
    if not may_say(kind):
        raise UsageError(f"an agent cannot end an attempt as `{kind}`", f"say {', '.join(ENDINGS)}, or release it")
    usage.check()
    ending = Ending(
        kind,
        one_line(detail),
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost=usage.cost,
        result=result[:RESULT_CHARACTERS_MAX],
        notes=tuple(notes[:NOTES_MAX]),
    )
    return await _hand_in(link, token, puller, ending)


async def release_work(link: WorkLink, token: int, puller: str, why: str) -> WorkTaken:
    """Give the task back. It costs the task no attempt. What was reserved is free again."""
    detail = one_line(why)
    running = link.book.running.get(token)
    is_reservation = running is not None and running.record.origin is Origin.RESERVED
    return await _hand_in(
        link, token, puller, Ending(EndingKind.DONE if is_reservation else EndingKind.PREEMPTED, detail)
    )


async def _hand_in(link: WorkLink, token: int, puller: str, ending: Ending) -> WorkTaken:
    found = _attempt(link.book, token)
    if found is not None and _is_recorded(*found, puller, ending):
        return taken(*found)  # the answer to an earlier call was lost
    record = _check_lease(link.book, token, puller)
    await link.submit(WorkHandedIn(link.now, token, puller, ending))

    def ended() -> WorkTaken | None:
        tried = _tried(record, token)
        return None if tried is None or tried.ending is None else taken(record, tried)

    known = await link.until(ended, ENDING_WAIT_S)
    running = link.book.running.get(token)
    if running is not None and running.lease is not None and running.lease.handed_in is None:
        raise _refused(link.book, token, puller)
    tried = _tried(record, token)
    if tried is not None and tried.ending is not None and tried.ending.kind is EndingKind.LOST:
        raise _refused(link.book, token, puller)
    assert tried is not None
    return known or taken(record, tried)


async def reserve_files(
    link: WorkLink, puller: str, host_name: str | None, claims: Claims, why: str, wait_s: float
) -> NextWork:
    """Hold files for work that is in no plan. It is an attempt like any other, and waits until they are free."""
    host = _host(link.book, host_name)
    _check_name(puller)
    if not (claims.write or claims.append or claims.read):
        raise UsageError("nothing is named that could be reserved", 'name paths, for example `write`: ["src/auth/**"]')
    if pulling.held_by(host, puller) is not None:
        raise Conflict(f"agent `{puller}` holds a task already", "finish or release it first, or use another name")
    wait_s = min(wait_s, WAIT_MAX_S)
    now = link.now
    id = f"{puller}-{now:.3f}"
    text = why or f"reserved by {puller}"
    task = Task(id, _kind_for(host), text[:200], prompt=text, claims=claims, host=host.name, once=True, attempts=1)
    run = link.book.runs.get(RESERVED_RUN)
    opening: list[Input] = [RunOpened(now, RESERVED_RUN, purpose=Purpose.HAND)]
    if run is not None and run.draining:
        opening.append(RunResumed(now, RESERVED_RUN))
    await link.submit(*opening, TasksSubmitted(now, RESERVED_RUN, (task,), Origin.RESERVED))
    wish = WorkWanted(now, host.name, puller, now + max(wait_s, WISH_MIN_S), run=RESERVED_RUN, task=id)
    held = await _wait_for(link, host, wish, wait_s)
    why_not = "" if held is not None else "others use these files; `task_list` says who runs"
    return NextWork(held, unfinished_for(host, link.book), why_not)


def one_line(text: str) -> str:
    return " ".join(text.split())[:DETAIL_CHARACTERS_MAX]


def _kind_for(host: HostState) -> str:
    """A kind that the host takes, for what is of no kind."""
    if matches(RESERVED_RUN, host.host.kinds):
        return RESERVED_RUN
    return host.host.kinds[0].replace("*", "").replace("?", "") or RESERVED_RUN


def _host(book: Book, name: str | None) -> HostState:
    pulled = [host for host in book.hosts.values() if is_pulled(host) and not host.is_gone]
    names = ", ".join(host.name for host in pulled)
    if name is not None:
        found = next((host for host in pulled if host.name == name), None)
        if found is None:
            hint = f"the hosts that agents come to: {names}" if names else 'add `[hosts.agents]` with `type = "pull"`'
            raise UnknownHost(f"there is no host `{name[:100]}` that agents come to", hint)
        return found
    if not pulled:
        raise UnknownHost(
            "no host is there for agents that come by themselves", 'add `[hosts.agents]` with `type = "pull"`'
        )
    if len(pulled) > 1:
        raise UsageError(f"there are several hosts that agents come to: {names}", "name the one that you work for")
    return pulled[0]


def _check_name(puller: str) -> None:
    if not is_good_name(puller):
        raise UsageError(
            f"`{puller[:100]}` cannot be the name of an agent", "letters, digits and dashes, and no blanks"
        )


def _attempt(book: Book, token: int) -> tuple[Record, AttemptRecord] | None:
    for run in reversed(book.runs.values()):
        for record in run.records.values():
            if (tried := _tried(record, token)) is not None:
                return record, tried
    return None


def _tried(record: Record, token: int) -> AttemptRecord | None:
    return next((tried for tried in record.history or () if tried.attempt == token), None)


def _is_recorded(record: Record, tried: AttemptRecord, puller: str, ending: Ending) -> bool:
    return tried.puller == puller and tried.ending is not None and tried.ending.kind is ending.kind


def _check_lease(book: Book, token: int, puller: str) -> Record:
    if pulling.valid_lease(book, token, puller) is None:
        raise _refused(book, token, puller)
    return book.running[token].record


def _refused(book: Book, token: int, puller: str) -> Conflict:
    """Why the agent may not speak for this attempt any more, or never might."""
    found = _attempt(book, token)
    another = "ask for the next task"
    if found is None or not found[1].puller:
        return Conflict(f"no lease has the token {token}", another)
    record, tried = found
    what = f"attempt {token} at task `{record.task.id}`"
    if tried.puller != puller:
        return Conflict(f"{what} is in the hands of `{tried.puller}`, not of `{puller}`", another)
    if tried.ending is not None:
        why = f" ({tried.ending.detail})" if tried.ending.detail else ""
        return Conflict(f"{what} has ended as {tried.ending.kind}{why}; nothing more is taken for it", another)
    running = book.running.get(token)
    if running is not None and running.lease is not None and running.lease.handed_in is not None:
        return Conflict(f"the work of {what} was handed in before", another)
    return Conflict(f"the lease of {what} has run out; nothing more is taken for it", another)
