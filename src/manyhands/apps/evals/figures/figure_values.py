"""The figures as values. `compare` returns them, the JSON report contains them, other reports show them."""

from enum import StrEnum

from msgspec import Struct, field


class LiftVerdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    UNDECIDED = "undecided"  # there may be no lift
    UNKNOWN = "unknown"  # there is too little data


class Interval(Struct, frozen=True):
    low: float
    high: float
    level: float

    def covers(self, value: float) -> bool:
        return self.low <= value <= self.high


class Estimate(Struct, frozen=True):
    """A mean and how certain it is. `se`, `df`, `t`, `p` and `interval` are None if the spread is unknown."""

    mean: float
    sd: float | None
    units: int  # how many values the mean is taken over
    clusters: int | None
    se: float | None = None
    df: float | None = None
    t: float | None = None
    p: float | None = None
    interval: Interval | None = None
    note: str = ""


class PValue(Struct, frozen=True):
    """A test that assumes no distribution."""

    p: float
    exact: bool
    units: int  # that count; ties do not count in a sign test


class Needed(Struct, frozen=True):
    """What it takes to see a lift of this size at the chosen level and power. None: no number is enough."""

    lift: float
    power_now: float
    replications: int | None  # for each case, with the present number of cases
    cases: int | None  # with the present number of replications


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
    """Pairs that no figure of this lift counts, by the first reason that applies to one of the two."""

    tainted: int = 0
    infrastructure: int = 0
    scorer_error: int = 0
    not_applicable: int = 0
    missing: int = 0

    @property
    def total(self) -> int:
        return self.tainted + self.infrastructure + self.scorer_error + self.not_applicable + self.missing


class Lift(Struct, frozen=True):
    """One arm compared with the baseline, by one scorer."""

    scorer: str
    arm: str
    baseline: str
    unit: str  # the unit of the interval: case, cluster or replication
    pairs: int
    left_out: LeftOut
    baseline_mean: float | None = None
    arm_mean: float | None = None
    estimate: Estimate | None = None
    bootstrap: Interval | None = None
    sign: PValue | None = None
    permutation: PValue | None = None
    effect_size: float | None = None  # Hedges' g of the paired differences
    p: float | None = None  # of the paired t test, or of the permutation test if there is no t
    p_adjusted: float | None = None
    verdict: LiftVerdict = LiftVerdict.UNKNOWN
    detectable: float | None = None  # the smallest lift that would be seen with the chosen power
    needed: list[Needed] = field(default_factory=list)
    cases: list[CaseLift] = field(default_factory=list)
    trouble_differs: bool = False  # the arms had different infrastructure trouble: see the marks
    null: bool = False  # both arms are the same: a lift here is a false alarm
    notes: list[str] = field(default_factory=list)


class Spread(Struct, frozen=True):
    count: int
    total: float
    mean: float
    median: float
    p95: float


class Scored(Struct, frozen=True):
    """The scores of one arm by one scorer, without quarantined trials."""

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
    trouble: dict[str, int]  # attempts that infrastructure ended, by ending
    scored: list[Scored]
    seconds: Spread | None
    tokens_in: int
    tokens_out: int
    cost: float | None


class Mark(Struct, frozen=True):
    """Something to know before you trust the figures."""

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
    decided_after: int | None  # so many of them; None: no lift is still possible
    unit: str = "case"  # or cluster


class Comparison(Struct, frozen=True):
    name: str
    baseline: str
    level: float
    power: float
    family: int  # the number of comparisons in Holm's correction
    arms: list[ArmFigures]
    lifts: list[Lift]
    marks: list[Mark]
    stops: list[Stop] = field(default_factory=list)
