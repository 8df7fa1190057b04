"""How tasks come in, wait for each other, and leave without being run: needs, skips, cancels, second goes."""

from typing import assert_never

from manyhands.core.book import Book
from manyhands.core.commands import StopAttempt
from manyhands.core.events import StopDecided
from manyhands.core.state import Record, Run
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import TERMINAL, Task, TaskState, is_step

#: A chain is told to its needs this many steps up at most; beyond, the order no longer gains from it.
CHAIN_STEPS_MAX = 100_000

#: Why a task is put off.
BY_A_PERSON = "deferred by a person"
WITH_ITS_FAMILY = "waits to be done with its family"


def submit(book: Book, run: Run, tasks: tuple[Task, ...]) -> None:
    """Take tasks in. One that is there already stays as it is: submitting twice is submitting once."""
    new: list[Record] = []
    for task in tasks:
        if task.id in run.records:
            continue
        book.last_number += 1
        record = Record(task, run.name, book.last_number, since=book.at)
        book.enter(record)
        for waiting in run.awaited.pop(task.id, ()):
            hang_on(record, waiting)
        new.append(record)
    for record in new:
        _link(run, record)
    _lengthen_chains(run, new)
    for record in new:
        if record.state is TaskState.BLOCKED:  # else skipped with an earlier one of this batch
            _place(book, run, record)
    if new:
        book.touch(run)


def _link(run: Run, record: Record) -> None:
    """Tie the task to its needs; those that come in a later batch tie themselves to it."""
    for need in record.task.needs:
        needed = run.records.get(need)
        if needed is None:
            run.awaited.setdefault(need, []).append(record)
        elif needed.state is not TaskState.DONE:
            hang_on(needed, record)
        else:
            continue
        record.waits_for += 1


def hang_on(needed: Record, record: Record) -> None:
    if needed.dependents is None:
        needed.dependents = []
    needed.dependents.append(record)


def _lengthen_chains(run: Run, new: list[Record]) -> None:
    # Plans mostly list needs before what needs them: backwards, each is seen after its dependents.
    changed: list[Record] = []
    for record in reversed(new):
        longest = 1.0 + max((d.chain for d in record.dependents or ()), default=0.0)
        if longest > record.chain:
            record.chain = longest
        if record.task.needs:
            changed.append(record)
    steps = 0
    while changed and steps < CHAIN_STEPS_MAX:
        record = changed.pop()
        for need in record.task.needs:
            steps += 1
            needed = run.records.get(need)
            if needed is not None and needed.chain < record.chain + 1.0:
                needed.chain = record.chain + 1.0
                changed.append(needed)


def _place(book: Book, run: Run, record: Record) -> None:
    """Where a task stands when it comes in or comes back: skipped, deferred, blocked or ready."""
    for need in record.task.needs:
        needed = run.records.get(need)
        if needed is not None and needed.state in TERMINAL and needed.state is not TaskState.DONE:
            _skip(book, record, needed)
            return
    if record.task.family:
        is_put_off = record.task.deferred and not record.wanted_at
        book.become(record, TaskState.DEFERRED, _why_deferred(record.task) if is_put_off else WITH_ITS_FAMILY)
    elif record.task.deferred and record.history is None:  # else a person has let it go before
        book.become(record, TaskState.DEFERRED, _why_deferred(record.task))
    elif record.waits_for == 0:
        book.queue(record)


def _why_deferred(task: Task) -> str:
    return task.deferred if isinstance(task.deferred, str) else "deferred in the plan"


def edit(book: Book, run: Run, record: Record, task: Task) -> None:
    """The backlog's new word on a task, if none of it is being carried out; else it stays what it was.

    A task that was skipped comes back if it needs something else now.
    """
    is_over = record.state in TERMINAL and record.state is not TaskState.SKIPPED
    if is_over or record.state is TaskState.RUNNING or record.task == task or _is_in_round(run, record):
        return
    if record.state is TaskState.SKIPPED:
        if record.task.needs == task.needs:
            return
        book.become(record, TaskState.BLOCKED)
    let_go = record.task.deferred and not task.deferred
    let_go = let_go or (record.task.family != task.family and record.cause == WITH_ITS_FAMILY)
    why_deferred = _why_deferred(record.task)
    put_off = task.deferred and not record.task.deferred
    book.unqueue(record)
    _unlink(run, record)
    book.change_task(record, task)
    _link(run, record)
    _lengthen_chains(run, [record])
    if record.state is TaskState.DEFERRED and not record.held and not let_go:
        if record.cause == why_deferred or (put_off and record.cause == WITH_ITS_FAMILY):
            record.cause = _why_deferred(task)
        return  # or a person put it off: that stands
    if record.state is not TaskState.BLOCKED:
        book.become(record, TaskState.BLOCKED)
    if put_off:
        book.become(record, TaskState.DEFERRED, _why_deferred(task))
    else:
        _place(book, run, record)
    book.touch(run)


def _is_in_round(run: Run, record: Record) -> bool:
    """A member whose family is being carried out, with it or with its other half."""
    state = run.families.get(record.task.family)
    if state is None or state.phase == "over":
        return False
    return any(record.task.id in group for group in (state.trying, *state.later))


