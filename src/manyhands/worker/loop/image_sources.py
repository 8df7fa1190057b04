"""Where the images of requests come from: the request itself, folders and hosts that the config allows, and loopback.

A caller must not be able to make the worker read any file, or ask any server that only the worker can reach.
"""

import asyncio
import base64
import binascii
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx

from manyhands.worker.values.item_answers import Trouble

IMAGE_BYTES_MAX = 32 * 2**20
FETCH_WITHIN_S = 20.0
#: Images of one request that are fetched at once.
FETCHED_AT_ONCE = 8
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ImageSources:
    """What one model may read. `allowed` has folders (relative to the workspace) and origins (`https://host:port`)."""

    def __init__(self, workspace: Path, allowed: Sequence[str] = ()) -> None:
        self._workspace = workspace
        self._origins = {_origin(each) for each in allowed if "://" in each}
        self._folders = [(workspace / Path(each).expanduser()).resolve() for each in allowed if "://" not in each]

    async def read(self, given: Sequence[object]) -> list[bytes | Trouble]:
        """The files of some images. Each is a data URI, a URL or a path."""
        at_once = asyncio.Semaphore(FETCHED_AT_ONCE)
        # A proxy of the environment could reach other hosts than the ones that are allowed.
        async with httpx.AsyncClient(timeout=FETCH_WITHIN_S, trust_env=False) as client:

            async def one(each: object) -> bytes | Trouble:
                if not isinstance(each, str) or not each.strip():
                    return _refused("not_image", "an image must be a data URI, a URL or a path, as a string")
                if each.startswith("data:"):
                    return _of_data_uri(each)
                async with at_once:
                    if each.startswith(("http://", "https://")):
                        return await self._fetched(client, each)
                    return await asyncio.to_thread(self._of_file, each)

            return list(await asyncio.gather(*map(one, given)))

    async def _fetched(self, client: httpx.AsyncClient, url: str) -> bytes | Trouble:
        try:
            origin, name = _origin(url), urlsplit(url).hostname
        except ValueError:
            return _refused("not_image", "the image's URL cannot be read")
        if name not in _LOOPBACK and origin not in self._origins:
            hint = f'allow it with `images_from = ["{origin}"]`'
            return _refused("not_allowed", f"images are not fetched from `{origin}`; {hint}")
        pieces, size = [], 0
        try:
            async with client.stream("GET", url) as answer:  # redirects are not followed: they lead to other hosts
                if answer.status_code != 200:
                    return _refused("not_fetched", f"`{origin}` answered {answer.status_code} instead of an image")
                async for piece in answer.aiter_bytes():
                    size += len(piece)
                    if size > IMAGE_BYTES_MAX:
                        return _too_large()
                    pieces.append(piece)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return _refused("not_fetched", f"the image could not be fetched from `{origin}`: {type(error).__name__}")
        return b"".join(pieces)

    def _of_file(self, given: str) -> bytes | Trouble:
        path = Path(unquote(urlsplit(given).path)) if given.startswith("file://") else Path(given)
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
