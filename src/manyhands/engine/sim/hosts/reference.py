"""The five hosts that every limit is measured on."""

from collections.abc import Callable

from msgspec import Struct

from manyhands.core.values.host import AGENTS, COMMANDS, SERVICE
from manyhands.engine.sim.hosts.agents_host import Agents, AgentShare, AgentsHost
from manyhands.engine.sim.hosts.api_host import Api, ApiHost, CallShare
from manyhands.engine.sim.hosts.batching_host import Batching, BatchingHost, TokenShare
from manyhands.engine.sim.hosts.measured_host import Measured, MeasuredHost
from manyhands.engine.sim.hosts.process_host import Processes, ProcessHost, ProcessShare
from manyhands.engine.sim.hosts.simulated_host import SimulatedHost
from manyhands.engine.sim.hosts.slot_host import SizeShare, SlotHost, Slots
from manyhands.engine.sim.hosts.timed_host import Timed, TimedHost

Parameters = Batching | Api | Processes | Slots | Timed | Agents | Measured


class HostModel(Struct, frozen=True):
    """A host to measure on, how long to measure, and the largest width."""

    name: str
    parameters: Parameters
    seconds: float
    width_max: int = 256
    of_nature: str = ""  # "": by its parameters

    @property
    def nature(self) -> str:
        if self.of_nature:
            return self.of_nature
        if isinstance(self.parameters, Agents):
            return AGENTS
        return COMMANDS if isinstance(self.parameters, Processes) else SERVICE


_FAMILIES: dict[type[Struct], Callable[..., SimulatedHost]] = {
    Batching: BatchingHost,
    Api: ApiHost,
    Processes: ProcessHost,
    Slots: SlotHost,
    Timed: TimedHost,
    Agents: AgentsHost,
    Measured: MeasuredHost,
}


def build(parameters: Parameters) -> SimulatedHost:
    return _FAMILIES[type(parameters)](parameters)


CHATS = (TokenShare("chat", 0.6, 2000, 250), TokenShare("agentic", 0.4, 4500, 500))

BATCHING = HostModel("batching", Batching(CHATS), 1800)
API = HostModel(
    "api",
    Api(
        (CallShare("short", 0.7, 900), CallShare("long", 0.3, 2900)),
        requests_per_minute=240,
        tokens_per_minute=330_000,
        requests_burst=40,
        tokens_burst=60_000,
        latency_s=9.0,
    ),
    1800,
)
PROCESSES = HostModel(
    "processes",
    Processes((ProcessShare("fix", 0.7, 70, 1.1, 0.40), ProcessShare("build", 0.3, 140, 1.8, 0.45))),
    7200,
    width_max=48,
)
DRIFTING = HostModel("drifting", Batching(CHATS, capacity=((900, 0.5), (1800, 1.0))), 2700)
SLOTS = HostModel("slots", Slots((SizeShare("s", 0.85, 4), SizeShare("m", 0.13, 20), SizeShare("l", 0.02, 150))), 1800)

SESSIONS = (AgentShare("fix", 0.7, 300), AgentShare("feature", 0.3, 700))

AGENTS_OPEN = HostModel("agents", Agents(SESSIONS), 7200, width_max=64)
AGENTS_ENDED = HostModel("agents, sessions ended", Agents(SESSIONS, sessions_max=12), 7200, width_max=64)
AGENTS_CLOSED = HostModel("agents, account closes", Agents(SESSIONS, quota_tokens=8e6), 36_000, width_max=64)

REFERENCE = (BATCHING, API, PROCESSES, DRIFTING, SLOTS)
