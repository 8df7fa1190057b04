"""A `[budgets.NAME]` table becomes a budget, or every reason why it cannot."""

import msgspec

from manyhands.core.values.spending_limit import SpendingLimit
from manyhands.readers.name_rules import check_name
from manyhands.readers.problems import FieldPath, Sheet
from manyhands.readers.shape import REFUSED, read_as


def budget_from(name: str, table: object, sheet: Sheet) -> SpendingLimit | None:
    here: FieldPath = ("budgets", name)
    good = check_name(name, here, sheet)
    plain = read_as(SpendingLimit, table, here, sheet)
    if plain is REFUSED or not good:
        return None
    if plain.get("cost") is None and plain.get("tokens") is None:
        message = f"budget `{name}` bounds nothing: give it `cost` or `tokens`"
        sheet.tell(here, message, "for example `cost = 10.0` or `tokens = 1000000`")
        return None
    return msgspec.convert(plain | {"name": name}, SpendingLimit)
