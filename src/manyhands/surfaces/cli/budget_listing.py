"""`manyhands budget`: lists budgets, and raises one."""

from msgspec.structs import asdict

from manyhands.surfaces.cli.printing import OutputFormat, print_rows, say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs import budget_verbs
from manyhands.surfaces.verbs.request_verbs import ask
from manyhands.surfaces.verbs.store_view import View


def list_budgets(output: OutputFormat, settings: Settings) -> None:
    listed = budget_verbs.list_budgets(View(settings.load()))
    none = "no budget has been spent from; [budgets.NAME] of manyhands.toml declares one"
    print_rows([asdict(row) for row in listed.budgets], output, "budget", none=none)


def raise_budget(budget: str, key: str, settings: Settings) -> None:
    view = View(settings.load())
    say(ask(view, budget_verbs.raise_budget(view, budget, key)).done)
