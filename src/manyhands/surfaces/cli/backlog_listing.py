"""`manyhands backlog`: lists what may run now in a backlog of issues."""

from collections.abc import Iterable
from pathlib import Path

from manyhands.readers.problems import LISTED_MAX, Problem
from manyhands.sources.config.config_types import BacklogConfig
from manyhands.surfaces.cli.printing import OutputFormat, print_rows, put, say
from manyhands.surfaces.cli.serve import github_rows
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.ready_issues import ready_elsewhere, ready_in


def print_ready(
    directory: Path,
    output: OutputFormat,
    settings: Settings,
    github: str | None = None,
    label: str = "agent",
    markdown: Path | None = None,
) -> None:
    """Prints the tasks that may run now, in the order in which `serve` would start them. Epics are left out."""
    config = settings.load()
    if github is not None:
        named = (row for row in config.backlogs if row.github is not None and row.github.repository == github)
        ready = ready_elsewhere(next(named, None) or github_rows(config, [github], label)[0], config)
    elif markdown is not None:
        ready = ready_elsewhere(BacklogConfig(markdown=str(markdown.absolute())), config)
    else:
        ready = ready_in(directory, config)
    _say(ready.warnings)
    _say_problems(ready.problems, ready.problems_total)
    if output is not OutputFormat.TABLE:
        print_rows(ready.tasks, output, "task")
        return
    columns = ("task", "priority", "kind", "type", "title")
    print_rows([{name: row[name] for name in columns} for row in ready.tasks], output, "task")
    put(f"{len(ready.tasks)} ready of {ready.unfinished} unfinished · closed {ready.closed}\n")


def _say_problems(problems: list[Problem], total: int) -> None:
    _say(problems[:LISTED_MAX])
    if total > LISTED_MAX:
        say(f"… and {total - LISTED_MAX} more ({total} problems in all)")


def _say(problems: Iterable[Problem]) -> None:
    for problem in problems:
        line = f" line {problem.line}" if problem.line else ""
        say(f"warning: `{problem.file}`{line}: {problem.message}")
        if problem.hint:
            say(f"hint: {problem.hint}")
