"""What a plan says about itself as a whole: its `[plan]` table."""

from typing import Annotated, Any

from msgspec import Struct

from manyhands.core.values.about import About
from manyhands.field_rules import Count, says
from manyhands.readers.problems import Sheet
from manyhands.readers.shape import REFUSED, is_clean, is_too_deep, read_as

_NO_BOUND = "leave it out for no bound"


class PlanSettings(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The plan as a whole."""

    name: Annotated[
        str,
        says("Runs of a plan called `nightly` are called `nightly-1`, `nightly-2` … Left out: the name of the file."),
    ] = ""
    parents: Annotated[
        dict[str, Count],
        says("Parent → the most of its children at once: `{ epic-1 = 2 }`.", _NO_BOUND),
    ] = {}
    concurrency: Annotated[
        Count | None,
        says("The most attempts at once in a run of this plan. `--concurrency` overrides it.", _NO_BOUND),
    ] = None
    fail_fast: Annotated[bool, says("Once a task has failed, the tasks that wait are cancelled.")] = False
    title: Annotated[str, says("One line for people: what the plan is.")] = ""
    goal: Annotated[str, says("What is reached when all of it is done. Reviews and handoffs begin with it.")] = ""
    description: Annotated[str, says("What else people should know.")] = ""
    epics: Annotated[
        dict[str, About],
        says('Parent → its `title`, `goal` and `description`: `{ epic-1 = { title = "Typed API" } }`.'),
    ] = {}
    lessons: Annotated[
        bool,
        says("`true`: prompts are told the lessons that tasks of earlier runs noted, the most confirmed first."),
    ] = False


def settings_from(table: object, sheet: Sheet) -> dict[str, Any]:
    """The settings that are given and good; the sheet is told of the others."""
    if is_too_deep(table) or not is_clean(table, (), sheet):
        return {}
    settings = read_as(PlanSettings, table, (), sheet)
    return {} if settings is REFUSED else dict(settings)


def merge_settings(known: dict[str, Any], more: dict[str, Any], sheet: Sheet) -> None:
    """Several files make one plan: no file may contradict another."""
    for name, value in more.items():
        if name in ("parents", "epics"):
            merge_settings(known.setdefault(name, {}), value, sheet.below((name,)))
        elif known.setdefault(name, value) != value:
            hint = f"another file of this plan says {known[name]!r}; say it once"
            sheet.wrong((name,), value, "is set twice", hint)
