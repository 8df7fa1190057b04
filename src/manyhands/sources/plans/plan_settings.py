"""What a plan says about itself as a whole: its `[plan]` table."""

from typing import Any

import msgspec
from msgspec import Struct

from manyhands.readers.problems import Sheet
from manyhands.readers.shape import fits, is_clean, is_too_deep


class PlanSettings(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    name: str = ""
    parents: dict[str, int] = {}  # parent → the most of its children at once
    concurrency: int | None = None
    fail_fast: bool = False


def settings_from(table: object, sheet: Sheet) -> dict[str, Any]:
    """The settings that are given and good; the sheet is told of the others."""
    if is_too_deep(table) or not is_clean(table, (), sheet) or not fits(table, PlanSettings, (), sheet):
        return {}
    settings: dict[str, Any] = msgspec.to_builtins(table)
    concurrency = settings.get("concurrency")
    if concurrency is not None and concurrency < 1:
        sheet.wrong(("concurrency",), concurrency, "must be at least 1", "leave it out for no bound")
    for parent, bound in settings.get("parents", {}).items():
        if bound < 1:
            sheet.wrong(("parents", parent), bound, "must be at least 1", "leave it out for no bound")
    return settings


def merge_settings(known: dict[str, Any], more: dict[str, Any], sheet: Sheet) -> None:
    """Several files make one plan: what one says, no other may contradict."""
    for name, value in more.items():
        if name == "parents":
            merge_settings(known.setdefault("parents", {}), value, sheet.below(("parents",)))
        elif known.setdefault(name, value) != value:
            hint = f"another file of this plan says {known[name]!r}; say it once"
            sheet.wrong((name,), value, "is set twice", hint)
