"""`manyhands budget`: its declarations."""

from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def budget(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> None:
    """List the budgets of the config: what each allows, and what was spent of it."""
    from manyhands.surfaces.cli.budget_listing import list_budgets

    list_budgets(output, settings)


noun = Noun(budget)


@noun.verb("raise")
def budget_raise(
    budget: Annotated[str, Argument("BUDGET", help="The name of the budget.")],
    settings: Settings,
    key: Annotated[str, Argument("KEY", help="The run, host or account. A budget of the day has none.")] = "",
) -> None:
    """Allow a budget that is used up to be used once more: in this run, or today."""
    from manyhands.surfaces.cli.budget_listing import raise_budget

    raise_budget(budget, key, settings)
