"""What a configuration is made of. The fields are those of `manyhands.toml`; secrets are never values here."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from manyhands.core.values.host import AGENTS, Family, Host, Route, Rule
from manyhands.core.values.spending_limit import SpendingLimit
from manyhands.core.values.task import Claims
from manyhands.durations import Duration, Wait
from manyhands.field_rules import (
    CommandLine,
    Count,
    FunctionName,
    Positive,
    SecretVariable,
    VariableName,
    WebAddress,
    rule,
    says,
)
from manyhands.sources.config.agent_config import AgentHost
from manyhands.sources.config.family_config import FamilyConfig
from manyhands.sources.config.github_config import GithubConfig
from manyhands.sources.config.host_fields import (
    PROBE,
    HostFields,
    MachineProbe,
    OverloadPattern,
    ProcessDirectory,
    ProcessEnv,
    ProcessGrace,
    ProcessLimits,
    SystemMessage,
    WorkApproval,
    WorkerModel,
)
from manyhands.sources.config.landing_config import LandingConfig
from manyhands.sources.config.probe_config import ProbeConfig, ServerProbe
from manyhands.sources.config.queue_config import PostgresQueueConfig, RedisQueueConfig
from manyhands.sources.config.route_config import RouteConfig
from manyhands.sources.config.scaling_config import ScalingConfig
from manyhands.sources.config.tell_config import TellConfig
from manyhands.worker.values.model_config import ModelConfig


def _address_hint(address: object) -> str:
    hint = 'for example "10.0.0.5:6379"; or "auto" for the cluster this machine is in, "local" to start one'
    if str(address).startswith("ray://"):
        return f"a dispatcher joins the cluster itself, by the head's own port (6379 by default); {hint}"
    return hint


class ShellHost(HostFields, frozen=True, kw_only=True, tag="shell"):
    """Commands on this machine."""

    takes: ClassVar[tuple[str, ...]] = ("run",)

    env: ProcessEnv = {}  # noqa: RUF012 - a struct copies it
    cwd: ProcessDirectory = ""
    grace: ProcessGrace = 5.0
    overloaded: OverloadPattern = ""
    limits: Annotated[
        ProcessLimits,
        says(
            'Where an attempt ends: `{ memory_mb = 4000, cpu = "1h", processes = 200, output_mb = 100, '
            "disk_mb = 2000 }`, any of them."
        ),
    ] = ProcessLimits()
    approve: WorkApproval = False
    probe: MachineProbe = "local"


class PythonHost(HostFields, frozen=True, kw_only=True, tag="python"):
    """Python functions, imported from the workspace or the environment."""

    takes: ClassVar[tuple[str, ...]] = ("call",)

    grace: Annotated[Wait, says("How long a stopped function has before its worker process is killed.")] = 5.0
    overloaded: OverloadPattern = ""
    probe: MachineProbe = "none"


class OpenaiHost(HostFields, frozen=True, kw_only=True, tag="openai"):
    """A model behind an OpenAI-compatible API."""

    takes: ClassVar[tuple[str, ...]] = ("prompt",)

    url: Annotated[
        WebAddress,
        says(
            'The address of the server, up to and including `/v1`: `"http://127.0.0.1:11434/v1"`.',
            'for example `url = "http://127.0.0.1:11434/v1"`',
        ),
    ]
    model: Annotated[
        str,
        rule("must name a model of this server", pattern=r"\S"),
        says("Which of the server's models to ask.", 'for example `model = "granite-code:8b"`'),
    ]
    api_key_env: Annotated[
        SecretVariable,
        says("The name of the environment variable that has the key, never the key itself."),
    ] = ""
    api: Annotated[Literal["chat", "embeddings"], says("Which part of the server's API tasks use.")] = "chat"
    system: SystemMessage = ""
    stream: Annotated[
        bool,
        says(
            "`true`: read answers while they are made. The server is then free as soon as an attempt is stopped, and "
            "the first token is timed. The probes `ollama`, `vllm` and `llamacpp` always do so."
        ),
    ] = False
    memory_gb: Annotated[
        Positive | None,
        says("The memory of the device that the server computes on, in GB. The probe `ollama` needs it."),
    ] = None
    probe: Annotated[
        ServerProbe,
        says(
            f'{PROBE} `"ollama"`, `"vllm"`, `"llamacpp"`, `"nvml"`, `"local"` or `"none"`; or '
            '`{ run = ["ssh", "box", "nvidia-smi", …] }` for a command that prints the memory of the device; or '
            '`{ url = "http://box:8651" }` for `manyhands probe --serve` there.'
        ),
    ] = ProbeConfig()

    @property
    def streams(self) -> bool:
        """Are answers read while they are made? A stopped attempt then frees its slot at once."""
        return self.api == "chat" and (self.stream or self.probe.name in ("ollama", "vllm", "llamacpp"))

    def core_host(self) -> Host:
        return msgspec.structs.replace(super().core_host(), streams=self.streams, model=self.model)


class WorkerHost(HostFields, frozen=True, kw_only=True, tag="worker"):
    """The models of [models.…], in a worker that the dispatcher starts; or a worker that runs elsewhere."""

    takes: ClassVar[tuple[str, ...]] = ("prompt",)

    url: Annotated[
        WebAddress,
        says("The address of a worker that runs already. Left out, the dispatcher starts one."),
    ] = ""
    models: Annotated[
        tuple[str, ...],
        says("Which of `[models.…]` it hosts. Left out: all of them."),
    ] = ()
    model: WorkerModel = ""
    api_key_env: Annotated[
        SecretVariable,
        says("With `url`: the name of the environment variable that has the token of that worker."),
    ] = ""
    system: SystemMessage = ""
    threads: Annotated[
        int,
        rule(minimum=0),
        says(
            "How many batches it computes at once. 0: one for each core, at most 4.",
            "leave it out for one for each core",
        ),
    ] = 0
    device: Annotated[Literal["auto", "cpu", "cuda"], says("What it computes on.")] = "auto"
    probe: MachineProbe = "none"


class RayHost(HostFields, frozen=True, kw_only=True, tag="ray"):
    """Commands and functions on the nodes of a Ray cluster, or on those of them that have certain labels."""

    takes: ClassVar[tuple[str, ...]] = ("run", "call")

    address: Annotated[
        str,
        rule(
            "must be the address of a Ray cluster's head",
            _address_hint,
            pattern=r"^(local|auto|[^\s/:@]+:[0-9]{1,5}|\[[0-9A-Fa-f:.]+\]:[0-9]{1,5})$",
        ),
        says(
            'The head of the cluster, as `"HOST:PORT"`. `"auto"`: the cluster this machine is in. '
            '`"local"`: a cluster is started here.'
        ),
    ] = "local"
    nodes: Annotated[
        dict[
            Annotated[str, rule("must be labels of nodes", 'for example `nodes = { kind = "gpu" }`', pattern=r"\S")],
            str,
        ],
        says("Only nodes with these labels: label → value. `{}`: all nodes."),
    ] = {}  # noqa: RUF012 - a struct copies it
    workspace: Annotated[
        str,
        rule(
            "must be an absolute path on the nodes", "leave it out if it is the same as here", pattern="^(/[\\s\\S]*)?$"
        ),
        says("The workspace on the nodes. Left out: the same path as here."),
    ] = ""
    env: Annotated[
        dict[VariableName, str],
        says("Environment variables, added to those of Ray's own processes on the nodes."),
    ] = {}  # noqa: RUF012 - a struct copies it
    grace: ProcessGrace = 1.0
    overloaded: OverloadPattern = ""
    place_within: Annotated[
        Wait,
        says("How long an attempt waits for a node that has what it asks for."),
    ] = 600.0
    models: Annotated[
        tuple[str, ...],
        says("Which of `[models.…]` compute prompts, in a model worker on each GPU."),
    ] = ()
    model: WorkerModel = ""
    scaling: Annotated[
        ScalingConfig | None,
        says("How many model workers there are. Left out: one on each GPU, started when needed."),
    ] = None
    probe: Annotated[Literal["none"], says(PROBE)] = "none"

    def core_host(self) -> Host:
        host = super().core_host()
        return msgspec.structs.replace(host, takes=(*self.takes, "prompt")) if self.models else host


class PullHost(HostFields, frozen=True, kw_only=True, tag="pull"):
    """Agents that come by themselves: each asks for a task, works on it, and hands its work in."""

    takes: ClassVar[tuple[str, ...]] = ("run", "prompt")

    lease: Annotated[
        Duration,
        says("How long an agent keeps its task if nothing is heard of it. Then the attempt is `lost`."),
    ] = 60.0
    grace: ProcessGrace = 5.0
    probe: Annotated[Literal["none"], says(PROBE)] = "none"

    def core_host(self) -> Host:
        return msgspec.structs.replace(super().core_host(), lease_s=self.lease, nature=AGENTS)


HostConfig = ShellHost | AgentHost | PythonHost | OpenaiHost | WorkerHost | RayHost | PullHost
HOST_TYPES: dict[
    str,
    type[ShellHost]
    | type[AgentHost]
    | type[PythonHost]
    | type[OpenaiHost]
    | type[WorkerHost]
    | type[RayHost]
    | type[PullHost],
] = {
    "shell": ShellHost,
    "agent": AgentHost,
    "python": PythonHost,
    "openai": OpenaiHost,
    "worker": WorkerHost,
    "ray": RayHost,
    "pull": PullHost,
}


class StoreConfig(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where the journal is, and what it survives."""

    dir: Annotated[
        str,
        rule("must name a directory", "leave it out for `.manyhands`", pattern=r"\S"),
        says("The directory of the journal and of what attempts print, relative to the workspace."),
    ] = ".manyhands"
    url: Annotated[
        str,
        rule(
            "must be the URL of a PostgreSQL database",
            "it reads postgresql://user@host/database; a directory is `dir`",
            secret=True,
            pattern="^(postgres(ql)?://[\\s\\S]*)?$",
        ),
        says("A PostgreSQL database that has the journal instead."),
    ] = ""
    durability: Annotated[
        Literal["power", "crash"],
        says("What an acknowledged event survives. `crash` is faster, and a power cut may lose the last moments."),
    ] = "power"


