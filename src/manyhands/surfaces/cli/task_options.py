"""Which tasks a person means, and what of a task can be edited."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from manyhands.surfaces.cli.options import RunOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Option


class ChosenTasks(NamedTuple):
    tasks: Annotated[Sequence[str], Argument("TASK", help="The id of a task, or a glob such as 'auth-*'.")] = ()
    state: Annotated[
        str | None, Option(help="Of these, only the tasks in this state; of all tasks if none is named.")
    ] = None
    run: RunOption = None


class TaskEdits(NamedTuple):
    priority: Annotated[int | None, Option(min=0, max=4, help="Its priority, from 0 (critical) to 4 (backlog).")] = None
    needs: Annotated[
        str | None,
        Option(metavar="TASK,TASK", help="The tasks that must be done first, with commas between them; '' for none."),
    ] = None
    title: Annotated[str | None, Option(help="Its title.")] = None
    prompt: Annotated[str | None, Option(help="Its prompt.")] = None
    stage: Annotated[str | None, Option(help="Its stage, draft or planned: it waits until `task publish`.")] = None
