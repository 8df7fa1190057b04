"""`manyhands worker`: its declaration."""

from manyhands.surfaces.cli.parsing.declarations import Noun
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.cli.worker_options import WorkerOptions


def worker(options: WorkerOptions, settings: Settings) -> int:
    """Serve models over HTTP in the way that OpenAI clients expect, until stopped. Prints its address.

    Ctrl-C or SIGTERM: the worker answers the requests it has accepted, then stops.
    """
    from manyhands.surfaces.cli.worker_serving import run_worker

    return run_worker(options, settings)


noun = Noun(worker)
