"""Messages between the dispatcher, the driver of a Ray cluster and the carriers on its nodes: plain values."""

import struct

import msgspec
from msgspec import Struct

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending
from manyhands.core.values.host import ProcessHandle

FRAME = struct.Struct("!I")


class ModelWorker(Struct, frozen=True):
    """The model worker that a host has on its nodes."""

    config_file: str  # a path on the node
    models: tuple[str, ...]
    model: str


class NodeSettings(Struct, frozen=True):
    """Settings of a host for its attempts on any node."""

    journal: str
    workspace: str  # a path on the node
    grace_s: float
    env: dict[str, str]
    worker: ModelWorker | None = None
    overloaded: str = ""  # a pattern in what commands and functions print


class AttemptPlace(Struct, frozen=True):
    """What an attempt asks of its node, in Ray's own terms."""

    resources: dict[str, float]  # CPU, GPU, memory (bytes) and custom ones; {}: none are reserved
    labels: dict[str, str]  # label selectors
    within_s: float  # how long it may wait for such a node
    model: str = ""  # the model that a model worker computes it with; "": no worker is needed
    fleet: str = ""  # the host that has its own workers; "": workers in the seats of all nodes


class DriverSettings(Struct, frozen=True):
    address: str
    journal: str
    lease_s: float


# From the dispatcher


class Begin(Struct, frozen=True, tag=True):
    order: StartAttempt
    ground: NodeSettings
    place: AttemptPlace


class ReleaseThere(Struct, frozen=True, tag=True):
    attempt: int


class Halt(Struct, frozen=True, tag=True):
    attempt: int


class Adopt(Struct, frozen=True, tag=True):
    """Take over an attempt that a driver began which is gone."""

    attempt: int
    have_bytes: int  # bytes of its output that arrived


class KeepWorkers(Struct, frozen=True, tag=True):
    """How many model workers a host must have from now on."""

    host: str
    count: int
    ground: NodeSettings
    resources: dict[str, float]  # what each reserves, in Ray's own terms
    labels: dict[str, str]


class Leave(Struct, frozen=True, tag=True):
    """Remove the carriers: all attempts have ended."""


DriverWish = Begin | ReleaseThere | Halt | Adopt | KeepWorkers | Leave


# To the dispatcher


class Unreachable(Struct, frozen=True, tag=True):
    why: str


class Taken(Struct, frozen=True, tag=True):
    """From now on the attempt may run, even if the driver dies."""

    attempt: int


class Waits(Struct, frozen=True, tag=True):
    """No node has what the attempt asks for yet."""

    attempt: int
    why: str


class Spawned(Struct, frozen=True, tag=True):
    attempt: int
    process: ProcessHandle


class OutputPiece(Struct, frozen=True, tag=True):
    attempt: int
    offset: int
    content: bytes


class EndedThere(Struct, frozen=True, tag=True):
    attempt: int
    ending: Ending
    files: dict[str, bytes] = {}  # what it left in its directory beside the output


class WorkersAre(Struct, frozen=True, tag=True):
    """The model workers that a host has."""

    host: str
    up: int = 0
    leaving: int = 0  # those of them that get no more attempts
    coming: int = 0
    trouble: str = ""  # what prevents the next one from starting
    took_s: float | None = None  # how long the last one took to start


Report = Unreachable | Taken | Waits | Spawned | OutputPiece | EndedThere | WorkersAre

encode = msgspec.msgpack.Encoder().encode
decode_wish = msgspec.msgpack.Decoder(DriverWish).decode
decode_report = msgspec.msgpack.Decoder(Report).decode
decode_begin = msgspec.msgpack.Decoder(Begin).decode
decode_ground = msgspec.msgpack.Decoder(NodeSettings).decode


def framed(content: bytes) -> bytes:
    return FRAME.pack(len(content)) + content
