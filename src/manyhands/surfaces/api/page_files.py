"""The files of the page, served from memory: they are few and small, and a browser needs all of them."""

import gzip
import hashlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from manyhands.surfaces.page.inlining import FOLDER, joined_modules

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
TYPES |= {".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}


def packed(body: bytes) -> bytes:
    """As it travels."""
    return gzip.compress(body, 6, mtime=0)


class PageFiles:
    """Browsers keep the files but check for new ones each time, so that old and new parts never mix.

    The modules travel as one script: asked for one by one, they held up the first picture.
    """

    def __init__(self) -> None:
        bodies = {name: (FOLDER / name).read_bytes() for name in ("index.html", "style.css", "icon.svg")}
        bodies["page.js"] = joined_modules().encode()
        self._files = {name: (body, TYPES[Path(name).suffix]) for name, body in bodies.items()}
        self._tags = {name: f'"{hashlib.sha256(body).hexdigest()[:20]}"' for name, (body, _) in self._files.items()}
        self._packed = {name: packed(body) for name, (body, _) in self._files.items()}

    @property
    def travelling_bytes(self) -> int:
        return sum(len(body) for body in self._packed.values())

    def answer(self, name: str, request: Request) -> Response | None:
        """None if there is no such file."""
        if name not in self._files:
            return None
        body, kind = self._files[name]
        common = {"etag": self._tags[name], "cache-control": "no-cache", "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == self._tags[name]:
            return Response(status_code=304, headers=common)
        if "gzip" in request.headers.get("accept-encoding", ""):
            common["content-encoding"] = "gzip"
            body = self._packed[name]
        return Response(body, media_type=kind, headers=common)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = None
        if request.method in ("GET", "HEAD"):
            response = self.answer(scope["path"].removeprefix(scope.get("root_path", "")).lstrip("/"), request)
        await (response or Response(status_code=404))(scope, receive, send)