def _unlink(run: Run, record: Record) -> None:
    for need in record.task.needs:
        needed = run.records.get(need)
        waiting = run.awaited.get(need) if needed is None else needed.dependents
        if waiting is not None and record in waiting:
            waiting.remove(record)
    record.waits_for = 0


def release_dependents(book: Book, record: Record) -> None:
    """The task is done: what waited for it alone may go."""
    for dependent in record.dependents or ():
        dependent.waits_for -= 1
        if dependent.waits_for == 0 and dependent.state is TaskState.BLOCKED:
            book.queue(dependent)


def skip_dependents(book: Book, record: Record) -> None:
    """The task will never be done: all that hangs on it is skipped, whatever else it waits for."""
    stack = [record]
    while stack:
        ended = stack.pop()
        for dependent in ended.dependents or ():
            if dependent.state not in TERMINAL:
                _skip(book, dependent, ended, spread=False)
                stack.append(dependent)


def _skip(book: Book, record: Record, need: Record, spread: bool = True) -> None:
    book.unqueue(record)
    book.become(record, TaskState.SKIPPED, f"its need {need.task.id} is {need.state}")
    if spread:
        skip_dependents(book, record)


def cancel(book: Book, run: Run, record: Record, why: str) -> None:
    if record.state in TERMINAL:
        return
    if record.state is TaskState.RUNNING:
        stop(book, record, EndingKind.CANCELLED, why)
        return
    book.unqueue(record)
    book.become(record, TaskState.CANCELLED, why)
    skip_dependents(book, record)
    book.touch(run)


def cancel_all(book: Book, run: Run, why: str) -> None:
    cancel_waiting(book, run, why)
    stays = _putting_back(run)
    for id, record in run.records.items():
        if record.state is TaskState.RUNNING and id not in stays:
            stop(book, record, EndingKind.CANCELLED, why)


def cancel_waiting(book: Book, run: Run, why: str) -> None:
    """All that has not started is cancelled; what runs settles."""
    book.ready.clear(run)
    stays = _putting_back(run)
    for id, record in run.records.items():
        if record.state in TERMINAL or record.state is TaskState.RUNNING:
            continue
        if id not in stays:
            book.become(record, TaskState.CANCELLED, why)
        elif (record.state is TaskState.READY or record.held) and not book.replaying:
            book.ready.add(run, record)
    book.touch(run)


def _putting_back(run: Run) -> set[str]:
    """What makes good again what a family has done. It is seen to its end: a host half put back helps nobody."""
    return {id for state in run.families.values() for id in state.reverts}


def stop(book: Book, record: Record, why: EndingKind, detail: str) -> None:
    """Have the task's attempt stopped; what it becomes is settled when its ending is in."""
    assert record.history
    running = book.running[record.history[-1].attempt]
    told_already = running.stop_why is not None
    if told_already and (running.stop_why is why or not _outweighs(why)):
        return
    running.stop_why, running.stop_detail = why, detail
    if book.replaying:
        return
    book.decisions.append(StopDecided(book.at, running.attempt, why, detail))
    if not told_already:
        book.commands.append(StopAttempt(running.attempt))


def _outweighs(why: EndingKind) -> bool:
    """Does this reason to stop an attempt replace one that was given before?"""
    match why:
        case EndingKind.CANCELLED:
            return True  # the task must not come back
        case EndingKind.TIMED_OUT | EndingKind.PREEMPTED:
            return False
        case EndingKind.DONE | EndingKind.FAILED | EndingKind.OVERLOADED | EndingKind.LOST:
            return False  # not a reason to stop anything
        case kind:
            assert_never(kind)


def defer(book: Book, record: Record) -> None:
    if record.state in (TaskState.BLOCKED, TaskState.READY, TaskState.BACKOFF, TaskState.DEFERRED):
        book.unqueue(record)
        if record.state is not TaskState.DEFERRED:
            book.become(record, TaskState.DEFERRED)
        record.cause, record.held, record.since = BY_A_PERSON, False, book.at


def resume(book: Book, run: Run, record: Record) -> None:
    if record.state is TaskState.DEFERRED and record.task.family:
        record.cause = WITH_ITS_FAMILY  # which alone takes it up
        book.touch(run)
    elif record.state is TaskState.DEFERRED and not record.held:
        record.wanted_at = book.at
        if record.waits_for:
            book.become(record, TaskState.BLOCKED)
        else:
            book.queue(record)
        book.touch(run)


def retry(book: Book, run: Run, record: Record) -> None:
    """A fresh set of attempts, for the task and for all that was skipped because of it."""
    if record.state not in TERMINAL or record.state is TaskState.DONE or is_step(record.task):
        return  # a step is made again with its family, or not at all
    record.wanted_at = book.at
    book.become(record, TaskState.BLOCKED)
    again = [record]
    for one in again:
        one.tries = one.setbacks = 0
        for dependent in one.dependents or ():
            if dependent.state is TaskState.SKIPPED:
                book.become(dependent, TaskState.BLOCKED)
                again.append(dependent)
    for one in again:
        if one.state is TaskState.BLOCKED:
            _place(book, run, one)
    book.touch(run)
