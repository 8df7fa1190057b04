"""Asks a model server over HTTP. The result is a small answer in time, or an error that says what came instead."""

from typing import TYPE_CHECKING

from manyhands.readers.no_answer import NoAnswer

if TYPE_CHECKING:
    import httpx

#: The metrics of a busy vLLM are about 200 kB. An endless stream must not fill our memory.
ANSWER_BYTES_MAX = 4 << 20


class NotOffered(NoAnswer):
    """The server works but does not have this page, or has it switched off."""


def server_root(url: str) -> str:
    """The address of a server's own pages, from the address of its OpenAI-compatible API."""
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
            # The probe's own deadline limits the whole request; that of httpx starts again with every byte.
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
