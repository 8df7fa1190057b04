"""What `manyhands worker` may say."""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from manyhands.surfaces.cli.parsing.declarations import Argument, Option


class WorkerOptions(NamedTuple):
    models: Annotated[
        Sequence[str],
        Argument("MODEL", help="A folder, a .gguf file or a Python package. NAME=MODEL gives it a name."),
    ] = ()
    only: Annotated[
        Sequence[str],
        Option(
            metavar="NAME",
            help="Serve this one of [models.NAME] in the config; all if left out. Can be given more than once.",
        ),
    ] = ()
    port: Annotated[int, Option(min=0, max=65535, help="Serve at this port; 0 is any free one.")] = 8650
    address: Annotated[
        str, Option(metavar="IP", help="Serve at this address. Beyond 127.0.0.1 a token is required.")
    ] = "127.0.0.1"
    token_env: Annotated[
        str | None,
        Option(metavar="VARIABLE", help="The environment variable that holds the token that callers must send."),
    ] = None
    threads: Annotated[
        int, Option(min=0, help="Compute this many batches at once; 0 is one for each core, at most 4.")
    ] = 0
    device: Annotated[Literal["auto", "cpu", "cuda"], Option(help="Where to compute.")] = "auto"
    prep: Annotated[
        int, Option(min=0, help="Tokenize and decode images in this many processes; 0 is in a thread of the worker.")
    ] = 0
    images_from: Annotated[
        Sequence[str],
        Option(
            metavar="PLACE",
            help="A folder or an origin (https://host) that images may be read from. Can be given more than once.",
        ),
    ] = ()
    with_parent: Annotated[bool, Option("--with-parent", help="Stop when standard input closes.", hidden=True)] = False
