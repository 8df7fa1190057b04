"""Compares what an agent says that it writes with what its task claims, while it runs."""

import os
from pathlib import Path

from manyhands.core.claims import overlap
from manyhands.core.values.task import Task
from manyhands.hosts.agents.agent_events import Does

#: What the programs, and ACP, call tools that change files.
_WRITING = frozenset(
    {"write", "edit", "multiedit", "notebookedit", "write_file", "replace", "delete", "move", "patch", "apply_patch"}
)


class UnclaimedWrites:
    def __init__(self, task: Task, root: Path, place: Path) -> None:
        """Claims are relative to `root`, and files that are not absolute to `place`."""
        self._claims = None if task.claims is None else (*task.claims.write, *task.claims.append)
        self._root = root
        self._place = place
        self._told: set[str] = set()

    def of(self, event: Does) -> list[str]:
        """The files in the workspace that the task does not claim, each of them once."""
        if self._claims is None or event.tool.lower() not in _WRITING:
            return []
        found: list[str] = []
        for file in event.files:
            path = Path(os.path.normpath(self._place / file))
            if not path.is_relative_to(self._root):
                continue
            name = path.relative_to(self._root).as_posix()
            if name not in self._told and not any(overlap(name, claim) for claim in self._claims):
                self._told.add(name)
                found.append(name)
        return found
