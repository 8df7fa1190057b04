"""`manyhands task`: its declarations."""

from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption, RunOption, TaskArgument, UrlOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.cli.task_options import ChosenTasks, TaskEdits


def task(
    settings: Settings,
    run: RunOption = None,
    state: Annotated[str | None, Option(help="List only tasks in this state.")] = None,
    kind: Annotated[str | None, Option(help="List only tasks of this kind.")] = None,
    limit: Annotated[int, Option(min=1, help="List at most this many. The counts are always complete.")] = 100,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """List the tasks of a run."""
    from manyhands.surfaces.cli.task_listing import list_tasks

    list_tasks(run, state, kind, limit, output, settings)


noun = Noun(task)


@noun.verb("show")
def task_show(
    task: TaskArgument, settings: Settings, run: RunOption = None, output: OutputOption = OutputFormat.TABLE
) -> None:
    """Show what a task is, which state it is in, and how each attempt ended."""
    from manyhands.surfaces.cli.task_listing import show_task

    show_task(task, run, output, settings)


@noun.verb("tree")
def task_tree(settings: Settings, run: RunOption = None, output: OutputOption = OutputFormat.TABLE) -> None:
    """Show epics and other parents with their children, needs and progress."""
    from manyhands.surfaces.cli.task_listing import print_tree

    print_tree(run, output, settings)


@noun.verb("explain")
def task_explain(task: TaskArgument, settings: Settings, run: RunOption = None) -> None:
    """Explain why a task is in its state, with numbers. The first line is what it waits for now."""
    from manyhands.surfaces.cli.task_listing import explain_task

    explain_task(task, run, settings)


_RAW = "Print it unchanged, also what a terminal would act on. Of an agent, print all that the program printed."


@noun.verb("log")
def task_log(
    task: TaskArgument,
    settings: Settings,
    attempt: Annotated[int | None, Option(min=1, help="Print this attempt instead of the last one.")] = None,
    run: RunOption = None,
    raw: Annotated[bool, Option("--raw", help=_RAW)] = False,
    follow: Annotated[bool, Option("--follow", "-f", help="Print what comes until the attempt has ended.")] = False,
) -> None:
    """Print the output of the last attempt of a task."""
    if follow:
        from manyhands.surfaces.cli.log_following import follow_log

        follow_log(task, attempt, run, settings, raw)
        return
    from manyhands.surfaces.cli.task_listing import print_log

    print_log(task, attempt, run, settings, raw)


@noun.verb("diff")
def task_diff(
    task: TaskArgument, settings: Settings, run: RunOption = None, output: OutputOption = OutputFormat.TABLE
) -> None:
    """Show the work that waits for approval: its files, what the check printed, and the diff."""
    from manyhands.surfaces.cli.approvals import show_diff

    show_diff(task, run, output, settings)


@noun.verb("approve")
def task_approve(task: TaskArgument, settings: Settings, run: RunOption = None, url: UrlOption = None) -> None:
    """Let work that waits for approval land. If the target has moved, it is merged and checked again first."""
    from manyhands.surfaces.cli.approvals import judge

    judge("approve", task, "", run, settings, url)


@noun.verb("send-back")
def task_send_back(
    task: TaskArgument,
    words: Annotated[str, Argument("WORDS", help="What is to be done; the next attempt is told.")],
    settings: Settings,
    run: RunOption = None,
    url: UrlOption = None,
) -> None:
    """Have work that waits for approval continued. The same agent continues in the same worktree, if it can."""
    from manyhands.surfaces.cli.approvals import judge

    judge("send-back", task, words, run, settings, url)


@noun.verb("reject")
def task_reject(
    task: TaskArgument,
    settings: Settings,
    words: Annotated[str, Option("--why", metavar="WORDS", help="The reason.")] = "",
    run: RunOption = None,
    url: UrlOption = None,
) -> None:
    """Cancel a task whose work waits for approval. The work stays on its branch and does not land."""
    from manyhands.surfaces.cli.approvals import judge

    judge("reject", task, words, run, settings, url)


@noun.verb("answer")
def task_answer(
    task: TaskArgument,
    words: Annotated[str, Argument("WORDS", help="The answer.")],
    settings: Settings,
    run: RunOption = None,
    url: UrlOption = None,
) -> None:
    """Answer what a task asks, so that it continues."""
    from manyhands.surfaces.cli.approvals import judge

    judge("answer", task, words, run, settings, url)


@noun.verb("cancel")
def task_cancel(options: ChosenTasks, settings: Settings, url: UrlOption = None) -> None:
    """Cancel tasks. Those that are running are stopped."""
    from manyhands.surfaces.cli.requests import ask_of_tasks

    ask_of_tasks("cancel", options, settings, url)


@noun.verb("retry")
def task_retry(options: ChosenTasks, settings: Settings, url: UrlOption = None) -> None:
    """Give tasks that did not succeed new attempts, and also the tasks that were skipped because of them."""
    from manyhands.surfaces.cli.requests import ask_of_tasks

    ask_of_tasks("retry", options, settings, url)


@noun.verb("defer")
def task_defer(options: ChosenTasks, settings: Settings, url: UrlOption = None) -> None:
    """Put tasks off until `task resume`."""
    from manyhands.surfaces.cli.requests import ask_of_tasks

    ask_of_tasks("defer", options, settings, url)


@noun.verb("publish")
def task_publish(options: ChosenTasks, settings: Settings, url: UrlOption = None) -> None:
    """Let drafts and planned tasks start."""
    from manyhands.surfaces.cli.requests import ask_of_tasks

    ask_of_tasks("publish", options, settings, url)


@noun.verb("edit")
def task_edit(
    task: TaskArgument, edits: TaskEdits, settings: Settings, run: RunOption = None, url: UrlOption = None
) -> None:
    """Change the priority, the needs, the title, the prompt or the stage of a task that waits.

    The change stays until its plan says something else about the same field.
    """
    from manyhands.surfaces.cli.requests import edit_task

    edit_task(task, edits, run, settings, url)


@noun.verb("resume")
def task_resume(options: ChosenTasks, settings: Settings, url: UrlOption = None) -> None:
    """Let deferred tasks run again."""
    from manyhands.surfaces.cli.requests import ask_of_tasks

    ask_of_tasks("resume", options, settings, url)
