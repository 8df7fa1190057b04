"""How tasks come in, wait for each other, and leave without a run: needs, skips, cancels, retries."""

from typing import assert_never

from manyhands.core.book import Book
from manyhands.core.commands import StopAttempt
from manyhands.core.events import StopDecided
from manyhands.core.state import Record, Run
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.provenance import Cause, CausedBy, Origin
from manyhands.core.values.task import TERMINAL, Task, TaskState, is_put_off, is_same_work
from manyhands.core.values.task_change import TaskChange, changed, kept_with

#: A longer chain is passed on to its needs for this many steps at most. Beyond that the order gains nothing.
CHAIN_STEPS_MAX = 100_000

_BY_A_PERSON = Cause(CausedBy.PERSON, "deferred by a person")
_WITH_ITS_FAMILY = Cause(CausedBy.FAMILY, "waits to run with its family")


def submit(book: Book, run: Run, tasks: tuple[Task, ...], origin: Origin) -> None:
    """Take tasks in. A task that the run already has stays unchanged, so submitting it twice does no harm."""
    new: list[Record] = []
    for task in tasks:
        if task.id in run.records:
            continue
        book.last_number += 1
        record = Record(task, run.name, book.last_number, since=book.at, origin=origin)
        book.enter(record)
        for waiting in run.awaited.pop(task.id, ()):
            hang_on(record, waiting)
        new.append(record)
    for record in new:
        _link(run, record)
    _lengthen_chains(run, new)
    for record in new:
        if record.state is TaskState.BLOCKED:  # not if a task of this batch caused it to be skipped
            _place(book, run, record)
    if new:
        book.touch(run)


def _link(run: Run, record: Record) -> None:
    """Link the task to its needs. A need that comes in a later batch is linked when it comes."""
    for need in record.task.needs:
        needed = run.records.get(need)
        if needed is None:
            run.awaited.setdefault(need, []).append(record)
        else:
            hang_on(needed, record)  # also if it is done, because it may be wanted again
            if needed.state is TaskState.DONE:
                continue
        record.waits_for += 1


def hang_on(needed: Record, record: Record) -> None:
    if needed.dependents is None:
        needed.dependents = []
    needed.dependents.append(record)


def _lengthen_chains(run: Run, new: list[Record]) -> None:
    # Plans mostly list a task after its needs. Walking backwards sees each task after its dependents.
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
    """Give a task that comes in or comes back its state: skipped, deferred, blocked or ready."""
    for need in record.task.needs:
        needed = run.records.get(need)
        if needed is not None and needed.state in TERMINAL and needed.state is not TaskState.DONE:
            _skip(book, record, needed)
            return
    if record.task.family:
        by_plan = is_put_off(record.task) and not record.wanted_at
        book.become(record, TaskState.DEFERRED, _why_deferred(record.task) if by_plan else _WITH_ITS_FAMILY)
    elif record.task.stage or (
        record.task.deferred and record.history is None
    ):  # otherwise a person has resumed it before
        book.become(record, TaskState.DEFERRED, _why_deferred(record.task))
    elif record.waits_for == 0:
        book.queue(record)


def _why_deferred(task: Task) -> Cause:
    if task.stage:
        what = "a draft" if task.stage == "draft" else "planned"
        return Cause(CausedBy.PLAN, f"it is {what}; `manyhands task publish {task.id}` lets it start")
    return Cause(CausedBy.PLAN, task.deferred if isinstance(task.deferred, str) else "deferred in the plan")


