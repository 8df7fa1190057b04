"""Reads a spec file into a `Spec`, or reports everything that is wrong with it. Nothing runs before that."""

from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Struct

from manyhands.apps.evals.spec.eval_types import Arm, ArmOrder, Case, Scorer, Spec
from manyhands.apps.evals.spec.spec_checks import check_scorer_texts, check_spec
from manyhands.durations import Duration
from manyhands.errors import UsageError
from manyhands.field_rules import Count, NameOrEmpty, rule, says
from manyhands.readers.problems import Problem, Problems, Sheet, describe, value_text
from manyhands.readers.shape import REFUSED, is_clean, is_too_deep, known, read_as
from manyhands.readers.text import decoded, obstacle, unreadable, whole_file
from manyhands.readers.toml_file import parse_toml

SUFFIXES = (".toml", ".yaml", ".yml")
#: What `null_arm = true` adds: the baseline repeated under this name.
NULL_ARM = "null"


class SpecRefused(UsageError):
    """The spec is refused as a whole. `problems` has the first thousand problems, `total` counts all."""

    def __init__(self, problems: list[Problem], total: int | None = None) -> None:
        self.problems = problems
        self.total = len(problems) if total is None else total
        super().__init__(*describe("eval", problems, self.total))


class SpecSettings(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The `[eval]` table."""

    name: Annotated[NameOrEmpty, says("The name of the eval and of its runs. Left out: the name of the file.")] = ""
    replications: Annotated[Count, says("How often every arm runs on every case.")] = 5
    sessions: Annotated[Count, says("Sessions of each trial, one after the other in the same directory.")] = 1
    seed: Annotated[int, says("Decides the order of the arms, and is `MANYHANDS_SEED`.")] = 0
    interleave: Annotated[bool, says("The arms take turns. Otherwise one arm runs after the other.")] = True
    order: Annotated[
        ArmOrder,
        says("Which arm goes first: drawn from the seed and balanced, or strictly in turn."),
    ] = "drawn"
    concurrency: Annotated[
        int | str,
        rule(
            'must be at least 1, or "auto"',
            "1 runs one session at a time; auto finds a number that leaves the sessions undisturbed",
            type=["integer", "string"],
            minimum=1,
            pattern="^auto$",
        ),
        says('The most sessions at once, or `"auto"`.'),
    ] = 1
    timeout: Annotated[Duration, says("How long a session may take.")] = 1800.0
    baseline: Annotated[str, says("The arm that others are compared with. Left out: the first.")] = ""
    null_arm: Annotated[
        bool,
        says("Adds an arm that repeats the baseline, as a check: the two should not differ."),
    ] = False
    stop_when_decided: Annotated[
        bool,
        says("Runs case by case, and stops once every comparison is decided."),
    ] = False


class ReadSpec(Struct, frozen=True):
    spec: Spec
    file: Path
    sheet: Any  # a `Sheet`, for checks that need more than the file


_LISTS: dict[str, type[Struct]] = {"arm": Arm, "case": Case, "scorer": Scorer}
_EXAMPLE = {
    "arm": '[[arm]] with `name = "…"` and `run = ["…"]`',
    "case": '[[case]] with `name = "…"` and `prompt = "…"`',
    "scorer": '[[scorer]] with `name = "…"` and `type = "file"`',
}


def read_spec(path: Path) -> ReadSpec:
    """Raises `SpecRefused` with everything that is wrong."""
    problems = Problems()
    name = str(path)
    parsed = _parse(path, name, problems)
    spec = None
    if parsed is not None:
        document, sheet = parsed
        spec = _spec_from(document, path, sheet)
    if problems.total or spec is None:
        raise SpecRefused(problems.by_line(), problems.total)
    return ReadSpec(spec, path.absolute(), sheet)


def _parse(path: Path, name: str, problems: Problems) -> tuple[Any, Sheet] | None:
    problem = obstacle(path, name, "spec")
    if problem is None and path.suffix.lower() not in SUFFIXES:
        hint = f"the name of a spec ends in {', '.join(SUFFIXES)}"
        problem = Problem(file=name, message=f"is not a spec: its name ends in `{path.suffix}`", hint=hint)
    if problem is not None:
        problems.add(problem)
        return None
    try:
        text = decoded(whole_file(path), name, problems)
    except OSError as error:
        problems.add(unreadable(name, error))
        return None
    if text is None:
        return None
    if path.suffix.lower() == ".toml":
        read = parse_toml(name, text, problems)
        return (read[0], Sheet(name, read[1], problems)) if read is not None else None
    from manyhands.readers.yaml_nodes import YamlRefused, read_yaml_document

    try:
        document, line_of = read_yaml_document(text)
    except YamlRefused as refused:
        for line, message, hint in refused.complaints:
            problems.add(Problem(file=name, line=line, message=message, hint=hint))
        return None
    return document, Sheet(name, line_of, problems)


def _spec_from(document: object, path: Path, sheet: Sheet) -> Spec | None:
    if not isinstance(document, dict):
        sheet.tell((), f"must be a table with `arm`, `case` and `scorer` in it, got {value_text(document)}")
        return None
    if is_too_deep(document):
        sheet.tell((), "is nested too deeply")
        return None
    is_clean(document, (), sheet)
    for key in document:
        known(key, ["eval", *_LISTS], (), sheet)
    settings = _settings(document.get("eval", {}), path, sheet)
    arms, cases, scorers = (_rows(document, name, sheet) for name in _LISTS)
    if sheet.problems.total or settings is None:
        return None
    fields = msgspec.structs.asdict(settings)
    null_arm = fields.pop("null_arm")
    fields["baseline"] = fields["baseline"] or (arms[0].name if arms else "")
    if null_arm:
        arms = (*arms, Arm(NULL_ARM, same_as=fields["baseline"]))
    arms, scorers = (tuple(_beside(each, path) for each in rows) for rows in (arms, scorers))
    spec = Spec(arms=arms, cases=cases, scorers=scorers, **fields)
    if not check_spec(spec, path, sheet):
        return None
    return msgspec.structs.replace(spec, arms=tuple(_resolved(arm, spec) for arm in arms))


_Runs = TypeVar("_Runs", Arm, Scorer)


def _beside(row: _Runs, path: Path) -> _Runs:
    """Fills in `{spec}`, the directory of the spec: commands run in the workspace of their trial."""
    here = str(path.absolute().parent)
    return msgspec.structs.replace(row, run=tuple(argument.replace("{spec}", here) for argument in row.run))


def _resolved(arm: Arm, spec: Spec) -> Arm:
    """A null arm with the fields of the arm that it repeats."""
    if not arm.same_as:
        return arm
    return msgspec.structs.replace(spec.arm(arm.same_as), name=arm.name, same_as=arm.same_as)


def _settings(table: object, path: Path, sheet: Sheet) -> SpecSettings | None:
    plain = read_as(SpecSettings, table, ("eval",), sheet)
    if plain is REFUSED:
        return None
    settings = msgspec.convert(plain, SpecSettings)
    return msgspec.structs.replace(settings, name=settings.name or path.stem)


def _rows(document: dict[str, Any], name: str, sheet: Sheet) -> Any:
    kind = _LISTS[name]
    rows = document.get(name, [])
    if not isinstance(rows, list):
        sheet.wrong((name,), rows, "must be a list of tables", f"write {_EXAMPLE[name]}")
        return ()
    if not rows:
        sheet.tell((), f"has no {name}", f"write {_EXAMPLE[name]}")
    found: list[Any] = []
    for place, row in enumerate(rows):
        plain = read_as(kind, row, (name, place), sheet)
        if plain is not REFUSED:
            found.append(msgspec.convert(plain, kind))
            if kind is Scorer:
                check_scorer_texts(found[-1], (name, place), sheet)
    return tuple(found)
