"""Equal values of many tasks kept once: a plan of a million rows repeats its commands, kinds and claims."""

from typing import Any

from msgspec.structs import astuple, force_setattr

from manyhands.core.values.task import Task

#: Values that do not repeat must not be kept twice, once here and once in their task.
_KEPT_MAX = 1024
_FIELDS = ("kind", "run", "needs", "claims", "check", "parent", "host", "cwd", "workspace", "labels", "app", "reply_to")


class Sharing:
    def __init__(self) -> None:
        places = {name: place for place, name in enumerate(Task.__struct_fields__)}
        self._kept: list[tuple[int, str, dict[Any, Any]]] = [(places[name], name, {}) for name in _FIELDS]

    def shared(self, task: Task) -> Task:
        """The same task. It is changed in place, which none can see: equal values took the place of its own."""
        values = astuple(task)  # one call is faster than `getattr` for each field
        for place, name, kept in self._kept:
            value = values[place]
            if not value:
                continue
            same = kept.get(value)
            if same is not None:
                force_setattr(task, name, same)
            elif len(kept) < _KEPT_MAX:
                kept[value] = value
        return task
