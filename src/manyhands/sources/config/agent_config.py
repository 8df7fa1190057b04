"""Agent hosts, and what their tables say beside what all hosts say."""

from typing import Annotated, ClassVar, Literal

from msgspec import Struct
from msgspec.structs import replace

from manyhands.core.values.host import AGENTS, Host
from manyhands.core.values.task import CostLimit, TokensLimit, TurnsLimit
from manyhands.durations import Wait
from manyhands.field_rules import CommandLine, Count, says, short_for
from manyhands.sources.config.host_fields import (
    HostFields,
    MachineProbe,
    ProcessDirectory,
    ProcessEnv,
    ProcessGrace,
    ProcessLimits,
    WorkApproval,
)

#: The agents that are known by name, with what their output means. "": the program is described instead.
AgentName = Literal["", "claude", "codex", "gemini", "qwen", "opencode", "aider", "acp"]
#: Who decides what an agent that asks for a permission may do, within what `confine` lets it.
Permissions = Literal["allow", "ask"]
#: Several first starts at once in one home fail on their database.
_COLLIDE_IN_A_HOME = frozenset(("opencode",))
_EXAMPLE = '`agent = { run = ["my-agent", "--json"], reads = "claude" }`'


class AgentProgram(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An agent program: a known one, or the command line of another and whose output it speaks like."""

    name: Annotated[AgentName, says("A known agent. Its name alone may stand for this table.")] = ""
    run: Annotated[
        CommandLine,
        says("The command line. `{prompt_file}`, `{model}` and `{session}` are filled in.", f"for example {_EXAMPLE}"),
    ] = ()
    reads: Annotated[
        Literal["exit", "claude", "codex", "gemini", "qwen", "opencode", "aider"],
        says("Of a program that has no known name: whose output it speaks like. `exit`: its exit code is all."),
    ] = "exit"


class AgentLimits(ProcessLimits, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where an attempt of an agent ends."""

    turns: TurnsLimit = None
    cost: CostLimit = None
    tokens: TokensLimit = None


def named(name: str) -> dict[str, str]:
    return {"name": name}


class AgentHost(HostFields, frozen=True, kw_only=True, tag="agent"):
    """An agent program on this machine, which is given the prompts of tasks."""

    takes: ClassVar[tuple[str, ...]] = ("prompt", "agent")

    agent: Annotated[
        AgentProgram,
        short_for(AgentName, named),
        says(
            'The program: `"claude"`, `"codex"`, `"gemini"`, `"qwen"`, `"opencode"`, `"aider"`, '
            '`{ name = "acp", run = ["my-agent", "--acp"] }` for one that speaks the Agent Client Protocol, '
            'or `{ run = ["my-agent"], reads = "claude" }` for another.',
            'for example `agent = "claude"`',
        ),
    ]
    model: Annotated[str, says("The model that the program is told to use. Left out: its own choice.")] = ""
    args: Annotated[tuple[str, ...], says("More arguments for the program.")] = ()
    env: ProcessEnv = {}  # noqa: RUF012 - a struct copies it
    cwd: ProcessDirectory = ""
    grace: ProcessGrace = 5.0
    idle: Annotated[
        Wait,
        says("How long it may print nothing and compute nothing before the attempt ends as timed out. `0`: forever."),
    ] = 900.0
    sessions: Annotated[
        Count,
        says("With ACP: how many attempts share one process. With more than 1, `confine` covers the whole workspace."),
    ] = 1
    limits: Annotated[
        AgentLimits,
        says(
            'Where an attempt ends: `{ turns = 50, cost = 2.5, tokens = 400000, memory_mb = 4000, cpu = "1h", '
            "processes = 200, output_mb = 100, disk_mb = 2000 }`, any of them."
        ),
    ] = AgentLimits()
    confine: Annotated[
        Literal["workspace", "claims", "off"],
        says("Where an attempt may write: its workspace, only what its task claims, or everywhere (`off`)."),
    ] = "workspace"
    hide: Annotated[
        tuple[str, ...],
        says('What an attempt may not read either: `["~/.ssh", "/etc/secrets"]`.'),
    ] = ()
    permissions: Annotated[
        Permissions,
        says(
            "With ACP: what an agent gets that asks for a permission. `allow`: what `confine` lets it do. "
            "`ask`: of that, a person decides all that is more than reading."
        ),
    ] = "allow"
    home: Annotated[
        Literal["shared", "own"] | None,
        says(
            "Whose home the program has: yours (`shared`), or one for each attempt that runs at once (`own`), "
            "with a copy of the program's settings. Left out: `own` for opencode, and `shared` for the others."
        ),
    ] = None
    approve: WorkApproval = False
    probe: MachineProbe = "local"

    @property
    def has_own_homes(self) -> bool:
        return self.home == "own" or (self.home is None and self.agent.name in _COLLIDE_IN_A_HOME)

    def core_host(self) -> Host:
        return replace(super().core_host(), nature=AGENTS)
