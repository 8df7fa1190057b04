"""What agents do, in the same words for all of them."""

import enum

from msgspec import Struct


class RefusalKind(enum.Enum):
    """Why an agent gave up, by what helps against it."""

    RATE = "rate limited"  # fewer requests
    CLOSED = "closed"  # waiting until the account opens again
    BILLING = "billing"  # a person who pays
    BUSY = "busy"  # less load, or a moment
    AUTH = "cannot authenticate"  # a person with a key
    PERMANENT = "permanent"  # nothing
    LIMIT = "limit"  # a higher limit of turns, cost or tokens
    FAILED = "failed"  # perhaps another attempt


class AgentSession(Struct, frozen=True):
    """By this id the program finds its conversation again."""

    id: str


class Says(Struct, frozen=True):
    text: str
    whole: bool = True  # False: a piece of a sentence that others continue


class Does(Struct, frozen=True):
    tool: str
    files: tuple[str, ...] = ()
    command: str = ""


class Retrying(Struct, frozen=True):
    """The program itself tries a request again."""

    why: str


class Used(Struct, frozen=True):
    tokens_in: int = 0  # all of them, those from a cache included
    cached: int = 0
    tokens_out: int = 0
    cost: float | None = None
    is_total: bool = True  # of the run so far; False: of one more step
    of_session: bool = False  # also of the runs before that this one resumed


class Denied(Struct, frozen=True):
    """The program was not allowed to do something, and nobody was there to ask."""

    what: str


class AgentRefusal(Struct, frozen=True):
    kind: RefusalKind
    text: str
    wait_s: float | None = None  # until it may be tried again, where that is known
    limit: str = ""  # what is used up, in words: five-hour limit


class Closed(Struct, frozen=True):
    """The program says that it is through; without a refusal, with success."""

    refusal: AgentRefusal | None = None


AgentEvent = AgentSession | Says | Does | Retrying | Used | Denied | Closed
