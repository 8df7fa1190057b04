"""Who is answered, before anything else is looked at: by name of this machine, origin of the page, and token.

On loopback anyone of this machine may read, and commands want the token. Beyond loopback everything wants it.
"""

import asyncio
import ipaddress
import logging
import socket
import time
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manyhands.errors import StoreBroken
from manyhands.surfaces.api.named_tokens import NamedToken, TokenHolders
from manyhands.surfaces.api.refusals import refusal
from manyhands.surfaces.api.token_scope import TokenScope
from manyhands.surfaces.verbs.audit_trail import AuditLine, note_command

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
#: Methods that only read. All others change something and need the token.
READING = frozenset({"GET", "HEAD", "OPTIONS"})
#: What whoever may only add tasks can ask for: that, and to take tasks as an agent that comes by itself.
ADDING = ("/api/v1/tasks", "/api/v1/pull/")
#: The longest query that the description allows, with every character escaped.
QUERY_BYTES_MAX = 16_384
#: More than any endpoint has.
QUERY_FIELDS_MAX = 30
BODY_BYTES_MAX = 8 << 20
#: Agents renew their leases all the time. The audit trail leaves that out.
HEARTBEAT = "/api/v1/pull/report"

CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
POLICY = "content-security-policy"
SAFE_HEADERS = {
    POLICY: CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


#: For a browser: what is wrong, and what to do.
_NO_ENTRY = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>manyhands: wrong token</title>
<h1>This page needs another token</h1>
<p>The token in the address is wrong or missing. Open the address that <code>manyhands serve</code> or
<code>manyhands run --follow</code> printed on its terminal, or <code>/?token=</code> with the word in the file
<code>token</code> of the store's directory.</p>
<p>On the machine itself <a href="/">the page without a token</a> is read only.</p>
</html>
"""


class Gate:
    """Stands before the application. `directory` is that of the store, with the tokens and the audit trail."""

    def __init__(self, app: ASGIApp, directory: Path, beyond_loopback: bool) -> None:
        self._app = app
        self._directory = directory
        self._holders = TokenHolders(directory)
        self._beyond_loopback = beyond_loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        holder = self._holder(scope, headers)
        may_command = holder is not None and holder.scope is TokenScope.COMMAND
        state = scope.setdefault("state", {})
        state["may_command"], state["holder"] = may_command, "" if holder is None else holder.name
        answer = self._refusal(scope, headers, holder) or self._entry(scope)
        app = answer if answer is not None else self._app
        safely = _with_safe_headers(send)
        if holder is not None and scope["method"] not in READING and scope["path"] != HEARTBEAT:
            safely = self._noted(scope, holder, safely)
        await app(scope, _bounded(receive), safely)

    def _noted(self, scope: Scope, holder: NamedToken, send: Send) -> Send:
        """Every command of somebody who holds a token is in the audit trail, with the status of its answer."""

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                address = (scope.get("client") or ("the Unix socket",))[0]
                asked = f"{scope['method']} {scope['path']}"
                line = AuditLine(time.time(), holder.name, address, asked, str(message["status"]))
                try:
                    await asyncio.to_thread(note_command, self._directory, line)
                except StoreBroken as error:  # the command is done; a full disk must not hide its answer
                    logging.getLogger(__name__).warning("%s", error)
            await send(message)

        return noted

    def _refusal(self, scope: Scope, headers: Headers, holder: NamedToken | None) -> ASGIApp | None:
        host = headers.get("host", "")
        if not (is_own_name(host) if self._beyond_loopback else is_loopback_name(host)):
            return refusal(403, "this server does not go by that name", "use its address, localhost or 127.0.0.1")
        if not _is_own_page(scope, headers, host):
            return refusal(403, "pages of another origin are not answered", "open this server's own page")
        if len(scope.get("query_string", b"")) > QUERY_BYTES_MAX:
            return refusal(414, f"the query is longer than {QUERY_BYTES_MAX:,} bytes", "ask for less at once")
        if _has_too_many_fields(scope):
            return refusal(400, f"the query has more than {QUERY_FIELDS_MAX} fields", "leave out what is not described")
        if _is_too_long(headers):
            return refusal(413, f"the body is larger than {BODY_BYTES_MAX:,} bytes", "send it in several parts")
        if holder is not None and not holder.scope.covers(wanted := _wanted_scope(scope)):
            return refusal(
                403,
                f"token `{holder.name}` has the scope `{holder.scope}`, and this needs `{wanted}`",
                "`manyhands token add NAME --scope …` makes another one",
            )
        if holder is None and self._wants_token(scope):
            if scope["path"] == "/" and "text/html" in headers.get("accept", ""):
                return Response(_NO_ENTRY, 401, {"www-authenticate": "Bearer"}, "text/html; charset=utf-8")
            return refusal(
                401,
                "this wants the token",
                "`Authorization: Bearer …` with what is in `token` in the store's directory, or open /?token=… once",
                {"www-authenticate": "Bearer"},
            )
        return None

    def _wants_token(self, scope: Scope) -> bool:
        # An address with a token shows by itself whether it may come in.
        return self._beyond_loopback or scope["method"] not in READING or _token_in_query(scope) is not None

    def _holder(self, scope: Scope, headers: Headers) -> NamedToken | None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        offered = [given.strip()] if scheme.lower() == "bearer" else []
        offered.append(_cookie(headers, cookie_name(scope)))
        if scope["path"] == "/":
            offered.append(_token_in_query(scope) or "")
        found = (self._holders.holder_of(one) for one in offered if one)
        return next((holder for holder in found if holder is not None), None)

    def _entry(self, scope: Scope) -> ASGIApp | None:
        """`/?token=…` was opened: the browser gets the token as a cookie, and the address loses it."""
        token = _token_in_query(scope)
        if token is None:
            return None
        answer = RedirectResponse("/", 303, {"cache-control": "no-store"})
        answer.set_cookie(cookie_name(scope), token, httponly=True, samesite="strict", path="/")
        return answer


def _wanted_scope(scope: Scope) -> TokenScope:
    if scope["method"] in READING:
        return TokenScope.READ
    adds, takes = ADDING
    is_work = scope["path"] == adds or scope["path"].startswith(takes)
    return TokenScope.ADD if scope["method"] == "POST" and is_work else TokenScope.COMMAND


def is_loopback_name(host: str) -> bool:
    """The name in a Host header, with or without a port. It gives away a foreign name that was made to lead here."""
    name, is_sound = _name_of(host)
    return is_sound and (name in LOOPBACK_NAMES or (is_address(name) and is_loopback_address(name)))


def is_own_name(host: str) -> bool:
    """Beyond loopback: an IP address, which cannot be a foreign name, or the host name of this machine."""
    name, is_sound = _name_of(host)
    if not is_sound:
        return False
    if name in LOOPBACK_NAMES or name == socket.gethostname().lower() or name == socket.getfqdn().lower():
        return True
    return is_address(name)


def is_address(name: str) -> bool:
    """An IP address, which cannot be a foreign name that was made to lead here."""
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def is_loopback_address(name: str) -> bool:
    return ipaddress.ip_address(name.removeprefix("[").removesuffix("]")).is_loopback


def cookie_name(scope: Scope) -> str:
    """The cookie's name has the port: browsers send cookies to all ports of a host, and two servers must not clash."""
    server = scope.get("server") or ("", 0)
    return f"manyhands-{server[1]}"


def _name_of(host: str) -> tuple[str, bool]:
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "0"
    return name.lower(), port.isdecimal()


def _is_own_page(scope: Scope, headers: Headers, host: str) -> bool:
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
        return False
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return True
    # A link from elsewhere may open the page; nothing else may come from there.
    is_visit = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return is_visit and scope["method"] == "GET" and scope["path"] == "/"


def _token_in_query(scope: Scope) -> str | None:
    if scope["path"] != "/" or b"token=" not in scope.get("query_string", b""):
        return None
    try:
        found = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=QUERY_FIELDS_MAX).get("token")
    except ValueError:
        return None  # such a query is refused
    return found[0] if found else None


def _has_too_many_fields(scope: Scope) -> bool:
    return bool(scope.get("query_string", b"").count(b"&") >= QUERY_FIELDS_MAX)


def _cookie(headers: Headers, name: str) -> str:
    try:
        cookie = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookie[name].value if name in cookie else ""


def _is_too_long(headers: Headers) -> bool:
    length = headers.get("content-length", "0")
    return not length.isdecimal() or len(length) > 15 or int(length) > BODY_BYTES_MAX


class BodyTooLarge(Exception):
    """The body was longer than announced, or its length was not announced."""


def _bounded(receive: Receive) -> Receive:
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > BODY_BYTES_MAX:
                raise BodyTooLarge
        return message

    return bounded


def _with_safe_headers(send: Send) -> Send:
    async def safe(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SAFE_HEADERS.items():
                headers[name] = value if name != POLICY else headers.get(POLICY, value)  # a page may forbid more
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return safe
