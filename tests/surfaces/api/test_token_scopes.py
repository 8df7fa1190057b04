"""What each token allows, and what the audit trail tells of it. Held by real requests to a real server."""

import stat
from collections.abc import AsyncIterator

import httpx
import pytest

from manyhands.core.events import QuestionAnswered, QuestionAsked
from manyhands.core.values.question import Question, QuestionKind
from manyhands.engine.dispatcher import Dispatcher
from manyhands.errors import Conflict, UsageError
from manyhands.surfaces.api.named_tokens import FILE, OWNER, make_token, named_tokens, revoke_token, rotate_token
from manyhands.surfaces.api.token import token_of
from manyhands.surfaces.api.token_scope import TokenScope
from manyhands.surfaces.verbs.audit_trail import read_audit
from surfaces.api.live import nap, offered, open_run, store_of

CANCEL = "/api/v1/tasks/r/a/cancel"
NEW = {"tasks": [{"id": "more", "run": ["true"], "claims": {}}]}


@pytest.fixture
async def client(live: Dispatcher) -> AsyncIterator[httpx.AsyncClient]:
    await open_run(live, [nap("a", 600)])
    async with offered(live, address="0.0.0.0") as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        yield client


async def statuses(client: httpx.AsyncClient, token: str) -> list[int]:
    """Of reading, adding and a command."""
    headers = {"authorization": f"Bearer {token}"}
    answers = [
        await client.get("/api/v1/runs", headers=headers),
        await client.post("/api/v1/tasks", json=NEW, headers=headers),
        await client.post(CANCEL, headers=headers),
    ]
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (TokenScope.READ, [200, 403, 403]),
        (TokenScope.ADD, [200, 200, 403]),
        (TokenScope.COMMAND, [200, 200, 200]),
    ],
)
async def test_a_token_allows_its_scope_and_no_more(
    live: Dispatcher, client: httpx.AsyncClient, scope: TokenScope, expected: list[int]
) -> None:
    token = make_token(store_of(live), "ann", scope, 0.0)
    assert await statuses(client, token) == expected
    asked = [(line.who, line.came_from, line.asked, line.answer) for line in read_audit(store_of(live))]
    assert asked == [
        ("ann", "127.0.0.1", "POST /api/v1/tasks", str(expected[1])),
        ("ann", "127.0.0.1", f"POST {CANCEL}", str(expected[2])),
    ]


async def test_a_rotated_or_revoked_token_stops_working_while_the_server_runs(
    live: Dispatcher, client: httpx.AsyncClient
) -> None:
    store = store_of(live)
    first, owners = make_token(store, "ann", TokenScope.READ, 0.0), token_of(store)
    assert (await statuses(client, first))[0] == 200
    second, new_owners = rotate_token(store, "ann", 1.0), rotate_token(store, OWNER, 1.0)
    assert new_owners == token_of(store)
    assert [(await statuses(client, token))[0] for token in (first, owners, second)] == [401, 401, 200]
    revoke_token(store, "ann")
    assert (await statuses(client, second))[0] == 401
    assert await statuses(client, new_owners) == [200, 200, 200]


async def test_the_store_has_no_token_that_could_be_read_from_it(live: Dispatcher) -> None:
    store = store_of(live)
    token = make_token(store, "ann", TokenScope.ADD, 0.0)
    assert token not in (store / FILE).read_text()
    assert stat.S_IMODE((store / FILE).stat().st_mode) == 0o600
    assert [(one.name, one.scope) for one in named_tokens(store)] == [("ann", TokenScope.ADD)]
    with pytest.raises(Conflict, match="there is a token `ann` already"):
        make_token(store, "ann", TokenScope.READ, 0.0)
    with pytest.raises(UsageError, match="there is no token `bob`"):
        revoke_token(store, "bob")


async def test_a_damaged_list_of_tokens_does_not_lock_the_owner_out(
    live: Dispatcher, client: httpx.AsyncClient
) -> None:
    (store_of(live) / FILE).write_text("{")
    assert (await statuses(client, token_of(store_of(live))))[0] == 200


@pytest.mark.parametrize(
    ("holder", "says", "told"),
    [("ann", "", "ann"), ("ann", "Bob", "Bob (token ann)"), (OWNER, "Bob", "Bob"), (OWNER, "", OWNER)],
)
async def test_whoever_answers_over_http_is_told_by_the_name_of_the_token(
    live: Dispatcher, client: httpx.AsyncClient, holder: str, says: str, told: str
) -> None:
    store = store_of(live)
    attempt = live.book.runs["r"].records["a"].history[-1].attempt  # type: ignore[index]
    await live.submit(QuestionAsked(live.clock.now(), attempt, Question(QuestionKind.QUESTION, "which one?")))
    token = token_of(store) if holder == OWNER else make_token(store, holder, TokenScope.COMMAND, 0.0)
    heard: list[str] = []
    live.recorded.append(lambda batch: heard.extend(one.by for one in batch if isinstance(one, QuestionAnswered)))
    body = {"words": "left", **({"by": says} if says else {})}
    headers = {"authorization": f"Bearer {token}"}
    answer = await client.post("/api/v1/tasks/r/a/answer", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    assert heard == [told]
