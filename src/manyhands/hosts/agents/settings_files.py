"""Settings that a program gets from us in a file, because no flag or variable says them."""

import os
from collections.abc import Mapping
from pathlib import Path

from manyhands.hosts.agents.adapter import SettingsFile
from manyhands.readers.plain_file import write_plain


def with_settings(file: SettingsFile | None, directory: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Written to `directory`: the variable that names it there. Nothing where a person has said something else."""
    if file is None or env.get(file.variable) or any(os.path.lexists(place) for place in file.usual_places):
        return {}
    path = directory / f"{file.variable.lower()}.json"
    write_plain(path, file.content.encode())
    return {file.variable: str(path)}
