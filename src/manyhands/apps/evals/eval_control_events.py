"""How people reach an eval that runs in another process: by events of its own run in the store.

That run has the eval's name and one task, put off until everything is over: done means finished, cancelled aborted.
"""

import time

from manyhands.apps.evals.scoring.scoring_tasks import KIND, SHELL_HOST
from manyhands.core.events import CancelAsked, Input, RunDrained, RunOpened, RunResumed, TasksSubmitted
from manyhands.core.state import Run
from manyhands.core.values.task import NO_CLAIMS, Task, TaskState

END = "end"


def opening(eval_id: str, at: float, source: str) -> list[Input]:
    """The eval's own run."""
    end = Task(
        END,
        kind=KIND,
        title="every trial has come to its end",
        run=("true",),
        host=SHELL_HOST,
        claims=NO_CLAIMS,
        deferred=True,
    )
    return [RunOpened(at, eval_id, source=source), TasksSubmitted(at, eval_id, (end,))]


def is_unfinished(run: Run) -> bool:
    end = run.records.get(END)
    return end is not None and end.state in (TaskState.DEFERRED, TaskState.READY, TaskState.RUNNING, TaskState.BACKOFF)


def is_aborted(run: Run) -> bool:
    end = run.records.get(END)
    return end is not None and end.state is TaskState.CANCELLED


def pause(eval_id: str) -> Input:
    return RunDrained(time.time(), eval_id)


def resume(eval_id: str) -> Input:
    return RunResumed(time.time(), eval_id)


def abort(eval_id: str) -> Input:
    return CancelAsked(time.time(), eval_id, END, "aborted by a person")


def inject(eval_id: str, text: str, arm: str, case: str, replication: int) -> Input:
    at = time.time()
    args = {"what": "inject", "at": at, "arm": arm, "case": case, "replication": replication}
    task = Task(
        f"inject-{at:.6f}",
        kind=KIND,
        title="context put in by a person",
        prompt=text,
        args=args,
        host=SHELL_HOST,
        claims=NO_CLAIMS,
        deferred=True,
    )
    return TasksSubmitted(at, eval_id, (task,))
