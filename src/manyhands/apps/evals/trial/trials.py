"""Turns a spec into tasks of the engine: a run for each trial, and a task for each session."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from manyhands.apps.evals.spec.eval_types import Arm, Case, Injection, Spec
from manyhands.apps.evals.spec.ordering import Trial
from manyhands.apps.evals.trial.eval_layout import EvalLayout
from manyhands.core.events import Input, RunOpened, RunResumed, TasksSubmitted
from manyhands.core.state import Run
from manyhands.core.values.provenance import Origin, Purpose
from manyhands.core.values.task import NO_CLAIMS, Task
from manyhands.sources.plans.task_rows import default_kind

_FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")
SESSIONS = frozenset({Origin.SESSION, Origin.TOUCHED_SESSION})


class EvalTask(NamedTuple):
    """A session or a scorer, as it is handed in."""

    run: str
    task: Task
    origin: Origin


def run_name(eval_id: str, trial: Trial) -> str:
    return f"{eval_id}.{trial.arm}.{trial.case}.{trial.replication}"


def session_id(session: int) -> str:
    return f"s{session}"


def prompt_of(arm: Arm, case: Case, session: int) -> str:
    """The prompt of the arm, filled in. Unknown fields stay as they are, because prompts often contain braces."""
    return _filled(arm.prompt, {**case.values, "prompt": case_prompt(case, session)})


def case_prompt(case: Case, session: int) -> str:
    return _filled(case.prompts[session - 1] if case.prompts else case.prompt, case.values)


def _filled(text: str, values: dict[str, str]) -> str:
    return _FIELD.sub(lambda field: values.get(field[1], field[0]), text)


class Sessions:
    """Makes the tasks of all sessions of one eval."""

    def __init__(self, spec: Spec, layout: EvalLayout) -> None:
        self._spec = spec
        self._layout = layout

    def task(
        self, trial: Trial, session: int, injected: tuple[Injection, ...] = (), workspace: str | None = None
    ) -> Task:
        """A session has one attempt: a failure of the agent is an outcome. Infrastructure failures do not count."""
        arm, case = self._spec.arm(trial.arm), self._spec.case(trial.case)
        prompt = "\n\n".join([prompt_of(arm, case, session), *(one.text for one in injected)]).strip()
        work = {"run": arm.run} if arm.run else {"call": arm.call} if arm.call else {}
        return Task(
            id=session_id(session),
            kind=arm.kind or default_kind(dict(work)),
            title=f"{trial.arm} on {trial.case}, replication {trial.replication}, session {session}",
            needs=(session_id(session - 1),) if session > 1 else (),
            claims=NO_CLAIMS,
            run=arm.run,
            call=arm.call,
            prompt=prompt,
            args=arm.args,
            env=self._env(arm, trial, session),
            workspace=workspace or str(self._layout.workspace(trial)),
            timeout=self._spec.timeout,
            attempts=1,
            host=arm.host,
        )

    def _env(self, arm: Arm, trial: Trial, session: int) -> dict[str, str]:
        """The name of the arm is not in it: an agent that knows it may behave differently."""
        seed = crc32(f"{self._spec.seed}:{trial.case}:{trial.replication}:{session}".encode())
        return {
            # The store may be inside a repository, but a workspace is not part of it.
            "GIT_CEILING_DIRECTORIES": str(self._layout.directory.parent),
            "MANYHANDS_CASE": trial.case,
            "MANYHANDS_REPLICATION": str(trial.replication),
            "MANYHANDS_SESSION": str(session),
            "MANYHANDS_SEED": str(seed),  # the same for every arm
            **(arm.env or {}),
        }


def taking_up(run: Run | None, at: float, wanted: EvalTask, eval_id: str) -> Iterator[Input]:
    """The events that make this task run next in its run. The run or the task may already exist."""
    name = wanted.run
    if run is None:
        yield RunOpened(at, name, crc32(name.encode()), 1, source=eval_id, purpose=Purpose.TRIAL)
    elif run.draining:
        yield RunResumed(at, name, 1)
    if run is None or wanted.task.id not in run.records:
        yield TasksSubmitted(at, name, (wanted.task,), wanted.origin)
