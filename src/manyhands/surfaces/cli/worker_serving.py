"""`manyhands worker`: serves models until it is told to stop."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence

import msgspec
from msgspec import structs

from manyhands.errors import ManyhandsError, UsageError
from manyhands.hosts.executors.worker_process import WorkerStart
from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.cli.worker_options import WorkerOptions
from manyhands.worker.values.model_config import ModelConfig

#: How long accepted requests may take when the worker is asked to stop.
DRAIN_S = 30.0


def run_worker(options: WorkerOptions, settings: Settings) -> int:
    try:
        return _run(options, settings)
    except ManyhandsError as error:
        if options.with_parent:
            _tell_parent(WorkerStart(error=error.message))
        raise


def _run(options: WorkerOptions, settings: Settings) -> int:
    from manyhands.worker.model_worker import WorkerSettings, named

    places, only = options.models, options.only
    config = settings.load()
    models = _chosen(config.models, only) + named(places) if not places or only else named(places)
    names = [model.name for model in models]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"there are two models called `{twice}`", "write `NAME=PATH` to give one of them another name")
    if options.images_from:
        added = tuple(options.images_from)
        models = tuple(structs.replace(model, images_from=(*model.images_from, *added)) for model in models)
    worker = WorkerSettings(
        models=models,
        workspace=config.workspace,
        threads=options.threads,
        device=options.device,
        prep_processes=options.prep,
        learned_file=config.store_directory / "worker-memory.json",
    )
    asyncio.run(_work(worker, options, token_in(options.token_env)))
    # Threads may still compute a batch that nobody waits for.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _chosen(models: tuple[ModelConfig, ...], only: Sequence[str]) -> tuple[ModelConfig, ...]:
    known = {model.name: model for model in models}
    if unknown := next((name for name in only if name not in known), None):
        raise UsageError(
            f"there is no model `{unknown}` in the config", f"its models are: {', '.join(known) or 'none'}"
        )
    return tuple(known[name] for name in only) if only else models


def token_in(variable: str | None) -> str:
    if variable is None:
        return ""
    token = os.environ.get(variable, "").strip()
    if not token:
        raise UsageError(
            f"the environment variable `{variable}` is not set", "set it to the token that callers must send"
        )
    return token


def _tell_parent(started: WorkerStart) -> None:
    print(msgspec.json.encode(started).decode(), flush=True)


async def _work(settings: object, options: WorkerOptions, token: str) -> None:
    from manyhands.worker.http.serving import serving
    from manyhands.worker.http.worker_app import make_app
    from manyhands.worker.model_worker import WorkerSettings, working

    assert isinstance(settings, WorkerSettings)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if options.with_parent:
        loop.add_reader(sys.stdin.fileno(), lambda: None if os.read(sys.stdin.fileno(), 1024) else stop.set())
    async with working(settings) as texts, serving(make_app(texts, token), options.address, options.port, token) as url:
        if options.with_parent:
            _tell_parent(WorkerStart(url=url))
        else:
            print(url, flush=True)
        for each in texts.engine.descriptions():
            say(f"{each.name}: {each.task} on {each.backend}, {each.weights_bytes / 2**20:,.0f} MB of weights")
        await stop.wait()
        if options.with_parent:
            loop.remove_reader(sys.stdin.fileno())
        say("stopping: answering the requests that were accepted")
        await texts.engine.drain(DRAIN_S)
