"""Can the functions that score be loaded? Asked before anything runs."""

import sys
from pathlib import Path

from manyhands.apps.evals.spec.spec_file import ReadSpec, SpecRefused
from manyhands.hosts.executors.function import CannotResolve, resolve


def check_functions(read: ReadSpec, workspace: Path) -> None:
    """Raises `SpecRefused` if one cannot. Modules beside the spec and in the workspace can be imported from here on."""
    for directory in (str(read.file.parent), str(workspace.absolute())):
        if directory not in sys.path:
            sys.path.append(directory)  # last: a file there must not stand in for a module of ours
    problems = read.sheet.problems
    for place, scorer in enumerate(read.spec.scorers):
        if scorer.type != "python":
            continue
        try:
            resolve(scorer.call)
        except CannotResolve as error:
            hint = f"it is looked for in the environment, in {read.file.parent} and in {workspace}"
            read.sheet.wrong(("scorer", place, "call"), scorer.call, f"must be a function that loads ({error})", hint)
    if problems.total:
        raise SpecRefused(problems.by_line(), problems.total)
