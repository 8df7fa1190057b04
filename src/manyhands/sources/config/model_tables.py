"""A `[models.NAME]` table becomes a model for the worker, or every reason why it cannot."""

from typing import Any

import msgspec

from manyhands.readers.name_rules import check_name
from manyhands.readers.problems import FieldPath, Sheet, did_you_mean
from manyhands.readers.shape import fits
from manyhands.worker.values.model_config import ModelConfig


def model_from(name: str, table: object, sheet: Sheet) -> ModelConfig | None:
    """The model, or None when the sheet has been told what is wrong."""
    here: FieldPath = ("models", name)
    if not check_name(name, here, sheet):
        return None
    if isinstance(table, dict) and "name" in table:
        sheet.tell((*here, "name"), "`name` is the name of the table", f"write [models.{table['name']}]")
        return None
    if not fits(table, ModelConfig, here, sheet):
        return None
    assert isinstance(table, dict)
    is_sound = [_names_one(table, here, sheet), _has_sound_numbers(table, here, sheet)]
    return msgspec.convert(table | {"name": name}, ModelConfig) if all(is_sound) else None


def _names_one(table: dict[str, Any], here: FieldPath, sheet: Sheet) -> bool:
    if bool(table.get("path")) != bool(table.get("package")):
        return True
    sheet.tell(here, "a model is at a `path` or in a `package`, one of them", 'write `path = "models/minilm"`')
    return False


def _has_sound_numbers(table: dict[str, Any], here: FieldPath, sheet: Sheet) -> bool:
    is_sound = True
    for field, lowest in (("length_max", 1), ("slots", 1), ("context", 64)):
        value = table.get(field)
        if value is not None and value < lowest:
            sheet.wrong((*here, field), value, f"must be at least {lowest}")
            is_sound = False
    if not 0 <= table.get("priority", 2) <= 4:
        sheet.wrong((*here, "priority"), table["priority"], "must be 0 (critical) to 4")
        is_sound = False
    if not 0 < table.get("weight", 1.0) < float("inf"):
        sheet.wrong((*here, "weight"), table["weight"], "must be more than 0")
        is_sound = False
    return is_sound


def check_hosted(host: str, names: tuple[str, ...], model: str, models: tuple[ModelConfig, ...], sheet: Sheet) -> None:
    """A worker host starts a worker with models of the config, so there must be some."""
    known = {each.name for each in models}
    if not known:
        sheet.tell(
            ("hosts", host), "there is no model for this host", 'write [models.NAME] and `path = "…"`, or a `url`'
        )
        return
    for field, wanted in (("models", names), ("model", (model,) if model else ())):
        for name in wanted:
            if name not in known:
                near = did_you_mean(name, known) or f"there is {', '.join(sorted(known))}"
                sheet.wrong(("hosts", host, field), name, "must be a model of [models.…]", near)
