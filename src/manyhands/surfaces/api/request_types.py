"""Queries and bodies as types. They are read strictly, and an error names the field that is wrong."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.requests import Request

from manyhands.core.values.ending import NoteKind
from manyhands.core.values.task import TITLE_MAX, Stage, TaskState
from manyhands.engine.request_checks import WORDS_MAX
from manyhands.surfaces.api.refusals import JSON, BadRequest
from manyhands.surfaces.api.security import BODY_BYTES_MAX, BodyTooLarge
from manyhands.surfaces.verbs.host_verbs import PinnedWidth
from manyhands.surfaces.verbs.pull_verbs import RESULT_CHARACTERS_MAX, WAIT_MAX_S

NameText = Annotated[str, Meta(min_length=1, max_length=200)]
ShortText = Annotated[str, Meta(max_length=300)]
#: A moment in seconds since 1970; later than the year 9999 is a mistake.
UnixTime = Annotated[float, Meta(ge=0, le=253_402_300_800)]
Number = Annotated[int, Meta(ge=0, le=2**53)]
LIMIT_MAX = 1_000
#: The most samples in an answer, the newest ones: two weeks of them would be a hundred thousand.
SAMPLES_MAX = 20_000


# A field that a query leaves out is unset, not None: `null` in an address is a word like any other.


class NoFields(Struct, forbid_unknown_fields=True):
    pass


class StreamQuery(Struct, forbid_unknown_fields=True):
    run: NameText | UnsetType = UNSET
    after: Annotated[str, Meta(max_length=60)] = ""


class RunsQuery(Struct, forbid_unknown_fields=True):
    offset: Number = 0
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 100


class TasksQuery(Struct, forbid_unknown_fields=True):
    run: NameText | UnsetType = UNSET
    state: TaskState | UnsetType = UNSET
    kind: ShortText | UnsetType = UNSET
    host: NameText | UnsetType = UNSET  # the host of its latest attempt
    q: ShortText = ""  # text in its id or title
    file: ShortText = ""  # a file that it claims
    ids: Annotated[str, Meta(max_length=4_000)] = ""  # only these, with commas between them
    offset: Number = 0
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 100


class GridQuery(Struct, forbid_unknown_fields=True):
    runs: Annotated[str, Meta(max_length=4_000)] = (
        ""  # with commas between them; left out, one run and those before it from the same source
    )
    run: Annotated[str, Meta(max_length=300)] = ""  # that one; left out, the newest


class TaskEdit(Struct, forbid_unknown_fields=True):
    """What is left out stays as it is."""

    priority: Annotated[int, Meta(ge=0, le=4)] | None = None
    needs: tuple[NameText, ...] | None = None
    title: Annotated[str, Meta(max_length=TITLE_MAX)] | None = None
    prompt: Annotated[str, Meta(max_length=200_000)] | None = None
    stage: Stage | None = None  # "": it may start


class EvalQuery(Struct, forbid_unknown_fields=True):
    eval: NameText | UnsetType = UNSET  # left out, the newest


class OutputQuery(Struct, forbid_unknown_fields=True):
    attempt: Annotated[int, Meta(ge=1, le=2**53)] | UnsetType = UNSET  # 1 is the first; left out, the latest
    after: Number = 0  # the byte to start from


class ArtefactQuery(Struct, forbid_unknown_fields=True):
    path: Annotated[str, Meta(min_length=1, max_length=4_000)]  # as the task lists it
    attempt: Annotated[int, Meta(ge=1, le=2**53)] | UnsetType = UNSET  # 1 is the first; left out, the latest


class WidthsQuery(Struct, forbid_unknown_fields=True):
    host: NameText | UnsetType = UNSET
    since: UnixTime = 0.0


class SeriesQuery(Struct, forbid_unknown_fields=True):
    since: UnixTime = 0.0


class SaidToTask(Struct, forbid_unknown_fields=True):
    """What a person says to a task that waits."""

    words: Annotated[str, Meta(max_length=WORDS_MAX)] = ""
    by: Annotated[str, Meta(max_length=200)] = ""  # who
    commit: Annotated[str, Meta(max_length=100)] = ""  # the work that was looked at; refused if other work waits by now


class Why(Struct, forbid_unknown_fields=True):
    why: ShortText = ""


class Pause(Struct, forbid_unknown_fields=True):
    why: ShortText = ""
    until: UnixTime | None = None


class BudgetKey(Struct, forbid_unknown_fields=True):
    key: ShortText = ""  # the run, host or account; a budget of the day has none


class WidthWanted(Struct, forbid_unknown_fields=True):
    width: PinnedWidth | None  # null: the clutch decides again


class NewTasks(Struct, forbid_unknown_fields=True):
    """One or more tasks, with the fields of a plan."""

    tasks: Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=10_000)]
    run: NameText | None = None  # the run to add to; left out, the run `added`


class NextAsked(Struct, forbid_unknown_fields=True):
    puller: NameText  # the name of the agent; no other has the same
    host: NameText | None = None  # left out: the only one of type `pull`
    kinds: Annotated[list[NameText], Meta(max_length=100)] = []
    wait_s: Annotated[float, Meta(ge=0, le=WAIT_MAX_S)] = 0.0


class _OfLease(Struct, forbid_unknown_fields=True):
    token: Number
    puller: NameText


class _UsageAsked(_OfLease, forbid_unknown_fields=True):
    tokens_in: Number = 0
    tokens_out: Number = 0
    cost: Annotated[float, Meta(ge=0, le=1e12)] | None = None


class ReportAsked(_UsageAsked, forbid_unknown_fields=True):
    progress: ShortText = ""


class NoteAsked(Struct, forbid_unknown_fields=True):
    kind: NoteKind
    text: Annotated[str, Meta(min_length=1, max_length=1_000)]


class FinishAsked(_UsageAsked, forbid_unknown_fields=True):
    ending: Literal["done", "failed", "overloaded"] = "done"
    detail: ShortText = ""
    result: Annotated[str, Meta(max_length=RESULT_CHARACTERS_MAX)] = ""
    notes: Annotated[list[NoteAsked], Meta(max_length=50)] = []


class ReleaseAsked(_OfLease, forbid_unknown_fields=True):
    why: ShortText = ""


class ReserveAsked(Struct, forbid_unknown_fields=True):
    puller: NameText
    write: Annotated[list[ShortText], Meta(max_length=100)] = []
    append: Annotated[list[ShortText], Meta(max_length=100)] = []
    read: Annotated[list[ShortText], Meta(max_length=100)] = []
    why: ShortText = ""
    host: NameText | None = None
    wait_s: Annotated[float, Meta(ge=0, le=WAIT_MAX_S)] = 0.0


class ApiRequest:
    """One request that was read and matches its description."""

    def __init__(self, request: Request, query: Any, body: Any) -> None:
        self.path: Mapping[str, str] = request.path_params
        self.query = query
        self.body = body
        self.may_command: bool = request.scope["state"]["may_command"]
        self.holder: str = request.scope["state"]["holder"]  # the name of the token
        self.after = request.headers.get("last-event-id", "")[:60]
        self.takes_gzip = "gzip" in request.headers.get("accept-encoding", "")


async def read_asked(request: Request, query: type[Struct], body: Any) -> ApiRequest:
    return ApiRequest(request, _query(request, query), None if body is None else await _body(request, body))


def _query(request: Request, wanted: type[Struct]) -> Any:
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise BadRequest(f"`{name}` is given twice", "give it once", name)
        if "\0" in value:
            raise BadRequest(f"`{name}` contains a NUL character", "remove it", name)
        given[name] = value
    try:
        return msgspec.convert(given, wanted, strict=False)
    except msgspec.ValidationError as error:
        raise _explained(error, "query") from None


async def _body(request: Request, wanted: Any) -> Any:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        content = await request.body()
    except BodyTooLarge:
        raise BadRequest(
            f"the body is larger than {BODY_BYTES_MAX:,} bytes", "send it in several parts", status=413
        ) from None
    if not content and not kind:
        content = b"{}"
    elif kind != JSON:
        raise BadRequest(
            f"the body must be {JSON}, got {kind[:100] or 'no content type'}",
            "send `content-type: application/json`",
            status=415,
        )
    try:
        return msgspec.json.decode(content, type=wanted)
    except msgspec.ValidationError as error:
        raise _explained(error, "body") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"the body is not JSON: {error}", "", status=400) from None


_PLACE = re.compile(r" - at `\$?\.?(?:key in )?([^`]*)`$")
_UNKNOWN = re.compile(r"unknown field `([^`]*)`")


def _explained(error: msgspec.ValidationError, where: str) -> BadRequest:
    text = str(error)
    place = _PLACE.search(text)
    unknown = _UNKNOWN.search(text)
    field = place[1] if place else unknown[1] if unknown else ""
    message = _PLACE.sub("", text)
    said = f"{where}: " + (f"`{field}`: " if field and not unknown else "") + message[:1].lower() + message[1:]
    return BadRequest(said, "/api/v1/openapi.json describes what it takes", field)
