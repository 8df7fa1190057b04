"""Families: tasks that share one disruptive step, such as a reboot, and are reverted together if they do harm.

A round is: snapshot → the tasks → the disruptive step → wait until healthy → verify each. Its steps are ordinary tasks
of the run. A barrier keeps them together on their host. How they end decides the next move, and every move is an event
that says all that follows from it. After a crash, steps that only look run again. If nobody knows how a step ended,
the host goes back to the snapshot.
"""

from msgspec.structs import replace

from manyhands.core import intake
from manyhands.core.book import Book
from manyhands.core.events import FamilyMoved
from manyhands.core.state import FamilyBarrier, FamilyState, Record, Run
from manyhands.core.values.host import Family
from manyhands.core.values.provenance import NO_CAUSE, Cause, CausedBy, Origin
from manyhands.core.values.task import NO_CLAIMS, TERMINAL, Task, TaskState, claims_of

#: How often a round starts again after an interruption that its members did not cause.
INTERRUPTIONS_MAX = 3
COMMAND_SHOWN = 60


def review(book: Book) -> None:
    """Let every family that can take its next step do so, the safest first."""
    while book.families_to_review:
        runs, book.families_to_review = list(book.families_to_review.values()), {}
        for run in runs:
            if (moved := _next_of_run(book, run)) is not None:
                book.decisions.append(moved)
                move(book, moved)  # this puts the run up for review again


def move(book: Book, moved: FamilyMoved) -> None:
    run = book.runs[moved.run]
    state = run.families.setdefault(moved.family, FamilyState())
    ended = state.round
    state.round, state.phase, state.trying, state.later = moved.round, moved.phase, moved.trying, moved.later
    state.interruptions = moved.interruptions
    if moved.phase == "reverting":
        state.reverts = tuple(task.id for task in moved.tasks)
    else:
        state.steps, state.reverts = tuple(task.id for task in moved.tasks), ()
    for id in moved.done:
        _settle(book, run, id, TaskState.DONE, NO_CAUSE, apply_id(moved.family, ended, id))
    for id, why in moved.failed.items():
        _settle(book, run, id, TaskState.FAILED, Cause(CausedBy.FAMILY, why), apply_id(moved.family, ended, id))
    if moved.failed and run.fail_fast:
        intake.cancel_waiting(book, run, Cause(CausedBy.RUN, f"fail_fast: {next(iter(moved.failed))} failed"))
    for id in moved.trying:
        if _is_willing(run.records[id]):
            why = f"in round {moved.round} of its family {moved.family}"
            run.records[id].cause = Cause(CausedBy.FAMILY, why)
    if moved.phase in ("over", "stuck"):
        _let_host_go(book, run, moved)
    intake.submit(book, run, moved.tasks, Origin.STEP)
    book.touch(run)


def withdraw(book: Book, run: Run, member: Record, cause: Cause) -> None:
    """A member was cancelled. If its round has begun, the round is reverted and starts again without the member."""
    state = run.families.get(member.task.family)
    if state is None or state.phase != "trying" or member.task.id not in state.trying:
        return
    for id in state.steps:
        intake.cancel(book, run, run.records[id], Cause(cause.by, f"{member.task.id} was {cause.why}"))


def applied(run: Run, member: Record) -> Record | None:
    """The newest step that carried out this member of a family and has had an attempt."""
    family = member.task.family
    for round in range(run.families[family].round, 0, -1) if family else ():
        step = run.records.get(apply_id(family, round, member.task.id))
        if step is not None and step.history:
            return step
    return None


def _settle(book: Book, run: Run, id: str, state: TaskState, cause: Cause, step: str) -> None:
    record = run.records[id]
    if record.state is not TaskState.DEFERRED:
        return  # a person cancelled it meanwhile
    book.become(record, state, cause)
    book.outbox.post(record, run.records.get(step))
    if state is TaskState.DONE:
        intake.release_dependents(book, record)
    else:
        intake.skip_dependents(book, record)


def _let_host_go(book: Book, run: Run, moved: FamilyMoved) -> None:
    state = run.families[moved.family]
    state.phase = "over"
    for host in book.hosts.values():
        if host.kept_by == FamilyBarrier(run.name, moved.family):
            host.kept_by = None
            if moved.phase == "stuck":  # nobody knows what state it is in: a person must look
                host.pause(moved.reason, None)


def _next_of_run(book: Book, run: Run) -> FamilyMoved | None:
    mine = [family for family in book.families.values() if family.name in run.families]
    moves = (_next_move(book, run, family) for family in mine)
    if (moved := next(filter(None, moves), None)) is not None or _can_progress(run):
        return moved
    # Some members wait for tasks that come after their own family, or that a person put off. The others start now.
    return next(filter(None, (_begin(book, run, family, wait_for_all=False) for family in mine)), None)


def _can_progress(run: Run) -> bool:
    return bool(run.in_flight or run.counts[TaskState.READY] or run.counts[TaskState.BACKOFF])


