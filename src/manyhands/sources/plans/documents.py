"""Plans in TOML and YAML: a table with the tasks under `task` and the settings under `plan`."""

import re

from manyhands.readers.problems import Problem, Sheet, value_text
from manyhands.readers.shape import known
from manyhands.readers.text import decoded
from manyhands.readers.toml_file import parse_toml
from manyhands.sources.plans.gathering import Gathering

#: In any format, good enough for a file that cannot be parsed: others may need its tasks.
_ID = re.compile(r"""^[\s\-{\[]*["']?id["']?\s*[:=]\s*["']?([^"'\s,}]{1,200})""", re.MULTILINE)


def read_toml(file: str, raw: bytes, gathering: Gathering) -> None:
    text = decoded(raw, file, gathering.problems)
    if text is None:
        return
    parsed = parse_toml(file, text, gathering.problems)
    if parsed is None:
        _salvage_ids(text, gathering)
        return
    document, lines = parsed
    _take_document(document, Sheet(file, lines, gathering.problems), gathering, '`[[task]]` with `id = "…"`')


def read_yaml(file: str, raw: bytes, gathering: Gathering) -> None:
    from manyhands.readers.yaml_nodes import YamlRefused, read_yaml_document

    text = decoded(raw, file, gathering.problems)
    if text is None:
        return
    try:
        document, line_of = read_yaml_document(text)
    except YamlRefused as refused:
        for line, message, hint in refused.complaints:
            gathering.problems.add(Problem(file=file, line=line, message=message, hint=hint))
        _salvage_ids(text, gathering)
    else:
        _take_document(document, Sheet(file, line_of, gathering.problems), gathering, "`task:` and a list below it")


def _salvage_ids(text: str, gathering: Gathering) -> None:
    for found in _ID.finditer(text):
        gathering.salvage_id(found[1])


def _take_document(document: object, sheet: Sheet, gathering: Gathering, example: str) -> None:
    if document is None:
        return
    if not isinstance(document, dict):
        sheet.tell((), f"must be a table with `task` in it, got {value_text(document)}", f"write {example}")
        return
    for key in document:
        known(key, ["task", "plan"], (), sheet)
    if "plan" in document:
        gathering.take_settings(document["plan"], sheet.below(("plan",)))
    rows = document.get("task", [])
    if not isinstance(rows, list):
        sheet.wrong(("task",), rows, "must be a list of tables", f"write {example}")
        return
    for place, row in enumerate(rows):
        gathering.take(row, sheet.below(("task", place)))
