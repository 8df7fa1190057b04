"""`manyhands serve`: its declaration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from manyhands.surfaces.cli.options import EXIT_CODES
from manyhands.surfaces.cli.parsing.declarations import Noun, Option
from manyhands.surfaces.cli.settings import Settings


def serve(
    settings: Settings,
    beads: Annotated[
        Sequence[Path],
        Option(metavar="DIR", help="Watch the Beads backlog of this project. Can be given more than once."),
    ] = (),
    plan: Annotated[Sequence[Path], Option(help="Watch this plan file. Can be given more than once.")] = (),
    github: Annotated[
        Sequence[str],
        Option(
            metavar="OWNER/REPO", help="Watch the issues of this repository that have the label. Needs GITHUB_TOKEN."
        ),
    ] = (),
    label: Annotated[str, Option(help="The label that makes an issue of `--github` a task.")] = "agent",
    markdown: Annotated[
        Sequence[Path],
        Option(metavar="DIR", help="Watch this directory of Markdown files, one for each task."),
    ] = (),
    address: Annotated[
        str,
        Option(
            metavar="IP",
            help="Serve the page and the API at this address. Beyond 127.0.0.1 every caller needs the token.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, Option(min=0, max=65535, help="Serve the page and the API at this port; 0 is any free one.")
    ] = 8642,
    socket: Annotated[
        Path | None,
        Option(metavar="FILE", help="Serve at this Unix socket and at no port. Only your own account can open it."),
    ] = None,
) -> int:
    """Watch plans, Beads, GitHub issues, Markdown files and queues, and run their tasks until stopped.

    The backlogs are those of the options and those of [[backlogs]] in the config, which alone names queues: Redis
    streams and PostgreSQL tables. Without any, it serves the
    page of the store and runs what `manyhands add` hands in. Ctrl-C or SIGTERM stops the running attempts. The same
    command continues from there.
    """
    from manyhands.surfaces.cli.serve import serve as serve_backlogs

    return serve_backlogs(beads, plan, github, label, markdown, address, port, socket, settings)


noun = Noun(serve, epilog=EXIT_CODES)
