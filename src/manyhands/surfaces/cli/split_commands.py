"""`manyhands split`: its declaration. The body is in `split.py`, loaded when wanted."""

from pathlib import Path
from typing import Annotated

import typer

from manyhands.surfaces.cli.split_output import SplitOutput


def split(
    path: Annotated[Path | None, typer.Argument(help="the directory of a code base")] = None,
    graph: Annotated[Path | None, typer.Option(help="split a prepared graph (JSON, may be gzipped) instead")] = None,
    budget: Annotated[int, typer.Option(min=1, help="the most tokens a leaf may hold; a token is 4 bytes")] = 40_000,
    max_depth: Annotated[int, typer.Option(min=0, help="the most levels below the root")] = 8,
    min_files: Annotated[int, typer.Option(min=1, help="so few files are not taken apart")] = 1,
    include: Annotated[
        list[str] | None, typer.Option(help="only files like this, as in .gitignore; repeatable")
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="no files like this, as in .gitignore; repeatable")] = None,
    gitignore: Annotated[bool, typer.Option(help="leave out what .gitignore files name")] = True,
    plan: Annotated[
        Path | None, typer.Option(help="write a plan with a task for each leaf: .toml, .yaml, .jsonl")
    ] = None,
    template: Annotated[
        Path | None, typer.Option(help="a text with {files}, {neighbours}, {name} … as the prompt")
    ] = None,
    kind: Annotated[str, typer.Option(help="the kind of the plan's tasks")] = "code",
    command: Annotated[str, typer.Option("--run", help="what the plan's tasks run, such as 'agent -p {prompt}'")] = "",
    worktrees: Annotated[bool, typer.Option("--worktrees", help="each task of the plan gets a git worktree")] = False,
    correct: Annotated[
        Path | None, typer.Option(help="bring this tree (JSON) up to date: the rest keeps its ids")
    ] = None,
    again: Annotated[
        list[str] | None, typer.Option(help="with --correct: split this subplan again; repeatable")
    ] = None,
    output: Annotated[
        SplitOutput, typer.Option("--output", "-o", help="tree and html for people, json and dot for programs")
    ] = SplitOutput.TREE,
) -> None:
    """Split a code base into a tree of subplans that change together and fit a budget, and make a plan of it."""
    from manyhands.sources.split.split_types import SplitSettings
    from manyhands.surfaces.cli.split import split_code_base

    split_code_base(
        path,
        graph,
        SplitSettings(budget_tokens=budget, max_depth=max_depth, min_files=min_files),
        include or (),
        exclude or (),
        gitignore,
        output,
        plan,
        template,
        kind,
        command,
        worktrees,
        correct,
        again or (),
    )
