"""What may be asked of `manyhands split`, as one value."""

import enum
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from manyhands.surfaces.cli.parsing.declarations import Argument, Option


class SplitOutput(enum.StrEnum):
    TREE = "tree"
    JSON = "json"
    DOT = "dot"
    HTML = "html"


class SplitOptions(NamedTuple):
    path: Annotated[Path | None, Argument("PATH", help="The directory of a code base.")] = None
    graph: Annotated[
        Path | None, Option(help="Split this prepared graph instead of a directory: JSON, gzipped or not.")
    ] = None
    budget: Annotated[
        int | None, Option(min=1, help="The most tokens a leaf may hold, 40000 if left out. A token is 4 bytes.")
    ] = None
    max_depth: Annotated[int | None, Option(min=0, help="The most levels below the root, 8 if left out.")] = None
    min_files: Annotated[
        int | None, Option(min=1, help="Give each leaf at least this many files, where they fit into the budget.")
    ] = None
    max_files: Annotated[int | None, Option(min=1, help="The most files a leaf may hold. No limit if left out.")] = None
    include: Annotated[
        Sequence[str],
        Option(metavar="PATTERN", help="Read only files like this, as in .gitignore. Can be given more than once."),
    ] = ()
    exclude: Annotated[
        Sequence[str],
        Option(metavar="PATTERN", help="Leave out files like this, as in .gitignore. Can be given more than once."),
    ] = ()
    gitignore: Annotated[
        bool, Option("--gitignore/--no-gitignore", help="Leave out what .gitignore files name, which is the default.")
    ] = True
    plan: Annotated[
        Path | None, Option(help="Write a plan with a task for each leaf to this .toml, .yaml or .jsonl file.")
    ] = None
    goal: Annotated[str, Option(metavar="TEXT", help="What is to be done: every prompt begins with it.")] = ""
    template: Annotated[
        Path | None,
        Option(help="A text for the prompts, with {goal}, {files}, {tests} and other fields."),
    ] = None
    kind: Annotated[str, Option(help="The kind of the tasks in the plan.")] = "code"
    run: Annotated[
        str, Option(metavar="COMMAND", help="The command of the tasks in the plan, such as 'agent -p {prompt}'.")
    ] = ""
    check: Annotated[
        str, Option(metavar="COMMAND", help="The check of the tasks in the plan, such as 'pytest -q'.")
    ] = ""
    worktrees: Annotated[bool, Option("--worktrees", help="Give each task of the plan a git worktree.")] = False
    correct: Annotated[
        Path | None,
        Option(
            metavar="TREE",
            help="Bring this tree (JSON) up to date. It keeps its bounds, and the ids of subplans that still fit.",
        ),
    ] = None
    again: Annotated[
        Sequence[str],
        Option(metavar="SUBPLAN", help="With --correct: split this subplan again. Can be given more than once."),
    ] = ()
    output: Annotated[
        SplitOutput,
        Option("--output", "-o", help="How to print the result: tree or html for people, json or dot for programs."),
    ] = SplitOutput.TREE
