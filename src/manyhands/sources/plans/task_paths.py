"""The paths in a task, made plain. Whether a path stays in the workspace is more than a declaration can say."""

from typing import Any

from msgspec.structs import replace

from manyhands.core.claims import is_resource
from manyhands.core.values.task import Task
from manyhands.readers.problems import FieldPath, Sheet
from manyhands.sources.workspace_paths import BadPath, filled_file, plain_claim, plain_directory


def plain_claims(claims: dict[str, Any], path: FieldPath, sheet: Sheet) -> dict[str, list[str]] | None:
    """Claims with every path made plain; None if one of them is bad, in which case the sheet has been told.

    Passes over what is not well-typed.
    """
    plain: dict[str, list[str]] = {}
    good = True
    for mode, patterns in claims.items():
        found: dict[str, None] = {}  # the same claim twice is one claim
        for place, pattern in enumerate(patterns if isinstance(patterns, list) else ()):
            if not isinstance(pattern, str):
                continue
            try:
                found[plain_claim(pattern)] = None
            except BadPath as bad:
                sheet.wrong((*path, mode, place), pattern, bad.rule, bad.hint)
                good = False
        plain[mode] = list(found)
    return plain if good else None


def plain_cwd(cwd: str, path: FieldPath, sheet: Sheet) -> str | None:
    try:
        return plain_directory(cwd)
    except BadPath as bad:
        sheet.wrong(path, cwd, bad.rule, bad.hint)
        return None


def with_plain_artefacts(task: Task, sheet: Sheet) -> Task | None:
    """The task with the paths of what it leaves filled in and made plain; None if the sheet has been told."""
    save = _filled_save(task, sheet) if task.save else ""
    kept = plain_claims({"keep": list(task.keep)}, (), sheet)
    if save is None or kept is None:
        return None
    for place, pattern in enumerate(kept["keep"]):
        if is_resource(pattern):
            sheet.wrong(("keep", place), pattern, "must be a path or a glob", "a named resource is not a file")
            return None
    return replace(task, save=save, keep=tuple(kept["keep"]))


def _filled_save(task: Task, sheet: Sheet) -> str | None:
    try:
        return filled_file(task.save, task.id, task.kind)
    except BadPath as bad:
        sheet.wrong(("save",), task.save, bad.rule, bad.hint)
        return None
