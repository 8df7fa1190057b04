"""What agents do, in the same terms for all of them."""

import enum

from msgspec import Struct


class RefusalKind(enum.Enum):
    """Why an agent gave up. Each reason has its own remedy."""

    RATE = "rate limited"  # fewer requests
    CLOSED = "closed"  # waiting until the account opens again
    BILLING = "billing"  # a person who pays
    BUSY = "busy"  # less load, or a moment
    UNREACHABLE = "unreachable"  # a server that answers
    AUTH = "cannot authenticate"  # a person with a key
    PERMANENT = "permanent"  # nothing
    LIMIT = "limit"  # a higher limit of turns, cost or tokens
    FAILED = "failed"  # perhaps another attempt


class AgentSession(Struct, frozen=True):
    """The id by which the program finds its conversation again."""

    id: str


class Says(Struct, frozen=True):
    text: str
    whole: bool = True  # False: part of a sentence that later events continue


class Does(Struct, frozen=True):
    tool: str
    files: tuple[str, ...] = ()
    command: str = ""
    runs: bool = False  # it has begun, and `Returned` follows


class Returned(Struct, frozen=True):
    """A tool that ran has ended."""


class Retrying(Struct, frozen=True):
    """The program itself tries a request again."""

    why: str


class Used(Struct, frozen=True):
    tokens_in: int = 0  # all of them, including those from a cache
    cached: int = 0
    tokens_out: int = 0
    cost: float | None = None
    is_total: bool = True  # True: of the run so far; False: of one more step
    of_session: bool = False  # including the earlier runs that this one resumed


class Denied(Struct, frozen=True):
    """The program was not allowed to do something, and it could ask nobody."""

    what: str


class AgentRefusal(Struct, frozen=True):
    kind: RefusalKind
    text: str
    wait_s: float | None = None  # how long until it may be tried again, if known
    limit: str = ""  # what is used up, in words: five-hour limit


class Closed(Struct, frozen=True):
    """The program says that it has finished. Without a refusal, it succeeded."""

    refusal: AgentRefusal | None = None


AgentEvent = AgentSession | Says | Does | Returned | Retrying | Used | Denied | Closed