def edit(book: Book, run: Run, record: Record, task: Task, origin: Origin) -> None:
    """Change a task as the backlog now says. It stays as it was if it runs, has ended or is in a round of its family.

    A skipped task comes back if its needs have changed.
    """
    is_over = record.state in TERMINAL and record.state is not TaskState.SKIPPED
    is_known = record.task == task and record.origin is origin
    if is_over or record.state is TaskState.RUNNING or is_known or _is_in_round(run, record):
        return
    if record.state is TaskState.SKIPPED:
        if record.task.needs == task.needs:
            return
        book.become(record, TaskState.BLOCKED)
    let_go = is_put_off(record.task) and not is_put_off(task)
    let_go = let_go or (record.task.family != task.family and record.cause.by is CausedBy.FAMILY)
    put_off = is_put_off(task) and not is_put_off(record.task)
    book.unqueue(record)
    _unlink(run, record)
    if not is_same_work(record.task, task):
        record.told_from = len(record.history or ())
    book.change_task(record, task)
    record.origin = origin
    _link(run, record)
    _lengthen_chains(run, [record])
    if record.state is TaskState.NEEDS_PERSON and (record.question is not None or not let_go):
        return  # a person decides about what was done so far
    if record.state is TaskState.DEFERRED and not record.held and not let_go:
        if record.cause.by is CausedBy.PLAN or (put_off and record.cause.by is CausedBy.FAMILY):
            record.cause = _why_deferred(task)
        return  # if a person put it off, that stands
    if record.state is not TaskState.BLOCKED:
        book.become(record, TaskState.BLOCKED)
    if put_off:
        book.become(record, TaskState.DEFERRED, _why_deferred(task))
    else:
        _place(book, run, record)
    book.touch(run)


def change(book: Book, run: Run, record: Record, wanted: TaskChange) -> None:
    """Change a task that waits, as a person wants it."""
    before = record.task
    edit(book, run, record, changed(before, wanted), record.origin)
    if record.task is not before:
        record.changed = kept_with(record.changed, before, wanted)


def _is_in_round(run: Run, record: Record) -> bool:
    """Is the task a member of a family that is in a round now, with this task or before it?"""
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


def queue_again(book: Book, record: Record) -> None:
    """The delay before its next attempt has ended. If a task that it needs was reopened, it waits for that first."""
    if not record.waits_for:
        book.queue(record)
        return
    book.become(record, TaskState.BLOCKED)
    _place(book, book.runs[record.run], record)


def release_dependents(book: Book, record: Record) -> None:
    """The task is done: tasks that waited only for it become ready."""
    for dependent in record.dependents or ():
        dependent.waits_for -= 1
        if dependent.waits_for == 0 and dependent.state is TaskState.BLOCKED:
            book.queue(dependent)


def skip_dependents(book: Book, record: Record) -> None:
    """The task will not be done: skip all tasks that need it, directly or through others."""
    stack = [record]
    while stack:
        ended = stack.pop()
        for dependent in ended.dependents or ():
            if dependent.state not in TERMINAL and dependent.state is not TaskState.RUNNING:
                _skip(book, dependent, ended, spread=False)
                stack.append(dependent)


def _skip(book: Book, record: Record, need: Record, spread: bool = True) -> None:
    book.unqueue(record)
    became = "failed" if need.state is TaskState.FAILED else f"was {need.state}"
    why = f"it needs `{need.task.id}`, which {became}"
    book.become(record, TaskState.SKIPPED, Cause(CausedBy.NEED, why))
    if spread:
        skip_dependents(book, record)


def cancel(book: Book, run: Run, record: Record, cause: Cause) -> None:
    if record.state in TERMINAL:
        return
    if record.state is TaskState.RUNNING:
        stop(book, record, EndingKind.CANCELLED, cause)
        return
    book.unqueue(record)
    book.become(record, TaskState.CANCELLED, cause)
    skip_dependents(book, record)
    book.touch(run)


def cancel_all(book: Book, run: Run, cause: Cause) -> None:
    cancel_waiting(book, run, cause)
    stays = _putting_back(run)
    for id, record in run.records.items():
        if record.state is TaskState.RUNNING and id not in stays:
            stop(book, record, EndingKind.CANCELLED, cause)


def cancel_waiting(book: Book, run: Run, cause: Cause) -> None:
    """Cancel every task that has not started. Running attempts finish."""
    book.ready.clear(run)
    stays = _putting_back(run)
    for id, record in run.records.items():
        if record.state in TERMINAL or record.state is TaskState.RUNNING:
            continue
        if id not in stays:
            book.become(record, TaskState.CANCELLED, cause)
        elif (record.state is TaskState.READY or record.held) and not book.replaying:
            book.ready.add(run, record)
    book.touch(run)