def _begin(book: Book, run: Run, family: Family, wait_for_all: bool) -> FamilyMoved | None:
    waiting = _waiting(run, family.name)
    able = tuple(record.task.id for record in waiting if not record.waits_for)
    must_wait = wait_for_all and len(able) < len(waiting)
    if not able or must_wait or run.families[family.name].phase != "over" or not _is_its_turn(book, run, family):
        return None
    those = "1 task needs" if len(able) == 1 else f"{len(able)} tasks together need"
    return _round(book, run, family, able, (), f"{those} `{_named(family.disrupt)}`")


def _next_move(book: Book, run: Run, family: Family) -> FamilyMoved | None:
    state = run.families[family.name]
    if state.phase == "over":
        return _begin(book, run, family, wait_for_all=True)
    if any(run.records[id].state not in TERMINAL for id in (*state.steps, *state.reverts)):
        return None
    return _after_revert(book, run, family) if state.phase == "reverting" else _after_trying(book, run, family)


def _waiting(run: Run, family: str) -> list[Record]:
    """Members for the next batch, without those that a person or the plan has put off."""
    return [record for record in run.members.get(family, ()) if _is_willing(record)]


def _is_willing(record: Record) -> bool:
    return record.state is TaskState.DEFERRED and record.cause.by is CausedBy.FAMILY


def _is_its_turn(book: Book, run: Run, family: Family) -> bool:
    """Safer families of the host go first, even if they still wait for tasks, as long as anything else can start."""
    can_progress = _can_progress(run)
    for other in book.families.values():
        if other.name not in run.families or other.host != family.host or other is family:
            continue
        if run.families[other.name].phase != "over":
            return False
        if other.rank < family.rank and can_progress and _waiting(run, other.name):
            return False
    return True


def _wrong_step(run: Run, state: FamilyState) -> Record | None:
    """The step that failed, or else the first step that is not done."""
    undone = [step for id in state.steps if (step := run.records[id]).state is not TaskState.DONE]
    return next((step for step in undone if step.state is TaskState.FAILED), undone[0] if undone else None)


def _named(command: tuple[str, ...]) -> str:
    """The command as people recognise it: all of its words, up to a length."""
    words = " ".join(command)
    return words if len(words) <= COMMAND_SHOWN else words[: COMMAND_SHOWN - 1] + "…"


def _after_trying(book: Book, run: Run, family: Family) -> FamilyMoved:
    state = run.families[family.name]
    wrong = _wrong_step(run, state)
    if wrong is None:
        count = "1 task" if len(state.trying) == 1 else f"{len(state.trying)} tasks"
        reason = f"{count} verified after `{_named(family.disrupt)}`"
        return _continue(book, run, family, state.later, reason, done=state.trying)
    reason = f"{wrong.task.title}: {wrong.cause.why or wrong.state}"
    if wrong.task.id == state.steps[0] and _withdrawn(run, state):
        return _continue(book, run, family, (state.trying, *state.later), f"nothing was changed yet, because {reason}")
    if wrong.task.id == state.steps[0]:  # the snapshot: nothing has been changed
        failed = {id: reason for group in (state.trying, *state.later) for id in group}
        return _continue(book, run, family, (), f"nothing was changed, because {reason}", failed=failed)
    return FamilyMoved(
        book.at,
        run.name,
        family.name,
        state.round,
        "reverting",
        f"back to the snapshot, because {reason}",
        state.trying,
        state.later,
        _revert_steps(run, family, state),
        interruptions=state.interruptions,
    )


def _after_revert(book: Book, run: Run, family: Family) -> FamilyMoved:
    """Decide which members are to blame, and which are tried again without them."""
    state = run.families[family.name]
    wrong = _wrong_step(run, state)
    assert wrong is not None
    why = f"{wrong.task.title}: {wrong.cause.why or wrong.state}"
    everyone = {id for group in (state.trying, *state.later) for id in group}
    for step in (run.records[id] for id in state.reverts):
        if step.state is not TaskState.DONE:
            reason = (
                f"{step.task.title} failed ({step.cause.why}) after {why}; check host {family.host}, then resume it"
            )
            failed = dict.fromkeys(sorted(everyone), reason)
            return FamilyMoved(book.at, run.name, family.name, state.round, "stuck", reason, failed=failed)
    ending = wrong.last_ending
    if ending is not None and ending.kind.is_interruption and state.interruptions < INTERRUPTIONS_MAX:
        later = (state.trying, *state.later)
        reason = f"the round was interrupted ({why}) and starts again from the snapshot"
        return _continue(book, run, family, later, reason, interruptions=state.interruptions + 1)
    if gone := _withdrawn(run, state):
        return _continue(book, run, family, (state.trying, *state.later), f"without {', '.join(gone)}: {why}")
    if not family.bisect or wrong.state is not TaskState.FAILED:  # or a person has stopped it
        failed = dict.fromkeys(sorted(everyone), f"its family was reverted: {why}")
        return _continue(book, run, family, (), f"the whole family was reverted: {why}", failed=failed)
    culprits = _culprits(run, family, state)
    if culprits:
        rest = tuple(id for id in state.trying if id not in culprits)
        failed = dict.fromkeys(culprits, f"{why} (reverted)")
        return _continue(
            book, run, family, (rest, *state.later), f"without {', '.join(culprits)}: {why}", failed=failed
        )
    half = (len(state.trying) + 1) // 2
    parts = (state.trying[:half], state.trying[half:])
    return _continue(book, run, family, (*parts, *state.later), f"in halves, to find the task that did it: {why}")


