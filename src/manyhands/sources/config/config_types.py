"""What a configuration is made of. The fields are those of `manyhands.toml`; secrets are never values here."""

from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from manyhands.core.values.host import Family, Host, Prices, Rate, Route, Rule, Width
from manyhands.core.values.task import Claims
from manyhands.sources.config.agent_config import AgentLimits, DescribedAgent
from manyhands.sources.config.family_config import FamilyConfig
from manyhands.sources.config.route_config import RouteConfig
from manyhands.sources.config.scaling_config import ScalingConfig
from manyhands.worker.values.model_config import ModelConfig


class _HostFields(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="type"):
    takes: ClassVar[tuple[str, ...]]  # what a task may bring to a host of this type

    name: str
    kinds: tuple[str, ...] = ("*",)  # globs
    width: Width = Width()  # left out: the clutch decides
    lanes: dict[str, int] = {}  # kind → the most of that kind at once on this host
    rate: Rate | None = None
    fallback: bool = False
    resources: dict[str, float] = {}  # what it has of what tasks ask for
    prices: Prices | None = None  # for a million tokens; left out: what attempts tell themselves
    account: str = ""  # hosts that name the same one are closed together when its limit is reached

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
        )


class ShellHost(_HostFields, frozen=True, kw_only=True, tag="shell"):
    """Commands on this machine."""

    takes: ClassVar[tuple[str, ...]] = ("run",)

    env: dict[str, str] = {}  # beside the environment of the dispatcher
    cwd: str = ""  # relative to the workspace; where tasks run that name none themselves
    grace: float = 5.0  # seconds between SIGTERM and SIGKILL
    overloaded: str = ""  # a pattern: output that has it means that the command was refused for lack of room
    probe: Literal["local", "nvml", "none"] = "local"  # what commands take of this machine is always there to see


class AgentHost(_HostFields, frozen=True, kw_only=True, tag="agent"):
    """An agent program on this machine, which is given the prompts of tasks."""

    takes: ClassVar[tuple[str, ...]] = ("prompt",)

    agent: str | DescribedAgent
    run: tuple[str, ...] = ()  # the program, where it is not found by the agent's name
    model: str = ""  # left out: the program's own choice
    args: tuple[str, ...] = ()  # more arguments for the program
    env: dict[str, str] = {}  # beside the environment of the dispatcher
    cwd: str = ""  # relative to the workspace
    grace: float = 5.0
    idle: float = 900.0  # seconds without a word and without computing; then the attempt ends
    limits: AgentLimits = AgentLimits()  # of each attempt
    confine: Literal["workspace", "claims", "off"] = "workspace"  # where an attempt may write
    hide: tuple[str, ...] = ()  # what it may not read: ~/.ssh
    probe: Literal["local", "nvml", "none"] = "local"


class PythonHost(_HostFields, frozen=True, kw_only=True, tag="python"):
    """Python functions, imported from the workspace or the environment."""

    takes: ClassVar[tuple[str, ...]] = ("call",)

    grace: float = 5.0
    probe: Literal["local", "nvml", "none"] = "none"


class OpenaiHost(_HostFields, frozen=True, kw_only=True, tag="openai"):
    """A model behind an OpenAI-compatible API."""

    takes: ClassVar[tuple[str, ...]] = ("prompt",)

    url: str
    model: str
    api_key_env: str = ""  # the variable that has the key; never the key itself
    api: Literal["chat", "embeddings"] = "chat"
    system: str = ""  # a system message put before every prompt
    stream: bool = False  # read answers as they are made; always so on servers that the probe knows to stream
    probe: Literal["ollama", "vllm", "llamacpp", "nvml", "local", "none"] = "none"


