"""What the tables of all hosts have in common."""

from typing import Annotated, ClassVar, Literal

from msgspec import Struct

from manyhands.core.values.host import Host, Prices, Rate, Width
from manyhands.durations import Duration, Wait
from manyhands.field_rules import TABLE_KEY, Amount, Count, Positive, VariableName, rule, says, short_for

_CLUTCH_DECIDES = "leave it out and the clutch decides"
_PINNED_WIDTH = Annotated[
    int,
    rule("must be a whole number or { min, start, max }", type="integer"),
    rule(minimum=1),
]
PROBE = "What to look at about once a second while something runs there."

# Fields that some types of host share. Each is declared once here; a type that has it gives its default.
ProcessEnv = Annotated[
    dict[VariableName, str],
    says("Environment variables, added to those of the dispatcher. A task's own `env` overrides them."),
]
ProcessDirectory = Annotated[str, says("The directory of tasks that name no `cwd`, relative to the workspace.")]
ProcessGrace = Annotated[Wait, says("How long a stopped process has between SIGTERM and SIGKILL.")]
OverloadPattern = Annotated[
    str,
    says(
        "A regular expression, for programs that only print. An attempt is overloaded if it matches a line in the "
        "last 8 KiB of the output."
    ),
]
WorkApproval = Annotated[
    bool,
    says("`true`: what tasks did here in a worktree waits for `manyhands task approve` before it lands."),
]
MachineProbe = Annotated[Literal["local", "nvml", "none"], says(PROBE)]
SystemMessage = Annotated[str, says("A system message before every prompt.")]
WorkerModel = Annotated[str, says("The model for tasks that name none in their `args`.")]


def _pinned(width: int) -> dict[str, int]:
    return {"min": width, "start": width, "max": width}


def _minutes(span: str) -> tuple[int, int]:
    """`22:00-06:00` as minutes after midnight."""
    begin, end = (60 * int(time[:2]) + int(time[3:]) for time in span.split("-"))
    return begin, end


class ProcessLimits(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where an attempt ends, whatever is left to do. All its processes count together."""

    memory_mb: Annotated[Positive | None, says("The most memory that an attempt may use at once, in MB.")] = None
    cpu: Annotated[Duration | None, says("The most processor time of an attempt.")] = None
    processes: Annotated[Count | None, says("The most processes of an attempt at once.")] = None
    output_mb: Annotated[Positive | None, says("The most that an attempt may print, in MB.")] = None
    disk_mb: Annotated[
        Positive | None, says("The most that an attempt may add to its worktree and its directory in the store, in MB.")
    ] = None

    @property
    def any_of_processes(self) -> bool:
        limits = (self.memory_mb, self.cpu, self.processes, self.output_mb, self.disk_mb)
        return any(limit is not None for limit in limits)


class HostFields(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="type"):
    takes: ClassVar[tuple[str, ...]]  # what a task may bring to a host of this type

    name: Annotated[str, TABLE_KEY]
    kinds: Annotated[
        tuple[Annotated[str, rule("must name a kind", minLength=1)], ...],
        rule("must name the kinds that this host takes", minItems=1),
        says("Globs of the kinds of task that it takes.", 'leave it out, or write `["*"]`, for all'),
    ] = ("*",)
    width: Annotated[
        Width,
        short_for(_PINNED_WIDTH, _pinned),
        says(
            "How many attempts run at once. `4` pins it; `{ min = 1, start = 2, max = 16 }` bounds the clutch. "
            "Left out, the clutch decides.",
            _CLUTCH_DECIDES,
        ),
    ] = Width()
    lanes: Annotated[
        dict[str, Count],
        says(
            "The most of a kind at once on this host: `{ audit = 1 }`.",
            "use `kinds` to keep a kind away from a host",
        ),
    ] = {}
    rate: Annotated[
        Rate | None,
        says(
            "A budget: `{ requests_per_minute = 60, tokens_per_minute = 90000 }`, either or both. "
            "Starts are spread over the minute."
        ),
    ] = None
    fallback: Annotated[
        bool,
        says("`true`: it takes a task only when no other host that takes it has room."),
    ] = False
    resources: Annotated[
        dict[str, Amount],
        says("What it has of what tasks ask for: `{ gpu_gb = 48 }`."),
    ] = {}
    prices: Annotated[
        Prices | None,
        says(
            "The price of a million tokens, in your currency: `{ tokens_in = 3.0, tokens_out = 15.0 }`. "
            "The cost of an attempt is computed when it ends. Left out: what attempts report themselves."
        ),
    ] = None
    account: Annotated[
        str,
        says("The account behind it, by any name. Hosts that name the same one pause together while it is closed."),
    ] = ""

    quiet: Annotated[
        tuple[
            Annotated[
                str,
                rule(
                    "must be two times of day",
                    'for example "22:00-06:00"',
                    pattern="^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$",
                ),
            ],
            ...,
        ],
        says('Hours in UTC in which nothing starts there: `["22:00-06:00"]`. What runs finishes.'),
    ] = ()

    def core_host(self) -> Host:
        return Host(
            name=self.name,
            kinds=self.kinds,
            takes=self.takes,
            width=self.width,
            lanes=self.lanes,
            rate=self.rate,
            fallback=self.fallback,
            resources=self.resources,
            prices=self.prices,
            account=self.account,
            quiet=tuple(_minutes(span) for span in self.quiet),
        )