class BacklogConfig(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What `manyhands serve` watches: a plan file, a project with Beads, a queue, GitHub issues, or Markdown files.
    Paths are relative to the workspace."""

    plan: Annotated[str, says("A plan file.")] = ""
    beads: Annotated[str, says("A project with Beads.")] = ""
    redis: Annotated[RedisQueueConfig | None, says('A Redis stream: `{ stream = "work" }`.')] = None
    postgres: Annotated[
        PostgresQueueConfig | None,
        says('A table of a PostgreSQL database: `{ url_env = "WORK_URL", table = "work" }`.'),
    ] = None
    github: Annotated[
        GithubConfig | None,
        says('Issues on GitHub that have a label: `{ repository = "OWNER/REPO", label = "agent" }`.'),
    ] = None
    markdown: Annotated[str, says("A directory of Markdown files, one for each task.")] = ""
    weight: Annotated[Positive, says("Its share of the hosts, against other backlogs.")] = 1.0
    schedule: Annotated[
        str,
        says('When a new run of the plan begins, as in cron: `"0 2 * * 1-5"`.', "leave it out for one run without end"),
    ] = ""
    timezone: Annotated[str, says('Of the schedule: `"Europe/Berlin"`.')] = "UTC"
    # What an issue or an entry does not say of its task:
    run: Annotated[CommandLine, says("The command that works on an issue or an entry.")] = ()
    call: Annotated[FunctionName, says("The function that works on it: `package.module:function`.")] = ""
    args: Annotated[dict[str, Any] | None, says("Arguments of `call`, or extra request fields of a model call.")] = None
    check: Annotated[CommandLine, says("A command that must pass for an attempt to count as done.")] = ()
    workspace: Annotated[
        Literal["", "worktree"],
        says('`"worktree"` gives every task a git worktree of its own, from which its work lands.'),
    ] = ""
    claims: Annotated[Claims | None, says("The claims of issues and entries that have no file lists.")] = None
    save: Annotated[str, says("The file that receives the answer, for example `docs/{id}.md`.")] = ""
    timeout: Annotated[
        Duration | None,
        says("How long one attempt may take.", "leave it out for no time-out"),
    ] = None
    attempts: Annotated[Count, says("How often a task is tried.", "leave it out for 3")] = 3
    # How issues are read:
    kinds: Annotated[
        dict[str, tuple[str, ...]],
        says("Kind → labels, and words in title or description, by which an issue is of that kind."),
    ] = {}
    otherwise: Annotated[str, says("The kind of an issue that has none of those words.")] = "code"
    conditional: Annotated[
        Literal["on-failure", "on-close"],
        says("What a `conditional-blocks` edge waits for."),
    ] = "on-failure"


class Setting(Struct, frozen=True):
    """One value and where it came from."""

    name: str  # hosts.local.width
    value: Any
    origin: str  # default, manyhands.toml line 4, env MANYHANDS_STORE_DIR, flag


class Config(Struct, frozen=True):
    """Passed whole to whatever is built from it, and unpacked there."""

    workspace: Path  # the directory of manyhands.toml, or the working directory without one
    file: Path | None
    hosts: tuple[HostConfig, ...]
    rules: tuple[Rule, ...]
    store: StoreConfig
    settings: tuple[Setting, ...]  # all of the above and below, one by one
    backlogs: tuple[BacklogConfig, ...] = ()
    landing: LandingConfig = LandingConfig()
    families: dict[str, FamilyConfig] = {}
    models: tuple[ModelConfig, ...] = ()
    routes: dict[str, RouteConfig] = {}
    budgets: tuple[SpendingLimit, ...] = ()
    tell: tuple[TellConfig, ...] = ()

    def core_hosts(self) -> tuple[Host, ...]:
        return tuple(host.core_host() for host in self.hosts)

    def core_routes(self) -> tuple[Route, ...]:
        return tuple(route.core_route(app) for app, route in self.routes.items())

    def core_families(self) -> tuple[Family, ...]:
        return tuple(family.core_family(name, place) for place, (name, family) in enumerate(self.families.items()))

    @property
    def store_directory(self) -> Path:
        return self.workspace / self.store.dir

    @property
    def store_at(self) -> Path | str:
        """Where the journal is: a directory, or the URL of a database."""
        return self.store.url or self.store_directory
