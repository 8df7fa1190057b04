"""`manyhands plan`: what is wrong with a plan, or what it amounts to; nothing is run."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from manyhands.backlogs.figures import Figures, figures_of
from manyhands.backlogs.hosts import check_hosts
from manyhands.backlogs.plan import PlanRefused, read_plan
from manyhands.backlogs.schema import plan_schema
from manyhands.cli.output import Output, print_json, put, put_lines, say
from manyhands.cli.settings import load


def check_plans(paths: Sequence[Path], output: Output, config_path: Path | None, hosts_path: Path | None) -> int:
    try:
        plan = read_plan(paths)
        config = load(config_path, hosts_path, None)
        problems = check_hosts(plan, config.core_hosts(), config.core_families(), config.core_routes())
        if problems:
            raise PlanRefused(problems)
    except PlanRefused as refused:
        if output is not Output.JSON:
            raise
        print_json({"problems": refused.problems, "total": refused.total})
        return refused.exit_code
    figures = figures_of(plan.tasks)
    if output is Output.JSON:
        print_json({"problems": [], "total": 0, **msgspec.to_builtins(figures, str_keys=True)})
    elif output is Output.IDS:
        put_lines(task.id for task in plan.tasks)
    else:
        put(_described(figures))
    return 0


def _described(figures: Figures) -> str:
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
