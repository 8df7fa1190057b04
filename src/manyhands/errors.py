"""Errors. The type of an error tells who can act on it.

    ManyhandsError
      UsageError          the caller can fix it                    exit 2
        ConfigError  BacklogError  UnknownTask  UnknownRun  UnknownHost  Conflict
      Unavailable         waiting or fixing the machine may help   exit 75
        StoreBusy  StoreBroken  LeaseLost  HostUnreachable
    IllegalTransition     only we can fix it: a bug. Not a ManyhandsError; it stops the engine.

An attempt that fails is not an exception: it is an `Ending`, a value.
"""


class ManyhandsError(Exception):
    """Something a person can act on: `message` names the thing and the value, `hint` the next step."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ManyhandsError):
    exit_code = 2


class ConfigError(UsageError):
    pass


class BacklogError(UsageError):
    pass


class UnknownTask(UsageError):
    pass


class UnknownRun(UsageError):
    pass


class UnknownHost(UsageError):
    pass


class Conflict(UsageError):
    """The thing is in a state that does not allow this."""


class Unavailable(ManyhandsError):
    exit_code = 75


class StoreBusy(Unavailable):
    """Another dispatcher holds the journal."""


class StoreBroken(Unavailable):
    """The journal cannot be read or written: a full disk, a read-only directory, damage."""


class LeaseLost(Unavailable):
    """Another dispatcher leads the journal now, so this one can no longer write."""


class HostUnreachable(Unavailable):
    pass


class IllegalTransition(Exception):
    """A bug of ours: an event asked for a change of state that is not in the table."""
