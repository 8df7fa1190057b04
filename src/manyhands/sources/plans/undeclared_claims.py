"""Tasks that do not say what they touch run one at a time. Every surface that takes tasks says so, with the fix."""

from collections.abc import Iterable

from manyhands.core.values.task import WHOLE_WORKSPACE, Task, claims_of

#: The fix, in a plan.
CLAIMS_HINT = 'write `claims = { write = ["src/**"] }` if a task writes files, `claims = {}` if it touches nothing'


def undeclared_claims(tasks: Iterable[Task]) -> int:
    return sum(task.claims is None and claims_of(task) is WHOLE_WORKSPACE for task in tasks)


def undeclared_note(tasks: Iterable[Task]) -> str:
    """The sentence about them; "" if fewer than two tasks are concerned."""
    count = undeclared_claims(tasks)
    return f"{count} tasks declare no claims, so they use the workspace one at a time" if count > 1 else ""
