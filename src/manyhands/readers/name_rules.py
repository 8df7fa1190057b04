"""Rules that fields of plans and of the configuration have in common."""

import math
import re
from collections.abc import Mapping

from manyhands.readers.problems import FieldPath, Sheet

NAME_MAX = 200


def is_good_name(name: str) -> bool:
    """Names become directories and arguments, so they hold nothing that a path, a shell or a terminal takes amiss."""
    return (
        0 < len(name) <= NAME_MAX
        and name.isprintable()
        and " " not in name
        and "/" not in name
        and name not in (".", "..")
    )


def check_name(name: str, path: FieldPath, sheet: Sheet) -> bool:
    if is_good_name(name):
        return True
    if not name:
        sheet.wrong(path, name, "must not be empty")
    elif len(name) > NAME_MAX:
        sheet.wrong(path, name, f"must be at most {NAME_MAX} characters long, has {len(name):,}")
    else:
        rule = "must not have blanks, control characters or slashes"
        plain = re.sub(r"[^\w.:@+=-]+", "-", name).strip("-.") or "task-1"
        sheet.wrong(path, name, rule, f"for example `{plain}`")
    return False


def check_env(env: dict[str, str] | None, path: FieldPath, sheet: Sheet) -> bool:
    bad = [name for name in env or () if not name or "=" in name]
    for name in bad:
        sheet.wrong((*path, name), name, "is no name of an environment variable", "take out the `=`")
    return not bad


def check_amounts(amounts: Mapping[str, float] | None, path: FieldPath, sheet: Sheet) -> bool:
    """Resources, or prices."""
    bad = {name: amount for name, amount in (amounts or {}).items() if not 0 <= amount < math.inf}
    for name, amount in bad.items():
        sheet.wrong((*path, name), amount, "must be a finite number, 0 or more")
    return not bad
