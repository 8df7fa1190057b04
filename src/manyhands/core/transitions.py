"""The states that a task can go through, as a table. A change outside the table is a bug and stops the engine."""

from manyhands.core.values.task import TaskState as S

#: state → the states it may become
TRANSITIONS: dict[S, frozenset[S]] = {
    S.BLOCKED: frozenset({S.READY, S.DEFERRED, S.CANCELLED, S.SKIPPED}),
    S.READY: frozenset({S.BLOCKED, S.RUNNING, S.DEFERRED, S.CANCELLED, S.SKIPPED}),
    S.RUNNING: frozenset({S.DONE, S.FAILED, S.CANCELLED, S.READY, S.BACKOFF, S.DEFERRED, S.NEEDS_PERSON}),
    S.BACKOFF: frozenset({S.BLOCKED, S.READY, S.DEFERRED, S.CANCELLED, S.SKIPPED}),
    # A member of a family is done or fails without an attempt of its own.
    S.DEFERRED: frozenset({S.BLOCKED, S.READY, S.CANCELLED, S.SKIPPED, S.DONE, S.FAILED}),
    S.NEEDS_PERSON: frozenset({S.BLOCKED, S.READY, S.DEFERRED, S.CANCELLED, S.SKIPPED}),
    # A person may ask for another attempt at these, and a plan that has changed the task may too.
    S.DONE: frozenset({S.BLOCKED}),
    S.FAILED: frozenset({S.BLOCKED, S.READY}),
    S.CANCELLED: frozenset({S.BLOCKED, S.READY}),
    S.SKIPPED: frozenset({S.BLOCKED, S.READY}),
}
