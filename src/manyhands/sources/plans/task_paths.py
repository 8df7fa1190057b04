"""The paths in a task, made plain. Whether a path stays in the workspace is more than a declaration can say."""

from typing import Any

from manyhands.readers.problems import FieldPath, Sheet
from manyhands.sources.workspace_paths import BadPath, plain_claim, plain_directory


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
