"""Checks that scorer functions can be loaded, before anything runs."""

import sys
from pathlib import Path

from manyhands.apps.evals.spec.spec_file import ReadSpec, SpecRefused
from manyhands.hosts.executors.function import CannotResolve, resolve


def check_functions(read: ReadSpec, workspace: Path) -> None:
    """Raises `SpecRefused` if one cannot. Afterwards, modules beside the spec and in the workspace can be imported."""
    for directory in (str(read.file.parent), str(workspace.absolute())):
        if directory not in sys.path:
            sys.path.append(directory)  # last, so that a file there cannot replace a module of ours
    problems = read.sheet.problems
    for place, scorer in enumerate(read.spec.scorers):
        if scorer.type != "python":
            continue
        try:
            resolve(scorer.call)
        except CannotResolve as error:
            hint = f"it must be in the environment, in {read.file.parent} or in {workspace}"
            read.sheet.wrong(
                ("scorer", place, "call"), scorer.call, f"must be a function that can be loaded ({error})", hint
            )
    if problems.total:
        raise SpecRefused(problems.by_line(), problems.total)
