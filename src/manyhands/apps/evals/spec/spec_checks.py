"""What must hold in a spec beyond what its fields declare: between fields, and against the machine."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manyhands.apps.evals.spec.eval_types import Arm, Case, Scorer, Spec
from manyhands.apps.evals.spec.json_path import BadJsonPath, parse_json_path
from manyhands.readers.name_rules import check_name
from manyhands.readers.problems import FieldPath, Sheet, did_you_mean
from manyhands.sources.workspace_paths import BadPath, plain_directory

#: Scorer type → the fields it must have, and those it may have beside `name` and `type`.
FIELDS_OF: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "done": ((), ()),
    "file": (("file",), ()),
    "contains": ((), ("file", "text")),
    "regex": (("pattern",), ("file",)),
    "json": (("path",), ("file", "equals")),
    "command": (("run",), ("timeout",)),
    "tests": (("run",), ("file", "timeout")),
    "python": (("call",), ("timeout",)),
    "pairwise": (("host",), ("file", "question", "timeout")),
}


def check_spec(spec: Spec, path: Path, sheet: Sheet) -> bool:
    """True if nothing is wrong. Otherwise the sheet has every problem."""
    wrong_before = sheet.problems.total
    check_name(spec.name, ("eval", "name"), sheet)
    for name, rows in (("arm", spec.arms), ("case", spec.cases), ("scorer", spec.scorers)):
        _check_names(name, rows, sheet)
    arms = [arm.name for arm in spec.arms]
    runs = {f"{arm}.{case.name}" for arm in arms for case in spec.cases}
    if len(runs) < len(set(arms)) * len({case.name for case in spec.cases}):
        sheet.tell(
            ("arm",),
            "two trials would have the same name, because names of arms and cases contain dots",
            "write the names without dots",
        )
    if spec.baseline not in arms:
        _unknown_arm(spec.baseline, ("eval", "baseline"), arms, sheet)
    if spec.stop_when_decided and not spec.interleave:
        sheet.tell(("eval",), "an eval that runs arm by arm cannot stop when it is decided", "leave `interleave` out")
    if len(spec.arms) < 2:
        sheet.tell((), "has only one arm, so there is nothing to compare", "add an [[arm]], or `null_arm = true`")
    for place, arm in enumerate(spec.arms):
        _check_arm(arm, ("arm", place), spec, sheet)
    for place, case in enumerate(spec.cases):
        _check_case(case, ("case", place), spec, path, sheet)
    for place, scorer in enumerate(spec.scorers):
        _check_scorer(scorer, ("scorer", place), spec, sheet)
    return sheet.problems.total == wrong_before


def _check_names(kind: str, rows: Sequence[Any], sheet: Sheet) -> None:
    first: dict[str, int] = {}
    for place, row in enumerate(rows):
        path: FieldPath = (kind, place, "name")
        if row.name in first:
            line = sheet.line_of((kind, first[row.name], "name"))
            sheet.wrong(path, row.name, f"is already the name of the {kind} on line {line}", "rename one of the two")
        first.setdefault(row.name, place)


def _unknown_arm(name: str, path: FieldPath, arms: list[str], sheet: Sheet) -> None:
    hint = did_you_mean(name, arms) or f"the arms are {', '.join(arms)}"
    sheet.wrong(path, name, "must be the name of an arm", hint)


def _check_arm(arm: Arm, path: FieldPath, spec: Spec, sheet: Sheet) -> None:
    if arm.same_as:
        others = [other.name for other in spec.arms if not other.same_as]
        if arm.same_as not in others:
            _unknown_arm(arm.same_as, (*path, "same_as"), others, sheet)
        if arm != Arm(arm.name, same_as=arm.same_as):
            sheet.tell(path, "an arm with `same_as` cannot have other fields than `name`", "remove the other fields")
        return
    if arm.run and arm.call:
        sheet.tell(path, f"arm `{arm.name}` has both `run` and `call`", "keep one of the two")
    _check_program(arm.run, (*path, "run"), sheet)
    if not arm.run and not arm.call:
        for case in spec.cases:
            if not case.prompt and not case.prompts:
                rule = f"has no `run` and no `call`, so case `{case.name}` needs a `prompt` for the model"
                sheet.tell(path, f"arm `{arm.name}` {rule}", "give the arm a `run`, or the case a `prompt`")
                return


def _check_program(argv: Sequence[str], path: FieldPath, sheet: Sheet) -> None:
    """A command that does not exist would look like an arm that always fails."""
    if argv and (os.sep not in argv[0] or os.path.isabs(argv[0])) and shutil.which(argv[0]) is None:
        hint = "install it, or give its path; `{spec}` is the directory of the spec"
        sheet.wrong((*path, 0), argv[0], "must be a program that exists and is executable", hint)


def _check_case(case: Case, path: FieldPath, spec: Spec, file: Path, sheet: Sheet) -> None:
    if case.prompt and case.prompts:
        sheet.tell(path, f"case `{case.name}` has both `prompt` and `prompts`", "keep one of the two")
    if case.prompts and len(case.prompts) != spec.sessions:
        rule = f"must have one prompt for each of the {spec.sessions} sessions, got {len(case.prompts)}"
        sheet.tell((*path, "prompts"), f"`prompts` {rule}", "`sessions` of [eval] says how many there are")
    if case.files and not (file.parent / case.files).exists():
        hint = f"the path is relative to the spec: {(file.parent / case.files).absolute()}"
        sheet.wrong((*path, "files"), case.files, "must be a directory or a file that exists", hint)


def check_scorer_texts(scorer: Scorer, path: FieldPath, sheet: Sheet) -> None:
    """Texts of one field each that only their own parsers can tell good from bad."""
    if scorer.file:
        try:
            plain_directory(scorer.file)
        except BadPath as bad:
            sheet.wrong((*path, "file"), scorer.file, bad.rule, bad.hint)
    try:
        re.compile(scorer.pattern)
    except re.error as error:
        sheet.wrong((*path, "pattern"), scorer.pattern, f"is not a regular expression ({error})")
    try:
        parse_json_path(scorer.path)
    except BadJsonPath as error:
        sheet.wrong((*path, "path"), scorer.path, f"is not a path in a JSON document ({error})", "like `a.b[0].c`")


def _check_scorer(scorer: Scorer, path: FieldPath, spec: Spec, sheet: Sheet) -> None:
    required, optional = FIELDS_OF[scorer.type]
    for field in required:
        if not getattr(scorer, field):
            sheet.tell(path, f"scorer `{scorer.name}` of type `{scorer.type}` needs `{field}`")
    default = Scorer(scorer.name, scorer.type)
    for field in scorer.__struct_fields__:
        if field not in ("name", "type", *required, *optional) and getattr(scorer, field) != getattr(default, field):
            rest = ", ".join(f"`{name}`" for name in (*required, *optional)) or "nothing"
            sheet.tell((*path, field), f"a scorer of type `{scorer.type}` does not take `{field}`", f"it takes {rest}")
    _check_program(scorer.run, (*path, "run"), sheet)
    if scorer.type == "contains" and not scorer.text:
        for place, case in enumerate(spec.cases):
            if not isinstance(case.expect, str):
                rule = f"scorer `{scorer.name}` has no `text`, and case `{case.name}` has no `expect`"
                sheet.tell(("case", place), rule, 'give the case `expect = "…"`')
