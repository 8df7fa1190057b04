"""What an eval is made of and what became of it: the spec, the outcome of every trial, and the whole record.

A trial is one arm on one case in one replication. Every report is made from an `EvalRecord` alone.
"""

import re
from typing import Annotated, Any, Literal

from msgspec import Struct

from manyhands.core.values.host import Prices
from manyhands.durations import Duration
from manyhands.field_rules import CommandLine, FunctionName, Name, VariableName, says

ScorerType = Literal["done", "file", "contains", "regex", "command", "json", "tests", "python", "pairwise"]
#: Which arm is first in each (case, replication): drawn from the seed and balanced, or strictly in turn.
ArmOrder = Literal["drawn", "swap"]
#: What became of a trial. Only `scored` trials have scores. `infrastructure` says nothing about the arm.
#: `aborted` trials were stopped by a person, and `missing` ones were not reached.
TrialState = Literal["scored", "infrastructure", "aborted", "missing"]
#: How a session ended: the arm caused `failed`, but not `infrastructure`. A person caused `aborted`.
SessionEnd = Literal["done", "failed", "infrastructure", "aborted"]
#: How the eval ended: `decided` before all trials had run; `stopped` continues with the same command.
EvalState = Literal["finished", "decided", "failed_fast", "aborted", "stopped"]


#: A pattern with a group of this name gives the number in that group as its score.
SCORE_GROUP = "score"


