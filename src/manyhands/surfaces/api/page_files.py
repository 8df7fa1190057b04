"""The files of the page, served from memory: they are few and small, and a browser needs all of them."""

import gzip
import hashlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
TYPES |= {".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}


def packed(body: bytes) -> bytes:
    """As it travels."""
    return gzip.compress(body, 6, mtime=0)


class PageFiles:
    """Browsers keep the files but check for new ones each time, so that old and new parts never mix."""

    def __init__(self, folder: Path) -> None:
        found = [path for path in folder.rglob("*") if path.suffix in TYPES and path.is_file()]
        self._files = {str(path.relative_to(folder)): (path.read_bytes(), TYPES[path.suffix]) for path in sorted(found)}
        self._tags = {name: f'"{hashlib.sha256(body).hexdigest()[:20]}"' for name, (body, _) in self._files.items()}
        self._packed = {name: packed(body) for name, (body, _) in self._files.items()}

    @property
    def modules(self) -> list[str]:
        return [name for name in self._files if name.endswith(".js")]

    def answer(self, name: str, request: Request, headers: dict[str, str] | None = None) -> Response | None:
        """None if there is no such file."""
        if name not in self._files:
            return None
        body, kind = self._files[name]
        common = {"etag": self._tags[name], "cache-control": "no-cache", "vary": "accept-encoding", **(headers or {})}
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
