"""`manyhands pull`: its declarations."""

from collections.abc import Sequence
from typing import Annotated, Literal

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.pull_options import UsedOptions
from manyhands.surfaces.cli.settings import Settings

NameOption = Annotated[str, Option("--as", metavar="NAME", help="Your name. No other agent may have the same.")]
HostOption = Annotated[
    str | None, Option("--host", metavar="HOST", help="The host you work for; the only one of type `pull` if left out.")
]
WaitOption = Annotated[int, Option("--wait", metavar="SECONDS", min=0, max=600, help="How long to wait for it.")]
TokenArgument = Annotated[int, Argument("TOKEN", help="The token of the task that you hold.", min=0)]


noun = Noun(text="Take tasks as an agent that comes by itself, and hand them in.")


@noun.verb("next")
def pull_next(
    settings: Settings,
    name: NameOption,
    host: HostOption = None,
    kind: Annotated[Sequence[str], Option("--kind", help="Only tasks of this kind. May be given several times.")] = (),
    wait: WaitOption = 20,
    output: OutputOption = OutputFormat.TABLE,
) -> int:
    """Take the next task, or show the one you hold. Exit code 75: none may start now."""
    from manyhands.surfaces.cli.pull import take_next

    return take_next(name, host, kind, wait, output, settings)


@noun.verb("report")
def pull_report(
    token: TokenArgument,
    settings: Settings,
    name: NameOption,
    used: UsedOptions,
    progress: Annotated[str, Option("--say", help="One line: what you are doing.")] = "",
) -> None:
    """Renew the lease of a task. Do this before it runs out."""
    from manyhands.surfaces.cli.pull import report

    report(token, name, progress, used, settings)


@noun.verb("finish")
def pull_finish(
    token: TokenArgument,
    settings: Settings,
    name: NameOption,
    used: UsedOptions,
    ending: Annotated[Literal["done", "failed", "overloaded"], Option(help="How it ended.")] = "done",
    detail: Annotated[str, Option(help="One line: why it ended like this.")] = "",
    result: Annotated[str, Option(help="What came out of it.")] = "",
    note: Annotated[
        Sequence[str], Option("--note", help="What to remember, after `decision:`, `lesson:` or `question:`.")
    ] = (),
) -> None:
    """Hand in the work on a task. It is refused if the lease has run out."""
    from manyhands.surfaces.cli.pull import finish

    finish(token, name, ending, detail, result, used, note, settings)


@noun.verb("release")
def pull_release(
    token: TokenArgument,
    settings: Settings,
    name: NameOption,
    why: Annotated[str, Option(help="Why you give it back.")] = "",
) -> None:
    """Give back a task, or the files that you reserved. It costs the task no attempt."""
    from manyhands.surfaces.cli.pull import release

    release(token, name, why, settings)


@noun.verb("reserve")
def pull_reserve(
    paths: Annotated[Sequence[str], Argument("PATH", help="A path or glob that you will write.")],
    settings: Settings,
    name: NameOption,
    why: Annotated[str, Option(help="What for.")] = "",
    host: HostOption = None,
    wait: WaitOption = 20,
    output: OutputOption = OutputFormat.TABLE,
) -> int:
    """Reserve files for work that is in no plan. Exit code 75: others use them now."""
    from manyhands.surfaces.cli.pull import reserve

    return reserve(paths, name, why, host, wait, output, settings)
