"""What the core knows about hosts, and about the rules, families and routes in the config."""

from typing import Annotated

from msgspec import Struct

from manyhands.field_rules import Amount, Count, Positive, rule, says

_CLUTCH_DECIDES = "leave it out and the clutch decides"
_NO_BUDGET = "leave it out for no budget"


class Width(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the config says about the width of a host. `min == max` fixes it."""

    min: Annotated[Count, says("The clutch does not go below this.", _CLUTCH_DECIDES)] = 1
    start: Annotated[Count | None, says("The width a host starts with.", _CLUTCH_DECIDES)] = None
    max: Annotated[Count | None, says("The clutch does not go above this.", _CLUTCH_DECIDES)] = None


class Rate(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A budget. Starts are spread over the minute."""

    requests_per_minute: Annotated[Positive | None, says("Requests in any minute.", _NO_BUDGET)] = None
    tokens_per_minute: Annotated[Positive | None, says("Tokens in any minute.", _NO_BUDGET)] = None


class Prices(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """In any one currency, for a million tokens."""

    tokens_in: Annotated[Amount, says("The price of a million tokens that a model reads.")] = 0.0
    tokens_out: Annotated[Amount, says("The price of a million tokens that a model writes.")] = 0.0

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


#: How soon a host shows that it has too much: a model server within a second, commands as they take up memory and
#: cores, agents only after their program has tried again by itself for a while.
SERVICE, COMMANDS, AGENTS = "service", "commands", "agents"


class Host(Struct, frozen=True, omit_defaults=True):
    """What the core knows about a place where attempts run. The executor knows how to reach it."""

    name: str
    kinds: tuple[str, ...] = ("*",)  # globs
    takes: tuple[str, ...] = ("run", "call", "prompt", "agent")  # what a task may bring here, see `form_of`
    width: Width = Width()
    lanes: dict[str, int] = {}  # kind → the most of that kind at once on this host
    rate: Rate | None = None
    fallback: bool = False  # takes a task only when no other host that takes its kind has room
    resources: dict[str, float] = {}  # how much it has of each resource that tasks ask for
    prices: Prices | None = None
    account: str = ""  # when it is closed, so are all hosts that name it
    lease_s: float | None = None  # agents come for its tasks, each on a lease of this length; None: they are started
    quiet: tuple[tuple[int, int], ...] = ()  # from and to, in minutes after midnight UTC: nothing starts then
    nature: str = ""  # SERVICE, COMMANDS or AGENTS; "": by what it takes, see `nature_of`
    streams: bool = False  # answers are read while they are made, so the first output of an attempt is seen
    model: str = ""  # what it computes with, if it is told; hosts with the same one are alike


def nature_of(host: Host) -> str:
    """A host that takes prompts alone is a model server, unless it says that it runs agents."""
    if host.nature:
        return host.nature
    if host.takes == ("prompt",):
        return SERVICE
    return AGENTS if "agent" in host.takes and "run" not in host.takes else COMMANDS


class Rule(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """`kind` may start only when at most `left` tasks of kind `after` are unfinished. Both are globs."""

    kind: Annotated[str, says("A glob of kinds: the tasks that wait.")]
    after: Annotated[str, says("A glob of kinds: the tasks they wait for.")]
    left: Annotated[
        int, rule(minimum=0), says("How many tasks of kind `after` may be unfinished when the others start.")
    ] = 0

    def __str__(self) -> str:
        return f"after kind {self.after} has at most {self.left} left"


class Family(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How the tasks of one family run together. The steps are commands, in which {family} and {round} are filled in."""

    name: str
    host: str
    snapshot: tuple[str, ...]
    disrupt: tuple[str, ...]
    healthy: tuple[str, ...]  # waits until the host works again, then passes; must give up after a while
    revert: tuple[str, ...]  # back to the snapshot of this round
    bisect: bool = False  # find the tasks that did the harm; otherwise all tasks of the family fail
    rank: int = 0  # of the families on one host, the smallest goes first


class Route(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where the results of an app's tasks are delivered. The core does not know how to reach a sink."""

    app: str
    sinks: tuple[str, ...] = ()
    reply_to: tuple[str, ...] = ()  # what a task's `reply_to` may begin with; none: `reply_to` is ignored
    endings: tuple[str, ...] = ("done",)  # of tasks: done, failed
    order: str = "task"  # results of the same app, run, parent or task are delivered one after another


class ProcessHandle(Struct, frozen=True, omit_defaults=True):
    """Enough to find the processes of an attempt after a crash, and never to confuse them with others."""

    pid: int  # also the process group
    born_at: float  # the start time of the process, from the kernel; a reused pid has another one
    boot: str = ""  # the boot of the machine; after another boot no such process is alive