def _putting_back(run: Run) -> set[str]:
    """The steps that revert a family. They always run to their end, because half a revert helps nobody."""
    return {id for state in run.families.values() for id in state.reverts}


def stop(book: Book, record: Record, why: EndingKind, cause: Cause) -> None:
    """Have the task's attempt stopped. The state of the task changes when the ending arrives."""
    assert record.history
    running = book.running[record.history[-1].attempt]
    told_already = running.stop_why is not None
    if told_already and (running.stop_why is why or not _outweighs(why)):
        return
    running.stop_why, running.stop_detail, running.stop_by = why, cause.why, cause.by
    if book.replaying:
        return
    book.decisions.append(StopDecided(book.at, running.attempt, why, cause.why, cause.by))
    in_hands = running.lease is not None and running.lease.handed_in is None
    if not told_already and not in_hands:  # whoever has it in hands is told when it renews its lease
        book.commands.append(StopAttempt(running.attempt))


def _outweighs(why: EndingKind) -> bool:
    """Does this reason to stop an attempt replace one that was given before?"""
    match why:
        case EndingKind.CANCELLED:
            return True  # the task must not come back
        case EndingKind.TIMED_OUT | EndingKind.PREEMPTED:
            return False
        case EndingKind.DONE | EndingKind.FAILED | EndingKind.OVERLOADED | EndingKind.LOST:
            return False  # no reason to stop anything, except for a lease that ran out
        case kind:
            assert_never(kind)


def defer(book: Book, record: Record) -> None:
    waits = record.state in (TaskState.BLOCKED, TaskState.READY, TaskState.BACKOFF, TaskState.DEFERRED)
    if waits or (record.state is TaskState.NEEDS_PERSON and record.question is None):
        book.unqueue(record)
        if record.state is not TaskState.DEFERRED:
            book.become(record, TaskState.DEFERRED)
        record.cause, record.held, record.since = _BY_A_PERSON, False, book.at


def resume(book: Book, run: Run, record: Record) -> None:
    if record.state is TaskState.DEFERRED and record.task.family:
        record.cause = _WITH_ITS_FAMILY  # only its family starts it
        book.touch(run)
    elif (record.state is TaskState.DEFERRED and not record.held) or (
        record.state is TaskState.NEEDS_PERSON and record.question is None
    ):
        record.wanted_at = book.at
        if record.waits_for:
            book.become(record, TaskState.BLOCKED)
        else:
            book.queue(record)
        book.touch(run)


def retry(book: Book, run: Run, record: Record, even_if_done: bool = False) -> None:
    """Give new attempts to the task and to all tasks that were skipped because of it."""
    if record.state not in TERMINAL or record.is_step:
        return  # a step runs again with its family or not at all
    if record.state is TaskState.DONE:
        if not even_if_done:
            return
        _block_dependents(book, record)
        record.told_from = len(record.history or ())
    record.wanted_at = book.at
    book.become(record, TaskState.BLOCKED)
    again = [record]
    for one in again:
        one.tries = one.setbacks = 0
        one.guidance = None
        for dependent in one.dependents or ():
            if dependent.state is TaskState.SKIPPED:
                book.become(dependent, TaskState.BLOCKED)
                again.append(dependent)
    for one in again:
        if one.state is TaskState.BLOCKED:
            _place(book, run, one)
    book.touch(run)


def _block_dependents(book: Book, record: Record) -> None:
    """The task is no longer done. Tasks that need it wait for it again, unless they have started or ended."""
    for dependent in record.dependents or ():
        dependent.waits_for += 1
        if dependent.state in (TaskState.READY, TaskState.BACKOFF) or dependent.held:
            book.unqueue(dependent)
            book.become(dependent, TaskState.BLOCKED)
