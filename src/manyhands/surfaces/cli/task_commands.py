"""`manyhands task`: its declarations. The bodies are in `tasks.py` and `requests.py`, loaded when wanted."""

from typing import Annotated

import typer

from manyhands.surfaces.cli.options import ConfigOption, OutputOption, RunOption, StoreOption, TaskArgument, UrlOption
from manyhands.surfaces.cli.printing import OutputFormat

app = typer.Typer(help="The tasks of a run: list them, or look at and act on one.", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def tasks(
    context: typer.Context,
    run: RunOption = None,
    state: Annotated[str | None, typer.Option(help="only those in this state")] = None,
    kind: Annotated[str | None, typer.Option(help="only those of this kind")] = None,
    limit: Annotated[int, typer.Option(min=1, help="the most to list; the counts are always complete")] = 100,
    output: OutputOption = OutputFormat.TABLE,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """List the tasks of a run."""
    if context.invoked_subcommand is None:
        from manyhands.surfaces.cli.task_listing import list_tasks

        list_tasks(run, state, kind, limit, output, config, store)


@app.command("show")
def task_show(
    task: TaskArgument,
    run: RunOption = None,
    output: OutputOption = OutputFormat.TABLE,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """What the task is, where it stands, and how each attempt ended."""
    from manyhands.surfaces.cli.task_listing import show_task

    show_task(task, run, output, config, store)


@app.command("tree")
def task_tree(
    run: RunOption = None,
    output: OutputOption = OutputFormat.TABLE,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Epics and other parents with their children, needs and progress."""
    from manyhands.surfaces.cli.task_listing import print_tree

    print_tree(run, output, config, store)


@app.command("explain")
def task_explain(
    task: TaskArgument, run: RunOption = None, config: ConfigOption = None, store: StoreOption = None
) -> None:
    """Why the task is where it is, with numbers; the first line is what it waits for now."""
    from manyhands.surfaces.cli.task_listing import explain_task

    explain_task(task, run, config, store)


@app.command("log")
def task_log(
    task: TaskArgument,
    attempt: Annotated[int | None, typer.Option(min=1, help="this attempt instead of the last")] = None,
    run: RunOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """The output of the task's last attempt."""
    from manyhands.surfaces.cli.task_listing import print_log

    print_log(task, attempt, run, config, store)


@app.command("cancel")
def task_cancel(
    task: TaskArgument,
    run: RunOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
    url: UrlOption = None,
) -> None:
    """Take the task off; if it runs it is stopped."""
    from manyhands.surfaces.cli.requests import ask_of_task

    ask_of_task("cancel", task, run, config, store, url)


@app.command("retry")
def task_retry(
    task: TaskArgument,
    run: RunOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
    url: UrlOption = None,
) -> None:
    """Give a task that did not end well a fresh set of attempts, and those skipped because of it."""
    from manyhands.surfaces.cli.requests import ask_of_task

    ask_of_task("retry", task, run, config, store, url)


@app.command("defer")
def task_defer(
    task: TaskArgument,
    run: RunOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
    url: UrlOption = None,
) -> None:
    """Put the task off until `task resume`."""
    from manyhands.surfaces.cli.requests import ask_of_task

    ask_of_task("defer", task, run, config, store, url)


@app.command("resume")
def task_resume(
    task: TaskArgument,
    run: RunOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
    url: UrlOption = None,
) -> None:
    """Let a deferred task go on."""
    from manyhands.surfaces.cli.requests import ask_of_task

    ask_of_task("resume", task, run, config, store, url)