class WorkerHost(_HostFields, frozen=True, kw_only=True, tag="worker"):
    """The models of [models.…], in a worker that the dispatcher starts; or a worker that runs elsewhere."""

    takes: ClassVar[tuple[str, ...]] = ("prompt",)

    url: str = ""  # of a worker that runs already; "": one is started
    models: tuple[str, ...] = ()  # of [models.…] that it hosts; all if left out
    model: str = ""  # for tasks that name none in their `args`
    api_key_env: str = ""  # with `url`: the variable that has its token
    system: str = ""
    threads: int = 0  # batches computed at once; 0: one for each core, at most 4
    device: Literal["auto", "cpu", "cuda"] = "auto"
    probe: Literal["local", "nvml", "none"] = "none"


class RayHost(_HostFields, frozen=True, kw_only=True, tag="ray"):
    """Commands and functions on the nodes of a Ray cluster, or on those of them that have certain labels."""

    takes: ClassVar[tuple[str, ...]] = ("run", "call")

    address: str = "local"  # of its head, `HOST:PORT`; "auto": the cluster this machine is in; "local": one is started
    nodes: dict[str, str] = {}  # label → value; {}: all nodes
    workspace: str = ""  # on the nodes; "": where it is here
    env: dict[str, str] = {}  # beside the environment of Ray's own processes there
    grace: float = 1.0
    overloaded: str = ""  # as of a shell host
    place_within: float = 600.0  # seconds that an attempt waits for a node with what it asks for
    models: tuple[str, ...] = ()  # of [models.…]: prompts are computed by a model worker on each GPU
    model: str = ""  # for tasks that name none in their `args`
    scaling: ScalingConfig | None = None  # how many model workers; left out: one on each GPU, started when needed
    probe: Literal["none"] = "none"

    def core_host(self) -> Host:
        host = super().core_host()
        return msgspec.structs.replace(host, takes=(*self.takes, "prompt")) if self.models else host


HostConfig = ShellHost | AgentHost | PythonHost | OpenaiHost | WorkerHost | RayHost
HOST_TYPES: dict[
    str,
    type[ShellHost] | type[AgentHost] | type[PythonHost] | type[OpenaiHost] | type[WorkerHost] | type[RayHost],
] = {
    "shell": ShellHost,
    "agent": AgentHost,
    "python": PythonHost,
    "openai": OpenaiHost,
    "worker": WorkerHost,
    "ray": RayHost,
}


class StoreConfig(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    dir: str = ".manyhands"  # relative to the workspace: the journal, and what attempts put out
    url: str = ""  # of a PostgreSQL database that has the journal instead
    durability: Literal["power", "crash"] = "power"  # what an acknowledged event survives


class BacklogConfig(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What `manyhands serve` watches: a plan file, or a project with Beads. Paths are relative to the workspace."""

    plan: str = ""
    beads: str = ""
    weight: float = 1.0  # its share of the hosts, against other backlogs
    # What an issue does not say of its task:
    run: tuple[str, ...] = ()
    call: str = ""
    args: dict[str, Any] | None = None
    check: tuple[str, ...] = ()
    workspace: Literal["", "worktree"] = ""
    claims: Claims | None = None  # of issues that have no file lists
    timeout: float | None = None  # seconds
    attempts: int = 3
    # How issues are read:
    kinds: dict[str, tuple[str, ...]] = {}  # kind → labels, and words in title or description, that make it so
    otherwise: str = "code"  # the kind of an issue that says nothing of the sort
    conditional: Literal["on-failure", "on-close"] = "on-failure"  # what a `conditional-blocks` edge waits for


Strategy = Literal["three-way", "sequential", "fail-on-conflict", "last-wins"]
Dirty = Literal["refuse", "stash"]


class LandingConfig(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How work done in worktrees comes together."""

    strategy: Strategy = "three-way"
    target: str = ""  # the branch it lands on; "": the one that is checked out
    dirty: Dirty = "refuse"  # what becomes of changes in the working tree that are not committed
    check: bool = True  # the task's check must pass on top of what landed meanwhile, too


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
