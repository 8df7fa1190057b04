"""What an agent that asks is allowed: what its host's `confine` allows anyway, and never for longer than once."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manyhands.hosts.agents.acp_reading import paths_in
from manyhands.hosts.agents.refusal_texts import table, text_of

#: Tools that change nothing.
_READING = frozenset({"read", "search", "think", "fetch"})


class AcpPermissions:
    def __init__(self, place: Path, writable: Sequence[Path] | None) -> None:
        """`writable` is where it may write, None: everywhere. Paths that are not absolute are below `place`."""
        self._place = place
        self._writable = None if writable is None else [_real(path) for path in writable]

    def answer(self, asked: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The answer to the request, and what was not allowed, or "".

        A command names no files: the kernel keeps it where it may write, or nothing does.
        """
        call = table(asked.get("toolCall"))
        outside = [path for path in paths_in(call) if not self._is_allowed(path)]
        if call.get("kind") in _READING or not outside:
            option = _option(asked, "allow_once")
            return ({"outcome": _selected(option)}, "") if option else (_CANCELLED, _named(call, "it offers no once"))
        option = _option(asked, "reject_once")
        return ({"outcome": _selected(option)} if option else _CANCELLED), _named(call, ", ".join(outside))

    def _is_allowed(self, path: str) -> bool:
        if self._writable is None:
            return True
        file = _real(self._place / path)
        return any(file.is_relative_to(place) for place in self._writable)


_CANCELLED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}


def _selected(option: str) -> dict[str, Any]:
    return {"outcome": "selected", "optionId": option}


def _option(asked: dict[str, Any], kind: str) -> str:
    options = asked.get("options")
    for option in options if isinstance(options, list) else ():
        if table(option).get("kind") == kind:
            return text_of(option.get("optionId"))
    return ""


def _named(call: dict[str, Any], what: str) -> str:
    return f"{text_of(call.get('kind')) or 'tool'} {what}"


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
