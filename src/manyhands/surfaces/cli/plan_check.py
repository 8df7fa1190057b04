"""`manyhands plan`: says what is wrong with a plan, or how large it is. Runs nothing."""

from collections.abc import Sequence
from pathlib import Path

from manyhands.sources.plans.plan_figures import PlanFigures, figures_of
from manyhands.sources.plans.plan_reading import PlanRefused
from manyhands.sources.plans.plan_schema import plan_schema
from manyhands.surfaces.cli.printing import OutputFormat, print_json, put, put_lines, say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.plan_verbs import HandedIn, check_plan, checked_row
from manyhands.surfaces.verbs.store_view import View


def check_plans(paths: Sequence[Path], output: OutputFormat, settings: Settings) -> int:
    view = View(settings.load())
    handed_in = HandedIn(paths)
    if output is OutputFormat.JSON:
        found = check_plan(view, handed_in)
        print_json(checked_row(found))
        return found.exit_code if isinstance(found, PlanRefused) else 0
    tasks = handed_in.plan(view).tasks
    if output is OutputFormat.IDS:
        put_lines(task.id for task in tasks)
    else:
        put(_described(figures_of(tasks)))
    return 0


def _described(figures: PlanFigures) -> str:
    kinds = ", ".join(f"{kind} {n}" for kind, n in figures.by_kind.items())
    priorities = " · ".join(f"P{priority} {n}" for priority, n in figures.by_priority.items())
    about = "" if figures.ceiling.is_exact else "about "
    lines = [
        f"tasks     {figures.tasks:,} ({kinds})",
        f"priority  {priorities}",
        f"depth     {figures.depth:,} (tasks on the longest chain of needs)",
        f"ceiling   {about}{figures.ceiling.tasks:,} at once, given needs and claims",
    ]
    lines += [f"hot claim {hot.claim}: {hot.tasks:,} tasks take turns" for hot in figures.hottest]
    if figures.hint:
        say(f"hint: {figures.hint}")
    return "\n".join(lines) + "\n"


def print_schema() -> None:
    print_json(plan_schema())
