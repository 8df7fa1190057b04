"""Where a journal in PostgreSQL is, from its URL: `postgresql://user@host/database?project=name&sslmode=…`.

Everything except `project` belongs to libpq and is passed on unchanged: hosts, TLS, services, password files.
"""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

from manyhands.errors import ConfigError, UsageError
from manyhands.install_hints import install_hint

PROJECT = "manyhands"
_PROJECT = re.compile(r"[a-z_][a-z0-9_]{0,62}\Z")
_SECRET = re.compile(r"pass", re.IGNORECASE)  # password, sslpassword, passfile
#: A dispatcher gives up on a silent server early enough to know that another one may take the lead.
_DEFAULTS = {
    "application_name": "manyhands",
    "connect_timeout": "3",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "2",
    "tcp_user_timeout": "5000",
}


@dataclass(frozen=True)
class DatabasePlace:
    conninfo: str = field(repr=False)  # may hold a password
    project: str  # the name of the schema
    shown: str  # the URL without secrets

    def __str__(self) -> str:
        return self.shown


def place_of(url: str) -> DatabasePlace:
    try:
        parts = urlsplit(url)
        given = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:
        raise ConfigError(
            "the URL of the store cannot be parsed", "it reads postgresql://user@host:5432/database"
        ) from None
    project = given.pop("project", PROJECT)
    shown = _shown(parts, given, project)
    if not _PROJECT.match(project) or project.startswith("pg_"):
        raise ConfigError(
            f"store `{shown}`: `project` may have only small letters, digits and `_`, got `{project}`",
            f"it names the schema of the journal; leave it out for `{PROJECT}`",
        )
    bare = f"{parts.scheme}://{parts.netloc}{parts.path}?{urlencode(given, quote_via=quote)}"
    return DatabasePlace(_conninfo(bare, given, shown), project, shown)


def _conninfo(url: str, given: dict[str, str], shown: str) -> str:
    psycopg = driver()
    defaults: dict[str, Any] = {name: value for name, value in _DEFAULTS.items() if name not in given}
    try:
        made: str = psycopg.conninfo.make_conninfo(url, **defaults)
    except psycopg.ProgrammingError as error:
        why = str(error).strip().replace(url, shown).splitlines()[0]
        raise ConfigError(f"store `{shown}`: {why}", "the options are those of libpq, and `project`") from None
    return made


def _shown(parts: SplitResult, given: dict[str, str], project: str) -> str:
    user, at, hosts = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    query = {key: value for key, value in given.items() if not _SECRET.search(key)}
    if project != PROJECT:
        query["project"] = project
    netloc = f"{name}{':…' if colon else ''}{at}{hosts}"
    return f"{parts.scheme}://{netloc}{parts.path}" + (f"?{urlencode(query, safe='/:')}" if query else "")


def driver() -> Any:
    """psycopg, which a plain installation does not include."""
    try:
        import psycopg
        import psycopg.conninfo
    except ImportError:
        raise UsageError(
            "a store in PostgreSQL needs psycopg, which is not installed", install_hint("postgres")
        ) from None
    return psycopg
