"""`manyhands top`: its declaration."""

from typing import Annotated

from manyhands.surfaces.cli.options import UrlOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun
from manyhands.surfaces.cli.settings import Settings


def top(
    settings: Settings,
    run: Annotated[str | None, Argument("RUN", help="The name of the run; the newest if left out.")] = None,
    url: UrlOption = None,
) -> int:
    """Watch what runs, and steer it with keys, in this terminal.

    It shows the lanes with their widths, a card for each running attempt, the tasks, and the last output of the task
    under the cursor. Tab moves between the lanes and the tasks.

    Keys: c cancels a task (twice), r retries it, a approves work that waits for it, d defers it and u resumes it. p
    pauses the host under the cursor or lets it continue, + and - set its width, 0 leaves it to the clutch. P pauses the
    run. / filters the tasks, and q ends.
    """
    from manyhands.surfaces.cli.watching_top import watch_top

    return watch_top(run, url, settings)


noun = Noun(top)
