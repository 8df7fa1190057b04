"""GitHub's REST API as far as issues and pull requests need it: pages, unchanged answers, limits and refusals."""

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct

from manyhands.errors import HostUnreachable, Unavailable, UsageError

VERSION = "2022-11-28"
#: As many as GitHub gives at once.
PER_PAGE = 100
PAGES_MAX = 100
_TIMEOUT_S = 30.0
#: After a refusal that does not say when to come back, as GitHub's documentation asks for.
_WAIT_S = 60.0
_NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')


class RequestRefused(Exception):
    """GitHub does not do this one thing; others may still go."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Kept(Struct):
    """The last answer for an address, which an unchanged one need not repeat."""

    etag: str
    content: Any
    next: str


class ApiAnswer(NamedTuple):
    status: int
    content: Any
    next: str = ""


class GithubApi:
    def __init__(
        self, repository: str, token: str, url: str = "https://api.github.com", now: Callable[[], float] = time.time
    ) -> None:
        """`now` is the time since 1970. The token goes into one header, and nowhere else."""
        import httpx  # loaded when a backlog is on GitHub

        self._root = f"{url.rstrip('/')}/repos/{repository}"
        self._where = f"{urlsplit(url).netloc.rpartition('@')[2]}/{repository}"
        self._now = now
        self._kept: dict[str, _Kept] = {}
        self._closed_until = 0.0
        self._closed_why = ""
        self.clock_ahead_s = 0.0  # how far GitHub's clock is ahead of ours
        headers = {
            "accept": "application/vnd.github+json",
            "x-github-api-version": VERSION,
            "user-agent": "manyhands",
        }
        if token:
            headers["authorization"] = f"Bearer {token}"
        # Redirects are not followed: a token must not go elsewhere.
        self._client = httpx.Client(headers=headers, timeout=_TIMEOUT_S, follow_redirects=False, trust_env=False)

    def close(self) -> None:
        self._client.close()

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        """All entries of a list. Pages that have not changed cost nothing of the limit."""
        address = f"{self._root}{path}"
        for _ in range(PAGES_MAX):
            answer = self._ask("GET", address)
            if not isinstance(answer.content, list):
                raise Unavailable(f"{self._where} answered {path} with something else than a list")
            yield from (entry for entry in answer.content if isinstance(entry, dict))
            if not answer.next:
                return
            if urlsplit(answer.next).netloc != urlsplit(self._root).netloc:
                raise Unavailable(f"{self._where} names a next page on another server")
            address = answer.next

    def get(self, path: str) -> dict[str, Any]:
        return self._object(self._ask("GET", f"{self._root}{path}"), path)

    def send(self, method: str, path: str, content: object = None) -> dict[str, Any]:
        """Raises RequestRefused for what is wrong with this alone."""
        return self._object(self._ask(method, f"{self._root}{path}", content), path)

    def _object(self, answer: ApiAnswer, path: str) -> dict[str, Any]:
        return answer.content if isinstance(answer.content, dict) else {}

    def _ask(self, method: str, address: str, content: object = None) -> ApiAnswer:
        import httpx

        if self._now() < self._closed_until:
            raise Unavailable(self._closed_why, self._until())
        kept = self._kept.get(address) if method == "GET" else None
        headers = {"if-none-match": kept.etag} if kept is not None else {}
        try:
            response = self._client.request(method, address, json=content, headers=headers)
        except httpx.InvalidURL as error:
            raise UsageError(f"`{address}` is not an address: {error}", "correct the `url` of the backlog") from None
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise HostUnreachable(f"{self._where} cannot be reached: {reason}", "it is tried again by itself") from None
        self._note_clock(response.headers.get("date", ""))
        if response.status_code == 304 and kept is not None:
            return ApiAnswer(304, kept.content, kept.next)
        if response.status_code < 300:
            found = _decoded(response.content)
            following = _NEXT.search(response.headers.get("link", ""))
            answer = ApiAnswer(response.status_code, found, following[1] if following else "")
            if method == "GET" and (etag := response.headers.get("etag")):
                self._kept[address] = _Kept(etag, found, answer.next)
            return answer
        raise self._refusal(response.status_code, response.headers, _decoded(response.content))

    def _refusal(self, status: int, headers: Any, content: Any) -> Exception:
        said = str(content.get("message", "")) if isinstance(content, dict) else ""
        message = f"{self._where}: {status} {said}".strip()
        wait_s = _wait_s(headers, self._now() + self.clock_ahead_s, said) if status in (403, 429) else None
        if wait_s is not None:
            self._closed_until = self._now() + wait_s
            self._closed_why = f"{self._where} has had too many requests: {said or status}"
            return Unavailable(self._closed_why, self._until())
        if status == 401:
            return Unavailable(f"{message}: the token is not accepted", "check the variable that `token_env` names")
        if status >= 500:
            return HostUnreachable(message, "it is tried again by itself")
        if status in (301, 302, 307, 308):
            return Unavailable(f"{message}: the repository has moved", "correct its name in the config")
        return RequestRefused(status, message)

    def _until(self) -> str:
        return f"it is asked again in {max(1.0, self._closed_until - self._now()):.0f} s"

    def _note_clock(self, date: str) -> None:
        from email.utils import parsedate_to_datetime

        try:
            ahead_s = parsedate_to_datetime(date).timestamp() - self._now()
        except (TypeError, ValueError):
            return
        # The header has whole seconds: a small difference is none.
        self.clock_ahead_s = ahead_s if abs(ahead_s) > 2.0 else 0.0


def _wait_s(headers: Any, now: float, said: str) -> float | None:
    """How long a limit lasts; None if the refusal is about something else, such as a right that is missing."""
    try:
        if "retry-after" in headers:
            return max(1.0, float(headers["retry-after"]))
        if headers.get("x-ratelimit-remaining") == "0" and "x-ratelimit-reset" in headers:
            return max(1.0, float(headers["x-ratelimit-reset"]) - now)
    except ValueError:
        return _WAIT_S
    return _WAIT_S if "rate limit" in said.lower() else None


def _decoded(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return None
