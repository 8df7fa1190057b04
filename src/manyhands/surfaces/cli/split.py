"""`manyhands split`: from a code base or a prepared graph to a tree of subplans, and to a plan."""

import shlex
from pathlib import Path

from msgspec.structs import replace

from manyhands.core.values.about import RunAbout
from manyhands.core.values.task import WORKTREE, Task
from manyhands.errors import UsageError
from manyhands.quantities import quantity
from manyhands.sources.split.correction import correct
from manyhands.sources.split.directory_source import CodeBase, read_directory
from manyhands.sources.split.graph_file import read_graph
from manyhands.sources.split.leaf_tasks import DEFAULT_TEMPLATE, epics_of, tasks_of
from manyhands.sources.split.outside_tests import tests_outside
from manyhands.sources.split.plan_file import check_plan_name, write_plan
from manyhands.sources.split.split_types import Source, SplitSettings, Tree
from manyhands.sources.split.splitting import nothing_to_read, split
from manyhands.sources.split.tree_file import read_tree, tree_as_json
from manyhands.sources.split.views.split_text import summary, tree_as_text
from manyhands.surfaces.cli.printing import put, say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.cli.split_options import SplitOptions, SplitOutput


def split_code_base(options: SplitOptions, settings: Settings) -> None:
    inside = ""
    if options.plan is not None:
        check_plan_name(options.plan)
        inside = _place_in_workspace(options.path, settings)
    if options.worktrees and not options.run:
        raise UsageError(
            "`--worktrees` needs a command, because only commands work in worktrees", "add --run 'agent -p {prompt}'"
        )
    prompt = _template(options.template)
    if options.again and options.correct is None:
        raise UsageError("`--again` names subplans of an earlier tree, but no tree is given", "add --correct TREE.json")
    earlier = read_tree(options.correct) if options.correct is not None else None
    code = _read(options)
    bounds = _bounds(options, earlier.settings if earlier is not None else SplitSettings())
    tree = _split(code, bounds, earlier, tuple(options.again))
    for note in tree.notes:
        say(f"note: {note}")
    put(_shown(tree, code.source, options.output, title=str(options.graph or options.path)))
    if options.plan is not None:
        workspace = WORKTREE if options.worktrees else ""
        run, check = tuple(shlex.split(options.run)), tuple(shlex.split(options.check))
        like = Task("", kind=options.kind, run=run, check=check, workspace=workspace)
        outside = tests_outside(settings.load().workspace, inside, code.source.paths)
        tasks = tasks_of(tree, code.source, prompt, like, inside, options.goal, outside)
        epics = epics_of(tree, code.source, inside)
        write_plan(options.plan, tasks, RunAbout(goal=options.goal.strip(), epics=epics))
        say(f"wrote {quantity(len(tasks), 'task')} to the plan `{options.plan}`")
    if options.output is not SplitOutput.TREE:
        say(summary(tree))


def _place_in_workspace(path: Path | None, settings: Settings) -> str:
    """The directory as the workspace sees it, with its slash. A graph has the paths of the workspace already."""
    if path is None:
        return ""
    workspace = settings.load().workspace.resolve()
    place = path.resolve()
    if not place.is_relative_to(workspace):
        raise UsageError(
            f"`{path}` is outside the workspace `{workspace}`, so no task of a plan could work on its files",
            f"run the command in `{path}`, or name the manyhands.toml of that project with --config",
        )
    inside = place.relative_to(workspace).as_posix()
    return "" if inside == "." else f"{inside}/"


def _bounds(options: SplitOptions, earlier: SplitSettings) -> SplitSettings:
    """Those of the earlier tree, except for the ones that were typed."""
    typed = {
        "budget_tokens": options.budget,
        "max_depth": options.max_depth,
        "min_files": options.min_files,
        "max_files": options.max_files,
    }
    return replace(earlier, **{name: value for name, value in typed.items() if value is not None})


def _read(options: SplitOptions) -> CodeBase:
    path, graph = options.path, options.graph
    if path is not None and graph is None:
        return read_directory(path, options.include, options.exclude, options.gitignore, told=say)
    if graph is None or path is not None:
        what = "there is nothing to split" if graph is None else "both a directory and a graph are given"
        raise UsageError(what, "`manyhands split PATH` or `manyhands split --graph FILE`")
    if options.include or options.exclude:
        raise UsageError("`--include` and `--exclude` are for directories", "leave them out: a graph is split as it is")
    return CodeBase(read_graph(graph), nothing_to_read, ())


def _split(code: CodeBase, bounds: SplitSettings, earlier: Tree | None, again: tuple[str, ...]) -> Tree:
    if earlier is None:
        return split(code.source, bounds, code.read, code.notes)
    corrected = correct(earlier, code.source, bounds, code.read, code.notes, again)
    kept = len(corrected.tree.nodes) - len(corrected.new)
    say(f"corrected: {quantity(kept, 'subplan')} kept, {len(corrected.gone):,} gone, {len(corrected.new):,} new")
    return corrected.tree


def _template(file: Path | None) -> str:
    if file is None:
        return DEFAULT_TEMPLATE
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"template `{file}` cannot be read: {error}", "name a text file in UTF-8") from None


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
