"""From a journal to the review of one of its runs."""

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent
from manyhands.core.scheduler import Scheduler
from manyhands.core.state import AttemptRecord, Record, Run
from manyhands.core.values.about import About
from manyhands.core.values.ending import EndingKind, total_cost
from manyhands.core.values.task import TERMINAL, TaskState
from manyhands.engine.observed_peaks import peaks
from manyhands.engine.run_opening import told_source
from manyhands.quantities import how_many_were, quantity
from manyhands.surfaces.review.epic_part import part_below
from manyhands.surfaces.review.moments import Moments, told_once
from manyhands.surfaces.review.review_types import Goal, HostShare, Moment, OpenQuestion, Review, RunOutcome
from manyhands.surfaces.review.spending import spending
from manyhands.surfaces.review.task_notes import notes_of
from manyhands.surfaces.review.task_tree import tree_of

#: People read a review: beyond this many entries it gives counts, and the journal has the rest.
DECISIONS_MAX = 500
QUESTIONS_MAX = 200
NOTES_MAX = 200
_TAIL_LINES = 5

_MOST_URGENT_FIRST = (
    *(
        "needs_person",
        "failed",
        "undeclared writes",
        "not delivered",
        "unfinished",
        "deferred",
        "lost",
        "cancelled",
        "skipped",
    ),
)

#: (task, number of its attempt) → paths it wrote that none of its claims holds.
Undeclared = Callable[[str, int], list[str]]


def review_of(
    journal: Iterable[AnyEvent],
    run_name: str,
    now: float,
    undeclared: Undeclared = lambda task, number: [],
    epic: str = "",
) -> Review | None:
    """None if the journal has no such run."""
    return next(iter(reviews_of(journal, [run_name], now, lambda run: undeclared, epic=epic)), None)


def reviews_of(
    journal: Iterable[AnyEvent],
    names: Iterable[str],
    now: float,
    undeclared: Callable[[str], Undeclared],
    since: float = -math.inf,
    epic: str = "",
) -> list[Review]:
    """Of these runs, as they stand at the end of the journal. Decisions and notes are those made from `since` on.

    With an epic only of what is below it.
    """
    scheduler, moments = Scheduler(), {name: Moments(name) for name in names}
    followed = journal
    for each in moments.values():
        followed = each.follow(followed)
    scheduler.replay(followed)
    book = scheduler.book
    found: list[Review] = []
    for name, each in moments.items():
        if (run := book.runs.get(name)) is None:
            continue
        decisions = [one for one in told_once(each.kept, run.ended_at) if one.at >= since]
        if epic:
            run = part_below(run, epic)
            decisions = [one for one in decisions if one.who in run.records]
        found.append(_reviewed(book, run, decisions, now, undeclared(name), since, epic))
    return found


def _reviewed(
    book: Book, run: Run, decisions: list[Moment], now: float, undeclared: Undeclared, since: float, epic: str
) -> Review:
    questions = sorted([*_questions(run, undeclared), *_undelivered(book, run)], key=_urgency)
    notes = [note for note in notes_of(run) if note.at >= since]
    return Review(
        run.name,
        _goal(run),
        _outcome(book, run, now),
        _next_steps(book, run, questions),
        _most_telling(decisions),
        len(decisions),
        questions[:QUESTIONS_MAX],
        len(questions),
        tree_of(run.records, run.about.epics),
        notes[:NOTES_MAX],
        len(notes),
        epic,
    )


def _most_telling(decisions: list[Moment]) -> list[Moment]:
    """All decisions, or the first and the last if there are very many."""
    if len(decisions) <= DECISIONS_MAX:
        return decisions
    half = DECISIONS_MAX // 2
    return [*decisions[:half], *decisions[-half:]]


def _attempts(run: Run) -> list[tuple[Record, AttemptRecord]]:
    return [(record, tried) for record in run.records.values() for tried in record.history or ()]


