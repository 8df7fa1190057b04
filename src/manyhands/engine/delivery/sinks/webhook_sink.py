"""An HTTP POST for each result, signed, with a key by which the receiver knows a repetition.

Signed as `Manyhands-Signature: t=SECONDS,v1=HEX`: HMAC-SHA256 with the shared secret over `SECONDS.BODY`.
"""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Callable

from manyhands.engine.delivery.sinks.letters import Letter
from manyhands.engine.delivery.sinks.sink import SinkError

#: The receiver says it is busy or broken; anything else between 400 and 499 will not get better by repeating it.
_PASSING = frozenset({408, 409, 423, 425, 429})


class WebhookSink:
    def __init__(self, url: str, secret: str = "", timeout_s: float = 30.0) -> None:
        self._url = url
        self._posting = Posting(secret, timeout_s)

    async def send(self, letter: Letter) -> None:
        await self._posting.post(self._url, letter)

    async def close(self) -> None:
        await self._posting.close()


class Posting:
    """Signs and posts, to whatever address: one pool of connections for them all."""

    def __init__(self, secret: str = "", timeout_s: float = 30.0, now: Callable[[], float] = time.time) -> None:
        import httpx  # here, so that what delivers nothing over HTTP need not load it

        self._secret = secret.encode()
        self._timeout_s = timeout_s
        self._now = now
        self._client = httpx.AsyncClient(timeout=timeout_s, follow_redirects=False)
        self._errors = (httpx.HTTPError, httpx.InvalidURL)

    async def post(self, url: str, letter: Letter) -> None:
        body = letter.encoded()
        headers = {"Content-Type": "application/json", "Idempotency-Key": letter.key}
        if self._secret:
            at = f"{self._now():.0f}"
            headers["Manyhands-Signature"] = f"t={at},v1={signature(self._secret, at, body)}"
        try:
            async with asyncio.timeout(self._timeout_s):  # in total: a slow trickle of bytes does not count
                answer = await self._client.post(url, content=body, headers=headers)
        except TimeoutError:
            raise SinkError(f"no answer within {self._timeout_s:g} s") from None
        except self._errors as problem:
            raise SinkError(f"{type(problem).__name__}: {problem}".removesuffix(": ")) from None
        if answer.is_success:
            return
        passing = answer.status_code in _PASSING or answer.status_code >= 500
        raise SinkError(
            f"HTTP {answer.status_code} {answer.text[:200]}".rstrip(),
            permanent=not passing,
            retry_after_s=_seconds(answer.headers.get("Retry-After", "")),
        )

    async def close(self) -> None:
        await self._client.aclose()


def signature(secret: bytes, at: str, body: bytes) -> str:
    return hmac.new(secret, at.encode() + b"." + body, hashlib.sha256).hexdigest()


def _seconds(text: str) -> float:
    return min(float(text), 3600.0) if text.isdigit() else 0.0
