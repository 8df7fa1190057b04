"""Which tasks a person means: ids, globs such as `auth-*`, and states."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from manyhands.core.values.task import TaskState
from manyhands.errors import UsageError
from manyhands.readers.problems import did_you_mean


class TaskChoice(NamedTuple):
    """The tasks of one run that are meant: by id, by glob, by state, or by both."""

    ids: Sequence[str] = ()
    state: str | None = None

    @property
    def is_one(self) -> bool:
        return self.state is None and len(self.ids) == 1 and not is_glob(self.ids[0])

    def has(self, id: str, state: str) -> bool:
        return (self.state is None or state == self.state) and (
            not self.ids or any(fnmatchcase(id, pattern) for pattern in self.ids)
        )


def is_glob(id: str) -> bool:
    return any(sign in id for sign in "*?[")


def ids_like(pattern: str, ids: Iterable[str]) -> list[str]:
    return [id for id in ids if fnmatchcase(id, pattern)]


def check_choice(choice: TaskChoice, verb: str) -> None:
    if not choice.ids and choice.state is None:
        raise UsageError(
            f"no task is named to {verb}", f"`manyhands task {verb} TASK`, a glob such as 'auth-*', or `--state STATE`"
        )
    if choice.state is not None and choice.state not in list(TaskState):
        known = f"the states are {', '.join(TaskState)}"
        raise UsageError(f"there is no state `{choice.state}`", did_you_mean(choice.state, TaskState) or known)
