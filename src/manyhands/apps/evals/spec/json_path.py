"""Paths into JSON documents as people write them: `a.b[0].c`, with or without a leading `$.`."""

import re
from typing import Any

_STEP = re.compile(r"""\.?([A-Za-z_][\w-]*)|\[(-?\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]""")


class BadJsonPath(ValueError):
    pass


class NotThere(LookupError):
    """The document has nothing at this path."""


def parse_json_path(path: str) -> list[str | int]:
    at = 1 if path.startswith("$") else 0
    steps: list[str | int] = []
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            raise BadJsonPath(f"`{path[at:][:40]}` cannot be read")
        name, number, single, double = step.groups()
        steps.append(int(number) if number is not None else next(x for x in (name, single, double) if x is not None))
        at = step.end()
    return steps


def find(document: Any, path: str) -> Any:
    for step in parse_json_path(path):
        try:
            document = document[step]
        except (LookupError, TypeError):
            raise NotThere(f"there is nothing at `{path}`") from None
    return document
