"""Scorers that run something. Each is a task on the engine, in the run of the trial that it scores."""

import json
from pathlib import Path
from typing import Any, assert_never

from manyhands.apps.evals.scoring.artefacts import Artefacts, TrialScore
from manyhands.apps.evals.scoring.pairwise import win_of
from manyhands.apps.evals.scoring.unit_tests import from_junit, from_output
from manyhands.apps.evals.spec.eval_types import Scorer
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import NO_CLAIMS, Task
from manyhands.hosts.executors.output_text import tail_of

#: The counts of tests are on the last lines of their output.
_OUTPUT_BYTES_MAX = 1 << 20
#: The kind of scoring tasks, and the hosts for them. They do not use the widths of the hosts for arms.
KIND = "eval-score"
SHELL_HOST = "eval:shell"
PYTHON_HOST = "eval:python"

_NOTHING: dict[str, Any] = {"kind": KIND, "claims": NO_CLAIMS, "attempts": 1}


def judge_host(host: str) -> str:
    return f"eval:{host}"


def task_id(scorer: Scorer, place: int = 0) -> str:
    return f"score-{scorer.name}-{place}" if place else f"score-{scorer.name}"


def command_task(scorer: Scorer, left: Artefacts) -> Task:
    """For `command` and `tests`."""
    return Task(
        task_id(scorer),
        run=scorer.run,
        workspace=str(left.workspace),
        timeout=scorer.timeout,
        host=SHELL_HOST,
        env={"MANYHANDS_CASE": left.case.name},
        **_NOTHING,
    )


def function_task(scorer: Scorer, left: Artefacts) -> Task:
    """The function is not told which arm it scores."""
    args = {
        "workspace": str(left.workspace),
        "output": left.output,
        "case": left.case.name,
        "expect": left.case.expect,
    }
    return Task(
        task_id(scorer),
        call=scorer.call,
        args=args,
        workspace=str(left.workspace),
        timeout=scorer.timeout,
        host=PYTHON_HOST,
        **_NOTHING,
    )


def grading_task(scorer: Scorer, prompt: str, place: int) -> Task:
    """`place` is the position of the answer that is scored: first in one task, second in the other."""
    host = judge_host(scorer.host)
    return Task(
        task_id(scorer, place),
        prompt=prompt,
        args={"temperature": 0},
        timeout=scorer.timeout,
        host=host,
        **_NOTHING,
    )


def command_score(ending: Ending) -> TrialScore:
    match ending.kind:
        case EndingKind.DONE:
            return TrialScore(1.0)
        case EndingKind.TIMED_OUT:
            return TrialScore(0.0)  # what the arm left does not pass in the time there is
        case EndingKind.FAILED | EndingKind.OVERLOADED | EndingKind.CANCELLED | EndingKind.PREEMPTED | EndingKind.LOST:
            said_no = ending.exit_code is not None and ending.exit_code > 0
            return TrialScore(0.0) if said_no else TrialScore(None, _why(ending))
        case kind:
            assert_never(kind)


def tests_score(scorer: Scorer, ending: Ending, left: Artefacts, log: Path) -> TrialScore:
    """The share of tests that passed."""
    if ending.kind is EndingKind.TIMED_OUT:
        return TrialScore(0.0)
    if ending.exit_code is None or ending.exit_code < 0:
        return TrialScore(None, _why(ending))
    if scorer.file:
        counts = from_junit(left.workspace / scorer.file)
        missing = f"the tests left no JUnit file `{scorer.file}`"
    else:
        counts = from_output(text) if (text := tail_of(log, bytes_max=_OUTPUT_BYTES_MAX)) else None
        missing = "the output of the tests has no readable count; set `file` to a JUnit file"
    if counts is None:
        return TrialScore(None, f"{missing} ({_why(ending) or 'exit 0'})")
    if not counts.total:
        # Whatever the arm did to the tests, none passed.
        return TrialScore(0.0) if ending.exit_code else TrialScore(None, "no tests were found")
    return TrialScore(counts.passed / counts.total)


def function_score(ending: Ending) -> TrialScore:
    if ending.kind is not EndingKind.DONE:
        return TrialScore(None, _why(ending))
    if not ending.result:
        return TrialScore(None)  # it returned None: not applicable
    value = json.loads(ending.result)
    if isinstance(value, bool | int | float):
        return TrialScore(float(value))
    return TrialScore(None, f"it returned {str(value)[:60]!r}, which is not a number")


def grading_score(endings: dict[int, Ending]) -> TrialScore:
    """The mean of both positions, so that a judge that always prefers the first answer has no influence."""
    wins: list[float] = []
    for place, ending in endings.items():
        if ending.kind is not EndingKind.DONE:
            return TrialScore(None, _why(ending))
        win = win_of(ending.result, place)
        if win is None:
            return TrialScore(None, f"the judge gave no verdict: {ending.result[-80:]!r}")
        wins.append(win)
    return TrialScore(sum(wins) / len(wins))


def _why(ending: Ending) -> str:
    return ending.detail or str(ending.kind)
