"""A `[models.NAME]` table becomes a model for the worker, or every reason why it cannot."""

import msgspec

from manyhands.readers.name_rules import check_name
from manyhands.readers.problems import FieldPath, Sheet, did_you_mean
from manyhands.readers.shape import REFUSED, read_as
from manyhands.worker.values.model_config import ModelConfig


def model_from(name: str, table: object, sheet: Sheet) -> ModelConfig | None:
    """The model, or None when the sheet has been told what is wrong."""
    here: FieldPath = ("models", name)
    if not check_name(name, here, sheet):
        return None
    if isinstance(table, dict) and "name" in table:
        sheet.tell((*here, "name"), "`name` is the name of the table", f"write [models.{table['name']}]")
        return None
    plain = read_as(ModelConfig, table, here, sheet)
    if plain is REFUSED:
        return None
    if bool(plain.get("path")) == bool(plain.get("package")):
        sheet.tell(here, "a model has either a `path` or a `package`", 'write `path = "models/minilm"`')
        return None
    return msgspec.convert(plain | {"name": name}, ModelConfig)


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
