"""The same requests over HTTP, for a dispatcher on another machine or a store that this user may not write to."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from manyhands.errors import Conflict, HostUnreachable, ManyhandsError, Unavailable, UnknownRun, UnknownTask, UsageError
from manyhands.surfaces.api.token import VARIABLE, read_token

TIMEOUT_S = 30.0
PAGE = 1_000
_ERRORS: Mapping[int, type[ManyhandsError]] = {404: UnknownTask, 409: Conflict, 429: Unavailable, 503: Unavailable}


class RemoteDispatcher:
    """The API at an address, as a command sees it."""

    def __init__(self, url: str, directory: Path) -> None:
        if not url.startswith(("http://", "https://")):
            raise UsageError(f"`--url {url}` is not an address", "write it like http://127.0.0.1:8642")
        self._url = url.rstrip("/") + "/api/v1"
        self._token = os.environ.get(VARIABLE) or read_token(directory)

    def ask(self, method: str, path: str, body: object = None, **query: str) -> Any:
        import httpx  # here: only these commands need a client

        headers = {"authorization": f"Bearer {self._token}"} if self._token else {}
        try:
            answer = httpx.request(
                method, self._url + path, json=body, params=query, headers=headers, timeout=TIMEOUT_S, trust_env=False
            )
        except httpx.HTTPError as error:
            raise HostUnreachable(
                f"nobody answers at {self._url}: {error}", "`manyhands serve` prints its address when it starts"
            ) from None
        if answer.is_success:
            return answer.json()
        raise _error(answer.status_code, _told(answer))

    def run_of(self, task: str) -> str:
        """The newest run that has the task."""
        for row in self.ask("GET", "/tasks", q=task[:300], limit="1000")["tasks"]:
            if row["task"] == task:
                return str(row["run"])
        raise UnknownTask(f"there is no task `{task}` in any run", "the page at that address lists the tasks")

    def newest_run(self) -> str:
        runs = self.ask("GET", "/runs", limit="1")["runs"]
        if not runs:
            raise UnknownRun("nothing has been run there yet", "`manyhands add` gives it tasks")
        return str(runs[0]["run"])

    def tasks_of(self, run: str) -> Iterator[dict[str, Any]]:
        """All tasks of the run, a page at a time."""
        offset, total = 0, 1
        while offset < total:
            page = self.ask("GET", "/tasks", run=run, offset=str(offset), limit=str(PAGE))
            yield from page["tasks"]
            offset, total = offset + PAGE, page["total"]


def path_of(*names: str) -> str:
    return "".join(f"/{quote(name, safe='')}" for name in names)


def _told(answer: Any) -> dict[str, str]:
    try:
        told = answer.json()
    except ValueError:
        told = {}
    return (
        told if isinstance(told, dict) and "error" in told else {"error": f"the server answered {answer.status_code}"}
    )


def _error(status: int, told: dict[str, str]) -> ManyhandsError:
    if status == 401:
        return UsageError(told["error"], f"set {VARIABLE}, or name the directory that has the token with --store")
    return _ERRORS.get(status, UsageError)(told["error"], told.get("hint", ""))
