"""Checks that an agent program is installed and starts, without a request to any model."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from manyhands.hosts.executors.output_text import last_line

_WITHIN_S = 60.0


def what_is_missing(program: Sequence[str], env: Mapping[str, str]) -> tuple[bool, str]:
    """Does the program start? Also returns its version, or what went wrong."""
    name = program[0]
    path = {**os.environ, **env}.get("PATH", os.defpath)
    if shutil.which(name, path=path) is None:
        return False, f"`{name}` is not found on PATH; install it, or name it with `run` of the host's `agent`"
    try:
        done = subprocess.run(
            [*program, "--version"],
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_WITHIN_S,
            check=False,
        )
    except (OSError, ValueError) as error:
        return False, f"`{name}` does not start: {error}"
    except subprocess.TimeoutExpired:
        return False, f"`{name} --version` printed nothing for {_WITHIN_S:g} s"
    says = last_line(done.stdout[-2000:].decode(errors="replace"))
    if done.returncode:
        return False, f"`{name} --version` exits with code {done.returncode}: {says}"
    return True, says or "it starts"