def _goal(run: Run) -> Goal:
    wanted = [record.task for record in run.records.values() if not record.is_step]
    return Goal(
        told_source(run.purpose, run.source),
        run.opened_at,
        len(wanted),
        dict(Counter(task.kind for task in wanted).most_common()),
        dict(sorted(Counter(task.priority for task in wanted).items())),
        run.concurrency,
        tuple(sorted({tried.host for _, tried in _attempts(run)})),
        About(run.about.title, run.about.goal, run.about.description),
    )


def _outcome(book: Book, run: Run, now: float) -> RunOutcome:
    attempts = _attempts(run)
    until = run.ended_at if run.ended_at is not None else _came_to_rest(run, attempts, now)
    took_s = max(0.0, until - run.opened_at)
    busy_s = sum((tried.ended_at or now) - tried.started_at for _, tried in attempts)
    endings = [tried.ending for _, tried in attempts if tried.ending is not None]
    states = Counter(record.state for record in run.records.values() if not record.is_step)
    counts = {str(state): states[state] for state in TaskState if states[state]}
    return RunOutcome(
        states[TaskState.DONE] == states.total(),
        _headline(run),
        counts,
        dict(Counter(ending.word for ending in endings).most_common()),
        run.ended_at,
        took_s,
        run.peak,
        busy_s / took_s if took_s else 0.0,
        busy_s,
        sum(ending.tokens_in for ending in endings),
        sum(ending.tokens_out for ending in endings),
        total_cost(ending.cost for ending in endings),
        _shares(book, run, now),
    )


def _headline(run: Run) -> str:
    wanted = [record for record in run.records.values() if not record.is_step]
    done = sum(record.state is TaskState.DONE for record in wanted)
    if done == len(wanted):
        return "the task is done" if done == 1 else f"all {done:,} tasks are done"
    left = sum(record.state not in TERMINAL for record in wanted)
    undone = len(wanted) - done - left
    ended = f"{done:,} of {quantity(len(wanted), 'task')} {_be(len(wanted))} done, {undone:,} {_be(undone)} not"
    return f"unfinished: {ended}, {left:,} {_be(left)} left" if left else ended


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def _came_to_rest(run: Run, attempts: list[tuple[Record, AttemptRecord]], now: float) -> float:
    """The end of the last attempt, for a run that waits for a person."""
    if run.in_flight or run.counts[TaskState.READY] or run.counts[TaskState.BACKOFF]:
        return now
    return max((tried.ended_at for _, tried in attempts if tried.ended_at is not None), default=run.opened_at)


def _shares(book: Book, run: Run, now: float) -> list[HostShare]:
    shares: dict[str, list[AttemptRecord]] = {}
    for _, tried in _attempts(run):
        shares.setdefault(tried.host, []).append(tried)
    peak_of = peaks(run.records.values())
    return [
        HostShare(
            host,
            len(tried),
            sum(one.ending is not None and one.ending.kind is EndingKind.DONE for one in tried),
            peak_of[host],
            sum((one.ended_at or now) - one.started_at for one in tried),
            book.hosts[host].width if host in book.hosts else None,
            total_cost(one.ending.cost for one in tried if one.ending is not None),
        )
        for host, tried in sorted(shares.items())
    ]


def _questions(run: Run, undeclared: Undeclared) -> list[OpenQuestion]:
    found: list[OpenQuestion] = []
    for record in run.records.values():
        is_open = record.state is not TaskState.DONE and not record.is_step
        if is_open:
            what = (
                str(record.state)
                if record.state in (*TERMINAL, TaskState.DEFERRED, TaskState.NEEDS_PERSON)
                else "unfinished"
            )
            found.append(_question(run, record, what, record.cause.why or str(record.state)))
        history = record.history or ()
        written = (file for number in range(1, len(history) + 1) for file in undeclared(record.task.id, number))
        if strays := list(dict.fromkeys(written)):
            more = f" and {len(strays) - 5} more" if len(strays) > 5 else ""
            found.append(_question(run, record, "undeclared writes", ", ".join(strays[:5]) + more))
        for number, tried in enumerate(history, 1):
            if tried.ending is not None and tried.ending.kind is EndingKind.LOST:
                found.append(_question(run, record, "lost", f"attempt {number}: {tried.ending.detail}"))
    return found


