"""What may be spent, what has been spent, and what keeps tasks from starting because of it."""

from typing import Annotated, Literal

from msgspec import Struct

from manyhands.field_rules import TABLE_KEY, Count, Positive, says

#: What a budget is for. Those of hosts, accounts and days begin anew at midnight UTC.
Scope = Literal["task", "run", "host", "account", "day"]


class SpendingLimit(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """A budget of the config. Nothing more starts when it is used up, unless it is soft."""

    name: Annotated[str, TABLE_KEY]
    per: Annotated[Scope, says("What it is for: each task, each run, each host, each account, or the whole day.")]
    cost: Annotated[Positive | None, says("How much it may cost, in your currency.", "leave it out for no bound")] = (
        None
    )
    tokens: Annotated[
        Count | None, says("How many tokens it may take, read and written together.", "leave it out for no bound")
    ] = None
    soft: Annotated[bool, says("`true`: you are told when it is used up, and nothing is held.")] = False
    of: Annotated[
        tuple[str, ...],
        says("Globs of the names that it is for: of runs, hosts or accounts. For a day and for tasks: of hosts."),
    ] = ("*",)


class Spending(Struct, omit_defaults=True):
    cost: float = 0.0
    tokens: float = 0.0

    def add(self, cost: float, tokens: float) -> None:
        self.cost += cost
        self.tokens += tokens


class BudgetHold(Struct, frozen=True, gc=False):
    """A budget that is used up, with its figures."""

    budget: str
    per: Scope
    key: str  # the run, host or account; "": the day
    cost: float
    tokens: float
    in_flight_cost: float  # of these, what running attempts are expected to take
    in_flight_tokens: float
    cost_max: float | None
    tokens_max: float | None
    until: float | None = None  # when it begins anew

    def __str__(self) -> str:
        parts: list[str] = []
        if self.cost_max is not None and self.cost >= self.cost_max:
            flying = f", {self.in_flight_cost:.2f} of it expected of what runs" if self.in_flight_cost else ""
            parts.append(f"cost {self.cost:.2f} of at most {self.cost_max:.2f}{flying}")
        if self.tokens_max is not None and self.tokens >= self.tokens_max:
            flying = f", {self.in_flight_tokens:,.0f} of them expected of what runs" if self.in_flight_tokens else ""
            parts.append(f"{self.tokens:,.0f} tokens of at most {self.tokens_max:,.0f}{flying}")
        of = f"{self.per} {self.key}" if self.key else "the day"
        return f"budget {self.budget} of {of} is used up: {'; '.join(parts)}"


class SpendingLedger(Struct, omit_defaults=True):
    """What was spent today, and which budgets were raised or are known to be used up."""

    day: int = 0  # days since 1970, in UTC
    hosts: dict[str, Spending] = {}
    accounts: dict[str, Spending] = {}
    raised: dict[str, int] = {}  # budget and key → how often it was raised by its own amount
    reached: dict[str, bool] = {}  # budget and key → it was told
    usual: dict[str, dict[str, Spending]] = {}  # host → kind → what an attempt takes


DAY_LENGTH_S = 86_400.0


def day_of(at: float) -> int:
    return int(at // DAY_LENGTH_S)


def ledger_key(budget: str, key: str) -> str:
    return f"{budget}/{key}"
