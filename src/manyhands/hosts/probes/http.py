"""Asking a model server over HTTP: small answers, in time, or a sentence that says what came instead."""

from typing import TYPE_CHECKING

from manyhands.readers.no_answer import NoAnswer

if TYPE_CHECKING:
    import httpx

#: A busy vLLM's metrics are about 200 kB; a stream without end must not fill our memory.
ANSWER_BYTES_MAX = 4 << 20


class NotOffered(NoAnswer):
    """The server is well but does not have this page, or keeps it switched off."""


def server_root(url: str) -> str:
    """Where a server's own pages are, given the address of its OpenAI-compatible API."""
    return url.rstrip("/").removesuffix("/v1")


class ServerPages:
    def __init__(self, url: str, api_key: str = "") -> None:
        self.root = server_root(url)
        self._api_key = api_key
        self._client: httpx.AsyncClient | None = None

    async def get(self, path: str) -> bytes:
        import httpx

        if self._client is None:
            headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
            # The probe's own deadline bounds it all; httpx's starts again with every byte that trickles in.
            self._client = httpx.AsyncClient(headers=headers, timeout=None)
        address = self.root + path
        try:
            async with self._client.stream("GET", address) as response:
                if response.status_code in (404, 405, 501):
                    raise NotOffered(f"{address} is not offered: status {response.status_code}")
                if response.status_code != 200:
                    raise NoAnswer(f"{address} answered with status {response.status_code}")
                body = bytearray()
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > ANSWER_BYTES_MAX:
                        raise NoAnswer(f"{address} answered with more than {ANSWER_BYTES_MAX >> 20} MB")
                return bytes(body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NoAnswer(f"{address}: {error or type(error).__name__}") from None

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