class Arm(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One of the things compared: a command, a function or a model, and its prompt."""

    name: Annotated[Name, says("The name of the arm.")]
    run: Annotated[
        CommandLine,
        says("A command and its arguments. `{prompt}` and the other fields of tasks are filled in."),
    ] = ()
    call: Annotated[FunctionName, says("`package.module:function`, instead of a command.")] = ""
    prompt: Annotated[
        str,
        says("The words around `{prompt}`, the case's own. `{name}` of its `values` is filled in too."),
    ] = "{prompt}"
    args: Annotated[
        dict[str, Any] | None,
        says("Keyword arguments of `call`, or extra request fields of a model call."),
    ] = None
    env: Annotated[dict[VariableName, str] | None, says("Environment variables.")] = None
    kind: Annotated[str, says("What sort of work it is. Hosts are chosen by it.")] = ""
    host: Annotated[str, says("The only host it may run on.")] = ""
    prices: Annotated[Prices | None, says("The price of a million tokens.")] = None
    same_as: Annotated[str, says("A null arm: it repeats this other arm under its own name.")] = ""


class Case(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One thing that every arm is asked to do."""

    name: Annotated[Name, says("The name of the case.")]
    prompt: Annotated[str, says("What is asked.")] = ""
    prompts: Annotated[tuple[str, ...], says("What is asked in each session, where that differs.")] = ()
    files: Annotated[
        str,
        says("A directory or file that every trial starts with a copy of, relative to the spec."),
    ] = ""
    values: Annotated[dict[str, str], says("What `{name}` in prompts stands for.")] = {}
    expect: Annotated[Any, says("What scorers compare with, unless they say otherwise.")] = None
    cluster: Annotated[str, says("Cases of one cluster are not independent of each other.")] = ""


class Scorer(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a trial is scored."""

    name: Annotated[Name, says("The name of the score.")]
    type: Annotated[ScorerType, says("What it looks at.")]
    file: Annotated[
        str,
        says("A file in the workspace. Left out: what the last session printed."),
    ] = ""
    text: Annotated[str, says("For `contains`: the text to find. Left out: the case's `expect`.")] = ""
    pattern: Annotated[
        str,
        says("For `regex`: a regular expression. A group named `score` is the score."),
    ] = ""
    path: Annotated[str, says("For `json`: a path in the document, like `a.b[0].c`.")] = ""
    equals: Annotated[
        Any,
        says("For `json`: what should be there. Left out: the number found there, or the case's `expect`."),
    ] = None
    run: Annotated[CommandLine, says("For `command` and `tests`: the command and its arguments.")] = ()
    call: Annotated[
        FunctionName,
        says("For `python`: `package.module:function`. It receives workspace, output, case and expect."),
    ] = ""
    host: Annotated[str, says("For `pairwise`: an openai host of the config.")] = ""
    question: Annotated[str, says("For `pairwise`: what makes one answer better than another.")] = ""
    timeout: Annotated[Duration, says("How long the command or call may take.")] = 300.0

    @property
    def is_bounded(self) -> bool:
        """Whether its scores are always between 0 and 1."""
        if self.type == "regex":
            return SCORE_GROUP not in re.compile(self.pattern).groupindex
        return self.equals is not None if self.type == "json" else self.type != "python"


class Spec(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    name: str
    arms: tuple[Arm, ...]  # null arms included
    cases: tuple[Case, ...]
    scorers: tuple[Scorer, ...]
    replications: int = 5
    sessions: int = 1
    seed: int = 0
    interleave: bool = True
    order: ArmOrder = "drawn"
    concurrency: int | Literal["auto"] = 1
    timeout: float = 1800.0  # seconds for a session
    baseline: str = ""  # the name of an arm; the reader fills in the first arm
    stop_when_decided: bool = False  # case by case, until the confidence sequences decide every comparison

    def arm(self, name: str) -> Arm:
        return next(arm for arm in self.arms if arm.name == name)

    def case(self, name: str) -> Case:
        return next(case for case in self.cases if case.name == name)


class SessionRecord(Struct, frozen=True, omit_defaults=True):
    """The last attempt of a session, which is the one that counts."""

    session: int  # from 1
    ending: str  # an EndingKind, or "skipped" after a session that did not end well
    detail: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    host: str = ""
    attempts: int = 0  # more than 1 only because of infrastructure
    tokens_in: int = 0  # of all attempts, because all of them cost money
    tokens_out: int = 0
    cost: float | None = None


class Troubles(Struct, frozen=True, omit_defaults=True):
    """Endings of attempts that the arm did not cause. Each attempt was repeated."""

    rate_limited: int = 0  # 429
    overloaded: int = 0  # any other refusal for lack of room
    out_of_memory: int = 0
    lost: int = 0  # the dispatcher or the machine died meanwhile
    preempted: int = 0

    @property
    def total(self) -> int:
        return self.rate_limited + self.overloaded + self.out_of_memory + self.lost + self.preempted


class TrialOutcome(Struct, frozen=True, omit_defaults=True):
    """What became of one trial."""

    arm: str
    case: str
    replication: int  # from 1
    run: str  # its run in the store
    state: TrialState
    cluster: str = ""  # the name of the case if it has no cluster
    scores: dict[str, float | None] = {}  # scorer → score; None: not applicable, or see `score_errors`
    score_errors: dict[str, str] = {}  # scorer → why it gave no score
    sessions: tuple[SessionRecord, ...] = ()
    troubles: Troubles = Troubles()
    timed_out: int = 0  # how many sessions did; the arm caused it, but compare both arms
    position: int = 0  # in the actual order: 1 if this arm was the first of its (case, replication); 0 if none ran
    started_at: float | None = None
    ended_at: float | None = None
    duration_s: float = 0.0  # of its sessions, without the time between them
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None  # None: there are no prices, and no host or command reported a cost
    tainted: bool = False
    why_tainted: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        return self.arm, self.case, self.replication


class SessionStart(Struct, frozen=True):
    """One line of the actual order."""

    arm: str
    case: str
    replication: int
    session: int
    at: float


class Calibration(Struct, frozen=True, omit_defaults=True):
    """One step of `--concurrency auto`: n at once, with trials that are not scored."""

    n: int
    sessions: int
    p95_s: float
    slow_down: float  # p95_s divided by the p95_s of one at a time
    failures: float  # share of sessions that timed out or failed because of infrastructure
    overloads: int
    accepted: bool
    why: str = ""


class Concurrency(Struct, frozen=True, omit_defaults=True):
    n: int
    how: Literal["default", "spec", "flag", "auto"]
    steps: tuple[Calibration, ...] = ()


class Injection(Struct, frozen=True, omit_defaults=True):
    """Context that a person put into trials that had not ended. "" and 0 mean all arms, cases or replications."""

    text: str
    at: float
    arm: str = ""
    case: str = ""
    replication: int = 0


class EvalRecord(Struct, frozen=True, omit_defaults=True):
    id: str  # also the name of its run in the store
    spec: Spec
    source: str  # the spec's file
    state: EvalState
    concurrency: Concurrency
    outcomes: tuple[TrialOutcome, ...]  # every arm × case × replication, in the order of the spec
    order: tuple[SessionStart, ...] = ()  # in which the sessions actually started
    started_at: float = 0.0
    ended_at: float = 0.0
    injections: tuple[Injection, ...] = ()
    warnings: tuple[str, ...] = ()  # what the reader should know beside the numbers
