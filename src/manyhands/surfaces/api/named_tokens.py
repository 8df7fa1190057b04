"""Tokens with a name and a scope, for people and programs that should not have the owner's.

The store keeps their digests, never the tokens. A server reads the files again when they change, so a new, rotated or
revoked token counts at once.
"""

import hashlib
import hmac
import logging
import os
import secrets
from pathlib import Path

import msgspec
from msgspec import Struct

from manyhands.errors import Conflict, StoreBroken, UsageError
from manyhands.readers.name_rules import is_good_name
from manyhands.readers.plain_file import read_plain
from manyhands.store_directory import make_store_directory, write_for_owner
from manyhands.surfaces.api.token import FILE as OWNERS_FILE
from manyhands.surfaces.api.token import TOKEN_BYTES, read_token
from manyhands.surfaces.api.token_scope import TokenScope

FILE = "tokens.json"
#: Whoever started the server holds this one: the file `token`.
OWNER = "owner"
#: Some ten thousand tokens.
_FILE_BYTES_MAX = 2 << 20


class NamedToken(Struct, frozen=True):
    name: str
    scope: TokenScope
    made_at: float
    digest: str = ""  # SHA-256 of the token, which has enough chance in it to need no salt


def named_tokens(directory: Path) -> list[NamedToken]:
    path = directory / FILE
    try:
        return msgspec.json.decode(read_plain(path, _FILE_BYTES_MAX), type=list[NamedToken])
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreBroken(f"cannot read `{path}`: {reason}", f"`rm {path}`, then make the tokens again") from error


def make_token(directory: Path, name: str, scope: TokenScope, at: float) -> str:
    """The new token. It is shown once: nobody can read it from the store."""
    if not is_good_name(name) or name == OWNER:
        raise Conflict(f"`{name}` cannot be the name of a token", "use letters, digits, `-` and `_`")
    tokens = named_tokens(directory)
    if any(one.name == name for one in tokens):
        raise Conflict(f"there is a token `{name}` already", f"`manyhands token rotate {name}` replaces it")
    return _keep(directory, tokens, name, scope, at)


def rotate_token(directory: Path, name: str, at: float) -> str:
    """Another token instead of that one, which no longer works."""
    if name == OWNER:
        token = secrets.token_urlsafe(TOKEN_BYTES)
        make_store_directory(directory)
        write_for_owner(directory / OWNERS_FILE, f"{token}\n".encode())
        return token
    tokens = named_tokens(directory)
    old = _find(tokens, name)
    return _keep(directory, [one for one in tokens if one is not old], name, old.scope, at)


def revoke_token(directory: Path, name: str) -> None:
    tokens = named_tokens(directory)
    old = _find(tokens, name)
    _write(directory, [one for one in tokens if one is not old])


def _find(tokens: list[NamedToken], name: str) -> NamedToken:
    for one in tokens:
        if one.name == name:
            return one
    raise UsageError(f"there is no token `{name}`", "`manyhands token` lists them")


def _keep(directory: Path, others: list[NamedToken], name: str, scope: TokenScope, at: float) -> str:
    token = secrets.token_urlsafe(TOKEN_BYTES)
    _write(directory, [*others, NamedToken(name, scope, at, _digest(token))])
    return token


def _write(directory: Path, tokens: list[NamedToken]) -> None:
    make_store_directory(directory)
    write_for_owner(directory / FILE, msgspec.json.encode(sorted(tokens, key=lambda one: one.name)))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class TokenHolders:
    """Who holds a token that somebody offers."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._seen: list[tuple[int, int] | None] = []
        self._holders: list[NamedToken] = []

    def holder_of(self, offered: str) -> NamedToken | None:
        self._look_again()
        given = _digest(offered)
        found = [one for one in self._holders if hmac.compare_digest(one.digest, given)]
        return found[0] if found else None

    def _look_again(self) -> None:
        seen = [_version(self._directory / name) for name in (OWNERS_FILE, FILE)]
        if seen == self._seen:
            return
        self._holders, self._seen = [], seen
        try:
            if (owners := read_token(self._directory)) is not None:
                self._holders.append(NamedToken(OWNER, TokenScope.COMMAND, 0.0, _digest(owners)))
            self._holders += named_tokens(self._directory)
        except StoreBroken as error:  # whose token cannot be read is not let in; the others are
            logging.getLogger(__name__).warning("%s", error)


def _version(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:  # reading it says what is wrong
        return None
    return found.st_ino, found.st_mtime_ns
