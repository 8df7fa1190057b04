"""`manyhands split`: a code base or a prepared graph → a tree of subplans → a plan."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from manyhands.core.values.task import WORKTREE
from manyhands.errors import UsageError
from manyhands.sources.split.correction import correct
from manyhands.sources.split.directory_source import CodeBase, read_directory
from manyhands.sources.split.graph_file import read_graph
from manyhands.sources.split.leaf_tasks import DEFAULT_TEMPLATE, tasks_of
from manyhands.sources.split.plan_file import check_plan_name, write_plan
from manyhands.sources.split.split_types import Source, SplitSettings, Tree
from manyhands.sources.split.splitting import nothing_to_read, split
from manyhands.sources.split.tree_file import read_tree, tree_as_json
from manyhands.sources.split.views.split_text import summary, tree_as_text
from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.split_output import SplitOutput


def split_code_base(
    path: Path | None,
    graph: Path | None,
    settings: SplitSettings,
    include: Sequence[str],
    exclude: Sequence[str],
    gitignore: bool,
    output: SplitOutput,
    plan: Path | None,
    template: Path | None,
    kind: str,
    run: str,
    worktrees: bool,
    previous: Path | None,
    again: Sequence[str],
) -> None:
    if plan is not None:
        check_plan_name(plan)
    if worktrees and not run:
        raise UsageError("only commands work in worktrees, and the tasks have none", "add --run 'agent -p {prompt}'")
    prompt = _template(template)
    if again and previous is None:
        raise UsageError("--again names subplans of an earlier tree, but none is given", "add --correct TREE.json")
    earlier = read_tree(previous) if previous is not None else None
    code = _read(path, graph, include, exclude, gitignore)
    tree = _split(code, settings, earlier, tuple(again))
    for note in tree.notes:
        say(f"note: {note}")
    sys.stdout.write(_shown(tree, code.source, output, title=str(graph or path)))
    if plan is not None:
        workspace = WORKTREE if worktrees else ""
        tasks = tasks_of(tree, code.source, prompt, kind, shlex.split(run), workspace)
        write_plan(plan, tasks)
        say(f"plan `{plan}`: {len(tasks):,} tasks")
    if output is not SplitOutput.TREE:
        say(summary(tree))


def _read(
    path: Path | None, graph: Path | None, include: Sequence[str], exclude: Sequence[str], gitignore: bool
) -> CodeBase:
    if (path is None) == (graph is None):
        what = "nothing to split is named" if path is None else "both a directory and a graph are named"
        raise UsageError(what, "`manyhands split PATH` or `manyhands split --graph FILE`")
    if path is not None:
        return read_directory(path, include, exclude, gitignore, told=say)
    assert graph is not None
    if include or exclude:
        raise UsageError("--include and --exclude are for directories", "a graph is split as it is")
    return CodeBase(read_graph(graph), nothing_to_read, ())


def _split(code: CodeBase, settings: SplitSettings, earlier: Tree | None, again: tuple[str, ...]) -> Tree:
    if earlier is None:
        return split(code.source, settings, code.read, code.notes)
    corrected = correct(earlier, code.source, settings, code.read, code.notes, again)
    kept = len(corrected.tree.nodes) - len(corrected.new)
    say(f"corrected: {kept:,} subplans kept, {len(corrected.gone):,} gone, {len(corrected.new):,} new")
    return corrected.tree


def _template(file: Path | None) -> str:
    if file is None:
        return DEFAULT_TEMPLATE
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"template `{file}` cannot be read: {error}") from None


def _shown(tree: Tree, source: Source, output: SplitOutput, title: str) -> str:
    if output is SplitOutput.JSON:
        return tree_as_json(tree).decode()
    if output is SplitOutput.DOT:
        from manyhands.sources.split.views.split_dot import tree_as_dot

        return tree_as_dot(tree, source)
    if output is SplitOutput.HTML:
        from manyhands.sources.split.views.split_page import tree_as_page

        return tree_as_page(tree, source, title)
    return tree_as_text(tree)
