"""The figures as values: what `compare` returns, the JSON report has, and every other report is drawn from."""

from enum import StrEnum

from msgspec import Struct, field


class LiftVerdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    UNDECIDED = "undecided"  # the lift could as well be none
    UNKNOWN = "unknown"  # too little to say anything


class Interval(Struct, frozen=True):
    low: float
    high: float
    level: float

    def covers(self, value: float) -> bool:
        return self.low <= value <= self.high


class Estimate(Struct, frozen=True):
    """A mean and how sure it is. `se`, `df`, `t`, `p` and `interval` are None where the spread is unknown."""

    mean: float
    sd: float | None
    units: int  # what the mean is over
    clusters: int | None
    se: float | None = None
    df: float | None = None
    t: float | None = None
    p: float | None = None
    interval: Interval | None = None
    note: str = ""


class Tested(Struct, frozen=True):
    """A test that assumes no distribution."""

    p: float
    exact: bool
    units: int  # that could speak; ties cannot in a sign test


class Needed(Struct, frozen=True):
    """What it takes to see a lift of this size, at the level and power asked for. None: no number of them is enough."""

    lift: float
    power_now: float
    replications: int | None  # a case, with the cases there are
    cases: int | None  # with the replications there are


class CaseLift(Struct, frozen=True):
    case: str
    cluster: str | None
    pairs: int
    baseline: float
    arm: float
    lift: float
    sd: float | None
    interval: Interval | None  # over the replications of this case alone


class LeftOut(Struct, frozen=True):
    """Pairs that are in no figure of this lift, by the first reason that holds for one of the two."""

    tainted: int = 0
    infrastructure: int = 0
    scorer_error: int = 0
    not_applicable: int = 0
    missing: int = 0

    @property
    def total(self) -> int:
        return self.tainted + self.infrastructure + self.scorer_error + self.not_applicable + self.missing


class Lift(Struct, frozen=True):
    """One arm against the baseline, by one scorer."""

    scorer: str
    arm: str
    baseline: str
    unit: str  # what the interval is over: case, cluster or replication
    pairs: int
    left_out: LeftOut
    baseline_mean: float | None = None
    arm_mean: float | None = None
    estimate: Estimate | None = None
    bootstrap: Interval | None = None
    sign: Tested | None = None
    permutation: Tested | None = None
    effect_size: float | None = None  # Hedges' g of the paired differences
    p: float | None = None  # of the paired t, of the permutation where there is no t
    p_adjusted: float | None = None
    verdict: LiftVerdict = LiftVerdict.UNKNOWN
    detectable: float | None = None  # the lift that would be seen with the power asked for
    needed: list[Needed] = field(default_factory=list)
    cases: list[CaseLift] = field(default_factory=list)
    trouble_differs: bool = False  # the arms saw different infrastructure trouble: see the marks
    null: bool = False  # both arms are the same: a lift here is a false alarm
    notes: list[str] = field(default_factory=list)


class Spread(Struct, frozen=True):
    count: int
    total: float
    mean: float
    median: float
    p95: float


class Scored(Struct, frozen=True):
    """The scores of one arm by one scorer, without what is quarantined."""

    scorer: str
    count: int
    mean: float | None
    sd: float | None
    values: list[float]


class ArmFigures(Struct, frozen=True):
    arm: str
    planned: int
    finished: int
    tainted: int
    lost_to_infrastructure: int
    timed_out: int
    failed: int
    scorer_errors: int
    attempts: int
    trouble: dict[str, int]  # attempts that ended by no fault of the arm, by ending
    scored: list[Scored]
    seconds: Spread | None
    tokens_in: int
    tokens_out: int
    cost: float | None


class Mark(Struct, frozen=True):
    """Something to know before the figures are believed."""

    about: str
    text: str
    serious: bool = True


class Stop(Struct, frozen=True):
    """A confidence sequence over the cases in their planned order: valid at every look."""

    scorer: str
    arm: str
    level: float
    low: list[float]  # after each case or cluster
    high: list[float]
    decided_after: int | None  # so many of them; None: zero is still possible
    unit: str = "case"  # or cluster


class Comparison(Struct, frozen=True):
    name: str
    baseline: str
    level: float
    power: float
    family: int  # comparisons that Holm's correction is for
    arms: list[ArmFigures]
    lifts: list[Lift]
    marks: list[Mark]
    stops: list[Stop] = field(default_factory=list)
