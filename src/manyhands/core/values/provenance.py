"""Who caused what, where a task comes from, and what a run is for: values to decide by, beside the words for people."""

import enum

from msgspec import Struct


class CausedBy(enum.StrEnum):
    """Who put a task where it is, or stopped its attempt."""

    NOBODY = ""  # it is ready, running or done, which needs no cause
    PERSON = "person"
    PLAN = "plan"  # the plan or the issue says that it is deferred
    BACKLOG = "backlog"  # the backlog no longer wants it
    RULE = "rule"  # an ordering rule of the config
    FAMILY = "family"  # deferred: it waits to run with its family; failed: it was reverted with it
    NEED = "need"  # a task that it needs did not end well
    ATTEMPT = "attempt"  # how its last attempt ended
    RUN = "run"  # its run no longer wants it: `fail_fast`, or an eval that has ended
    BUDGET = "budget"  # its attempts have used up what a task may cost
    ENGINE = "engine"  # a time-out, or room for a task that is more urgent


class Cause(Struct, frozen=True, omit_defaults=True, gc=False):
    by: CausedBy = CausedBy.NOBODY
    why: str = ""  # for people; no code decides by it


NO_CAUSE = Cause()


class Origin(enum.StrEnum):
    """Where a task comes from."""

    PLAN = "plan"  # a plan file, a backlog or a program
    HAND = "hand"  # a person added it to a run
    RESERVED = "reserved"  # an agent holds files for work that is in no plan
    STEP = "step"  # the engine made it for a family; it is in no backlog
    SESSION = "session"  # a session of a trial of an eval
    TOUCHED_SESSION = "touched_session"  # the same, after a person put context into it
    SCORER = "scorer"  # scores the sessions of a trial
    CONTROL = "control"  # a task of an eval's own run, for the people who steer it


class Purpose(enum.StrEnum):
    """What a run is for. It says what the run's `source` is."""

    PLAN = "plan"  # the source: paths of the plan files, or of a backlog; "": a program
    PROGRAM = "program"  # a Python program: its items, or tasks that it submits
    HAND = "hand"  # tasks that people add without naming another run
    EVAL = "eval"  # the source: the path of its spec
    TRIAL = "trial"  # the source: the name of its eval
    TUNE = "tune"
    DEMO = "demo"
    SIMULATION = "simulation"
