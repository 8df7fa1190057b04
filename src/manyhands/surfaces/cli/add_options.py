"""What `manyhands add` may say of a new task."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from manyhands.surfaces.cli.parsing.declarations import Option


class NewTaskOptions(NamedTuple):
    """The fields of a single task, named as in a plan."""

    id: Annotated[str | None, Option(help="The id of a single task to add.")] = None
    run: Annotated[str | None, Option(help="Its command, as you would type it: 'pytest -q'.")] = None
    prompt: Annotated[str | None, Option(help="Its prompt, if a model is to answer it.")] = None
    call: Annotated[str | None, Option(help="Its Python function: package.module:function.")] = None
    kind: Annotated[str | None, Option(help="Its kind.")] = None
    title: Annotated[str | None, Option(help="Its title.")] = None
    priority: Annotated[int | None, Option(help="Its priority, from 0 (critical) to 4 (backlog).")] = None
    needs: Annotated[
        Sequence[str] | None,
        Option(metavar="TASK", help="A task of the same run that must be done first. Can be given more than once."),
    ] = None
    stage: Annotated[str | None, Option(help="Its stage, draft or planned: it waits until `task publish`.")] = None
    timeout: Annotated[str | None, Option(help="How long an attempt may take: 90s, 20m or 2h.")] = None
    attempts: Annotated[int | None, Option(help="How many attempts it may have.")] = None
    host: Annotated[str | None, Option(help="The only host that may run it.")] = None
