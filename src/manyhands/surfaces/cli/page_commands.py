"""`manyhands page`: its declaration."""

from pathlib import Path
from typing import Annotated

from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.settings import Settings


def page(
    settings: Settings,
    run: Annotated[str | None, Argument("RUN", help="The name of the run; the newest if left out.")] = None,
    save: Annotated[
        Path | None, Option(metavar="FILE", help="Write the page to this file instead. It opens offline.")
    ] = None,
    port: Annotated[int, Option(min=0, max=65535, help="Serve the page at this port; 0 is any free one.")] = 0,
) -> int:
    """Open the page of a run, whether it has ended or another process runs it now.

    The page only reads the store. It is served on this machine until you press Ctrl-C.
    """
    from manyhands.surfaces.cli.page import open_page, save_page

    return open_page(run, port, settings) if save is None else save_page(run, save, settings)


noun = Noun(page)
