"""The copies of files that attempts left are answered as they were kept, and nothing else is."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from manyhands.engine.dispatcher import Dispatcher
from manyhands.surfaces.api import kept_artefacts
from surfaces.api.live import offered, open_run, shell, store_of

ARTEFACT = "/api/v1/tasks/r/makes/artefact"
PATH = "out/a <b>é.bin"
SECRET = "correct-horse-battery"
MAKES = f"mkdir -p out; printf '<script>\\000\\377' > '{PATH}'; echo key $SHOP_TOKEN > out/secret.txt; echo answer"


@pytest.fixture
async def client(live: Dispatcher) -> AsyncIterator[httpx.AsyncClient]:
    env = {"SHOP_TOKEN": SECRET}
    await open_run(live, [shell("makes", MAKES, keep=("out/*",), save="answer.txt", env=env), shell("none", "true")])
    await live.wait_settled("r")
    async with offered(live) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        yield client


def copy_of(live: Dispatcher, path: str) -> Path:
    return store_of(live) / "attempts" / "r" / "makes.1" / "artefacts" / path


async def refusal(client: httpx.AsyncClient, path: str, address: str = ARTEFACT, attempt: str = "1") -> tuple[int, str]:
    answer = await client.get(address, params={"path": path, "attempt": attempt})
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, answer.json()["error"]


async def test_a_kept_file_is_saved_and_never_shown(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/api/v1/tasks/r/makes")).json()["attempts"][0]["artefacts"]
    assert [one["path"] for one in listed] == ["answer.txt", PATH, "out/secret.txt"]
    answer = await client.get(ARTEFACT, params={"path": PATH})
    assert (answer.status_code, answer.content) == (200, b"<script>\0\xff")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''a%20%3Cb%3E%C3%A9.bin"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["../output.log", "out/../../output.log", "/etc/passwd", "out", "out/", ".", "x\ny"])
async def test_only_what_the_journal_lists_is_answered(client: httpx.AsyncClient, path: str) -> None:
    assert await refusal(client, path) == (404, f"attempt 1 at task `makes` left no file `{path}`")
    assert (await refusal(client, path, attempt="2"))[0] == 404
    assert (await refusal(client, PATH, "/api/v1/tasks/r/none/artefact"))[0] == 404


async def test_a_file_of_which_no_copy_was_kept_is_not_answered(client: httpx.AsyncClient) -> None:
    assert await refusal(client, "answer.txt") == (409, "no copy of `answer.txt` was kept")


@pytest.mark.parametrize("at", ["file", "directory", "attempt"])
async def test_no_link_is_followed(client: httpx.AsyncClient, live: Dispatcher, tmp_path: Path, at: str) -> None:
    """Even one to the same content, so that it is the link that is refused."""
    copy = copy_of(live, PATH)
    place = {"file": copy, "directory": copy.parent, "attempt": copy.parents[2]}[at]
    moved = place.rename(tmp_path / "moved")
    place.symlink_to(moved)
    assert copy.read_bytes() == b"<script>\0\xff"
    status, said = await refusal(client, PATH)
    assert (status, said.partition(":")[0]) == (409, f"the copy of `{PATH}` cannot be read")


async def test_a_copy_that_was_changed_or_has_gone_is_not_answered(client: httpx.AsyncClient, live: Dispatcher) -> None:
    copy_of(live, PATH).write_bytes(b"<script>\0\xfe")
    assert await refusal(client, PATH) == (409, f"the copy of `{PATH}` was changed after it was kept")
    copy_of(live, PATH).unlink()
    assert (await refusal(client, PATH))[0] == 409


async def test_a_file_with_a_secret_is_not_answered(client: httpx.AsyncClient) -> None:
    assert await refusal(client, "out/secret.txt") == (409, "`out/secret.txt` has a secret in it, so it is not sent")


async def test_a_file_that_is_too_large_is_not_answered(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_artefacts, "BYTES_MAX", 9)
    assert await refusal(client, PATH) == (409, f"`{PATH}` has 10 bytes, and the page sends at most 9")
