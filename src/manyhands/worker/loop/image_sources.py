"""Where the images of requests come from: the request itself, folders and hosts that the config allows, and loopback.

A caller must not be able to make the worker read any file, or ask any server that only the worker can reach.
"""

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx

from manyhands.worker.values.item_answers import Trouble

IMAGE_BYTES_MAX = 32 * 2**20
FETCH_WITHIN_S = 20.0
#: Files that are in memory at once, whatever requests they belong to. Each has up to `IMAGE_BYTES_MAX`.
FILES_AT_ONCE = 8
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ImageSources:
    """What one model may read. `allowed` has folders (relative to the workspace) and origins (`https://host:port`)."""

    def __init__(self, workspace: Path, allowed: Sequence[str] = (), *, fetch_within_s: float = FETCH_WITHIN_S) -> None:
        self._workspace = workspace
        self._origins = {_origin(each) for each in allowed if "://" in each}
        self._folders = [(workspace / Path(each).expanduser()).resolve() for each in allowed if "://" not in each]
        self._fetch_within_s = fetch_within_s
        self._at_once = asyncio.Semaphore(FILES_AT_ONCE)

    async def read_into(
        self, decode: Callable[[bytes], Awaitable[bytes | Trouble]], given: Sequence[object]
    ) -> list[bytes | Trouble]:
        """What `decode` makes of each image, which is a data URI, a URL or a path."""

        async def one(each: object) -> bytes | Trouble:
            # A file is read only when it can be decoded next: a short request can name any number of large files.
            async with self._at_once:
                file = await self._file_of(each)
                return await decode(file) if isinstance(file, bytes) else file

        return list(await asyncio.gather(*map(one, given)))

    async def close(self) -> None:
        if "_client" in self.__dict__:
            await self._client.aclose()

    async def _file_of(self, given: object) -> bytes | Trouble:
        if not isinstance(given, str) or not given.strip():
            return _refused("not_image", "an image must be a data URI, a URL or a path, as a string")
        if given.startswith("data:"):
            return _of_data_uri(given)
        if given.startswith(("http://", "https://")):
            return await self._fetched(given)
        return await asyncio.to_thread(self._of_file, given)

    @cached_property
    def _client(self) -> httpx.AsyncClient:
        # A proxy of the environment could reach other hosts than the ones that are allowed.
        return httpx.AsyncClient(timeout=self._fetch_within_s, trust_env=False)

    async def _fetched(self, url: str) -> bytes | Trouble:
        try:
            origin, name = _origin(url), urlsplit(url).hostname
        except ValueError:
            return _refused("not_image", "the image's URL cannot be read")
        if name not in _LOOPBACK and origin not in self._origins:
            hint = f'allow it with `images_from = ["{origin}"]`'
            return _refused("not_allowed", f"images are not fetched from `{origin}`; {hint}")
        pieces, size = [], 0
        try:
            # The time-out of the client is for each piece. A server that sends a byte now and then must end as well.
            # Redirects are not followed: they lead to other hosts.
            async with asyncio.timeout(self._fetch_within_s), self._client.stream("GET", url) as answer:
                if answer.status_code != 200:
                    return _refused("not_fetched", f"`{origin}` answered {answer.status_code} instead of an image")
                async for piece in answer.aiter_bytes():
                    size += len(piece)
                    if size > IMAGE_BYTES_MAX:
                        return _too_large()
                    pieces.append(piece)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            return _refused("not_fetched", f"the image could not be fetched from `{origin}`: {type(error).__name__}")
        return b"".join(pieces)

    def _of_file(self, given: str) -> bytes | Trouble:
        try:
            path = Path(unquote(urlsplit(given).path)) if given.startswith("file://") else Path(given)
        except ValueError:
            return _refused("not_image", "the image's URL cannot be read")
        try:
            file = (self._workspace / path).resolve()
            # Asked before anything else: whether a file exists is nobody's business outside the allowed folders.
            if not any(file.is_relative_to(folder) for folder in self._folders):
                hint = "name its folder in `images_from`"
                return _refused("not_allowed", f"images are not read from `{path.parent}`; {hint}")
            if not file.is_file():
                return _refused("not_found", f"there is no image `{path}`")
            return file.read_bytes() if file.stat().st_size <= IMAGE_BYTES_MAX else _too_large()
        except (OSError, ValueError) as error:
            return _refused("not_found", f"the image `{path}` cannot be read: {type(error).__name__}")


def _of_data_uri(given: str) -> bytes | Trouble:
    head, comma, coded = given.partition(",")
    if not comma or not head.endswith(";base64"):
        return _refused("not_image", "a data URI must be like `data:image/png;base64,…`")
    try:
        file = base64.b64decode(coded, validate=True)
    except (binascii.Error, ValueError):
        return _refused("not_image", "the data URI is not valid base64")
    return file if len(file) <= IMAGE_BYTES_MAX else _too_large()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    shown = "" if port in (80, 443) and (parts.scheme == "https") == (port == 443) else f":{port}"
    return f"{parts.scheme}://{name}{shown}"


def _too_large() -> Trouble:
    return _refused("too_large", f"the image's file is larger than {IMAGE_BYTES_MAX // 2**20} MB")


def _refused(code: str, message: str) -> Trouble:
    return Trouble(code, message, True)
