"""What the core knows of hosts, and of the rules, families and routes that the config declares around them."""

from typing import Annotated

from msgspec import Struct

from manyhands.field_rules import Amount, Count, Positive, rule, says

_CLUTCH_DECIDES = "leave it out and the clutch decides"
_NO_BUDGET = "leave it out for no budget"


class Width(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the config says of a host's width. `min == max` pins it."""

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


class Host(Struct, frozen=True, omit_defaults=True):
    """What the core knows of a place attempts run; how to reach it is the executor's business."""

    name: str
    kinds: tuple[str, ...] = ("*",)  # globs
    takes: tuple[str, ...] = ("run", "call", "prompt", "agent")  # what a task may bring here, see `form_of`
    width: Width = Width()
    lanes: dict[str, int] = {}  # kind → the most of that kind at once on this host
    rate: Rate | None = None
    fallback: bool = False  # takes a task only when no other host that takes its kind has room
    resources: dict[str, float] = {}  # what it has of what tasks ask for
    prices: Prices | None = None
    account: str = ""  # when it is closed, so are all hosts that name it


class Rule(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """`kind` may start only when at most `left` tasks of kind `after` are unfinished. Both are globs."""

    kind: Annotated[str, says("A glob of kinds: the tasks that wait.")]
    after: Annotated[str, says("A glob of kinds: the tasks they wait for.")]
    left: Annotated[
        int, rule(minimum=0), says("How many tasks of kind `after` may be unfinished when the others start.")
    ] = 0


class Family(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How tasks of one family are done together. The steps are commands; {family} and {round} are filled in."""

    name: str
    host: str
    snapshot: tuple[str, ...]
    disrupt: tuple[str, ...]
    healthy: tuple[str, ...]  # passes once the host is well again; waits for that itself, within bounds
    revert: tuple[str, ...]  # back to the snapshot of this round
    bisect: bool = False  # find out who did the harm; else all of a family that fails are failed
    rank: int = 0  # of those on one host, smaller goes first


class Route(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where the results of an app's tasks are delivered; how to reach a sink is not the core's business."""

    app: str
    sinks: tuple[str, ...] = ()
    reply_to: tuple[str, ...] = ()  # what a task's `reply_to` may begin with; none: no task has a say
    endings: tuple[str, ...] = ("done",)  # of tasks: done, failed
    order: str = "task"  # results of the same app, run, parent or task are delivered one after another


class ProcessHandle(Struct, frozen=True, omit_defaults=True):
    """Enough to find an attempt's processes again after a crash, and never to mistake another for them."""

    pid: int  # also the process group
    born_at: float  # the process's own start time, as the kernel tells it: a reused pid has another
    boot: str = ""  # of which boot of the machine: after another one nothing of it is alive