def _withdrawn(run: Run, state: FamilyState) -> list[str]:
    return [id for id in state.trying if run.records[id].state is TaskState.CANCELLED]


def _culprits(run: Run, family: Family, state: FamilyState) -> tuple[str, ...]:
    """Members whose own command failed, or the only member. A member whose check fails need not have done the harm."""
    if len(state.trying) == 1:
        return state.trying
    names = {id: apply_id(family.name, state.round, id) for id in state.trying}
    return tuple(id for id, step in names.items() if run.records[step].state is TaskState.FAILED)


def _continue(
    book: Book,
    run: Run,
    family: Family,
    later: tuple[tuple[str, ...], ...],
    reason: str,
    done: tuple[str, ...] = (),
    failed: dict[str, str] | None = None,
    interruptions: int = 0,
) -> FamilyMoved:
    """The next round, with the first group that is left, or the end of the family."""
    alive = [tuple(id for id in group if id not in (failed or {}) and _is_willing(run.records[id])) for group in later]
    alive = [group for group in alive if group]
    if not alive or (failed and run.fail_fast):
        number = run.families[family.name].round
        return FamilyMoved(book.at, run.name, family.name, number, "over", reason, done=done, failed=failed or {})
    moved = _round(book, run, family, alive[0], tuple(alive[1:]), reason)
    return replace(moved, done=done, failed=failed or {}, interruptions=interruptions)


def _round(
    book: Book, run: Run, family: Family, trying: tuple[str, ...], later: tuple[tuple[str, ...], ...], reason: str
) -> FamilyMoved:
    number = run.families[family.name].round + 1
    tasks = _steps(run, family, number, trying)
    return FamilyMoved(book.at, run.name, family.name, number, "trying", reason, trying, later, tasks)


def _steps(run: Run, family: Family, number: int, trying: tuple[str, ...]) -> tuple[Task, ...]:
    members = [run.records[id].task for id in trying]
    step = _StepMaker(run, family, number, members)
    snapshot = step.make("snapshot", family.snapshot)
    applies = tuple(
        replace(
            member,
            id=apply_id(family.name, number, member.id),
            title=f"{member.id} of {family.name}",
            needs=(snapshot.id,),
            claims=claims_of(member),
            check=(),
            attempts=1,
            once=True,
            parent=family.name,
            family="",
            deferred=False,
            app="",  # the result of the member is delivered when all members are verified
            reply_to="",
            host=family.host,
            barrier=True,
        )
        for member in members
    )
    disrupt = replace(step.make("disrupt", family.disrupt, *applies), once=True)
    healthy = step.make("healthy", family.healthy, disrupt)
    verifies = tuple(
        replace(step.make(f"verify.{member.id}", member.check, healthy), cwd=member.cwd, env=member.env)
        for member in members
        if member.check
    )
    return (snapshot, *applies, disrupt, healthy, *verifies)


def _revert_steps(run: Run, family: Family, state: FamilyState) -> tuple[Task, ...]:
    step = _StepMaker(run, family, state.round, [run.records[id].task for id in state.trying])
    revert = replace(step.make("revert", family.revert), attempts=3)
    return (revert, step.make("recovered", family.healthy, revert))


class _StepMaker:
    """Makes tasks from the commands of a round. They have the host to themselves and the urgency of the members."""

    def __init__(self, run: Run, family: Family, number: int, members: list[Task]) -> None:
        self._family = family
        self._number = number
        self._like = Task(
            "",
            kind=members[0].kind,  # the host takes this kind
            priority=min(member.priority for member in members),
            claims=NO_CLAIMS,
            attempts=1,
            parent=family.name,
            host=family.host,
            barrier=True,
        )

    def id(self, name: str) -> str:
        return _step_id(self._family.name, self._number, name)

    def make(self, name: str, argv: tuple[str, ...], *needs: Task) -> Task:
        filled = tuple(
            word.replace("{family}", self._family.name).replace("{round}", str(self._number)) for word in argv
        )
        title = f"{name.replace('.', ' ')} of {self._family.name}"
        return replace(self._like, id=self.id(name), title=title, run=filled, needs=tuple(need.id for need in needs))


def _step_id(family: str, round: int, name: str) -> str:
    return f"{family}~{round}.{name}"


def apply_id(family: str, round: int, member: str) -> str:
    return _step_id(family, round, f"apply.{member}")