def _undelivered(book: Book, run: Run) -> list[OpenQuestion]:
    """Results that a sink did not accept."""
    return [
        _question(run, run.records[letter.delivery.task], "not delivered", f"to {letter.delivery.sink}: {letter.error}")
        for letter in book.outbox.dead.values()
        if letter.delivery.run == run.name and letter.delivery.task in run.records
    ]


def _urgency(question: OpenQuestion) -> int:
    return _MOST_URGENT_FIRST.index(question.what)


def _question(run: Run, record: Record, what: str, why: str) -> OpenQuestion:
    history = record.history or []
    ending = record.last_ending
    tail = "\n".join((ending.tail or ending.result).splitlines()[-_TAIL_LINES:]) if ending is not None else ""
    spent_s = sum(tried.ended_at - tried.started_at for tried in history if tried.ended_at is not None)
    endings = [tried.ending for tried in history if tried.ending is not None]
    tokens = sum(ending.tokens_in + ending.tokens_out for ending in endings)
    spent = spending(spent_s, tokens, total_cost(ending.cost for ending in endings)) if history else ""
    log = f"manyhands task log {shlex.quote(record.task.id)} --run {shlex.quote(run.name)}" if history else ""
    return OpenQuestion(what, record.task.id, why, len(history), tail, log, spent)


def _next_steps(book: Book, run: Run, questions: list[OpenQuestion]) -> list[str]:
    steps: list[str] = []
    by_what: dict[str, list[str]] = {}
    for question in questions:
        by_what.setdefault(question.what, []).append(question.task)
    steps += [
        f"{host.name} is paused ({host.paused}): look at it, then `manyhands host resume {host.name}`"
        for host in book.hosts.values()
        if host.paused is not None and host.paused_until is None
    ]
    if waiting := by_what.get("needs_person"):
        steps.append(
            f"answer what {_some(waiting)} {'waits' if len(waiting) == 1 else 'wait'} for: see `manyhands inbox`"
        )
    if failed := by_what.get("failed"):
        skipped = len(by_what.get("skipped", ()))
        along = f"; this also retries what was skipped because of it ({skipped:,})" if skipped else ""
        steps.append(f"{_command('retry', failed)} once the cause is fixed{along}")
    if deferred := by_what.get("deferred"):
        steps.append(f"{_command('resume', deferred)} when it should run")
    if strays := by_what.get("undeclared writes"):
        steps.append(f"declare what {_some(strays)} really write: no claim names it, so other tasks may write it too")
    if letters := by_what.get("not delivered"):
        steps.append(
            f"{how_many_were(len(letters), 'result')} not delivered:"
            " `manyhands route resend --all` once the sink is fixed"
        )
    if left := by_what.get("unfinished"):
        steps.append(f"{quantity(len(left), 'task')} left: the command that began the run continues it")
    overloads = Counter(
        tried.host
        for _, tried in _attempts(run)
        if tried.ending is not None and tried.ending.kind is EndingKind.OVERLOADED
    )
    steps += [
        f"{host} refused {n} attempts: `manyhands tune {host}` measures what it can bear"
        for host, n in overloads.items()
        if n >= 5
    ]
    return steps or ["nothing: all tasks are done"]


def _command(verb: str, ids: list[str]) -> str:
    """A command that can be copied, and the other tasks it is for."""
    first, *others = dict.fromkeys(ids)
    more = f" and {len(others) - 5:,} more" if len(others) > 5 else ""
    return f"`manyhands task {verb} {first}`" + (f", likewise {', '.join(others[:5])}{more}," if others else "")


def _some(ids: list[str]) -> str:
    names = list(dict.fromkeys(ids))
    return names[0] if len(names) == 1 else f"{names[0]} … ({len(names)} tasks)"
