"""Declares `manyhands worker`; what it does is in `worker.py`, so that `--help` is quick."""

from typing import Annotated, Literal

import typer

from manyhands.surfaces.cli.options import ConfigOption


def worker(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL", help="a folder, a .gguf file or a package; NAME=MODEL gives it a name"),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="of [models.…] in the config; may be given again (default: all)"),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any")] = 8650,
    address: Annotated[str, typer.Option(help="beyond 127.0.0.1 only with a token")] = "127.0.0.1",
    token_env: Annotated[str | None, typer.Option(help="the variable that has the token callers must send")] = None,
    threads: Annotated[int, typer.Option(min=0, help="batches computed at once; 0: one for each core, at most 4")] = 0,
    device: Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="where to compute")] = "auto",
    prep: Annotated[int, typer.Option(min=0, help="processes that tokenise; 0: a thread of the worker does")] = 0,
    with_parent: Annotated[
        bool, typer.Option("--with-parent", help="stop when standard input closes", hidden=True)
    ] = False,
    config: ConfigOption = None,
) -> None:
    """Host models over HTTP, as OpenAI's clients expect it, until stopped. Prints its address.

    Ctrl-C or SIGTERM answers what was taken in, then stops.
    """
    from manyhands.surfaces.cli.worker_command import run_worker

    raise typer.Exit(
        run_worker(models or [], only or [], address, port, token_env, threads, device, prep, config, with_parent)
    )
