"""The token for GitHub: from a variable, or from GitHub's own program `gh`, if somebody has logged in with it."""

import subprocess
from collections.abc import Mapping
from urllib.parse import urlsplit

from manyhands.errors import UsageError

_TIMEOUT_S = 20.0


def github_token(variable: str, url: str, what: str, environ: Mapping[str, str]) -> str:
    """The token for this address. `what` needs it."""
    token = environ.get(variable, "").strip() or _of_gh(url, environ)
    if not token:
        raise UsageError(
            f"{what} a token in `{variable}`, which is not set, and `gh auth token` has none",
            f"`gh auth login`, or `export {variable}=…` with a token that may write issues and pull requests",
        )
    return token


def _of_gh(url: str, environ: Mapping[str, str]) -> str:
    """Only the token of the server that it is sent to."""
    host = (urlsplit(url).hostname or "").removeprefix("api.")
    try:
        done = subprocess.run(
            ["gh", "auth", "token", "--hostname", host],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
