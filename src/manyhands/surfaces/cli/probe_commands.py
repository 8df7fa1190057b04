"""`manyhands probe`: its declaration."""

from typing import Annotated

from manyhands.surfaces.cli.parsing.declarations import Noun, Option


def probe(
    serve: Annotated[
        bool, Option("--serve", help="Answer over HTTP until stopped, instead of printing it once.")
    ] = False,
    port: Annotated[int, Option(min=0, max=65535, help="Serve at this port; 0 is any free one.")] = 8651,
    address: Annotated[
        str, Option(metavar="IP", help="Serve at this address. Beyond 127.0.0.1 a token is required.")
    ] = "127.0.0.1",
    token_env: Annotated[
        str | None,
        Option(metavar="VARIABLE", help="The environment variable that holds the token that callers must send."),
    ] = None,
) -> int:
    """Print the memory of this machine's devices as JSON, or serve it to dispatchers elsewhere."""
    from manyhands.surfaces.cli.probe_serving import run_probe

    return run_probe(serve, address, port, token_env)


noun = Noun(probe)
