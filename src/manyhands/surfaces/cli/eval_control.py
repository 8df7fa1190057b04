"""`manyhands eval pause|resume|abort|inject|status`: durable requests to the process that runs the eval."""

import time

from manyhands.apps.evals.spec.ordering import trials_of
from manyhands.apps.evals.trial.eval_layout import EvalLayout, read_whole
from manyhands.apps.evals.trial.eval_notes import (
    ContextInjected,
    EvalAborted,
    EvalPaused,
    EvalRequest,
    EvalResumed,
    noted,
    standing_of,
)
from manyhands.apps.evals.trial.manifest import Manifest, Scores
from manyhands.apps.evals.trial.outcomes import outcome_of
from manyhands.apps.evals.trial.trials import run_name
from manyhands.core.book import Book
from manyhands.core.values.provenance import Purpose
from manyhands.engine.store.store_opening import open_requests
from manyhands.errors import Conflict, UnknownRun, UsageError
from manyhands.readers.problems import did_you_mean
from manyhands.sources.config.config_types import Config
from manyhands.surfaces.cli.eval_options import InjectOptions
from manyhands.surfaces.cli.printing import print_table, put_lines, say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.store_view import is_dispatching, open_book

WATCH_EVERY_S = 1.0


def pause_eval(eval_id: str | None, settings: Settings) -> None:
    config = settings.load()
    manifest = _running(eval_id, config)
    _ask(config, manifest.id, EvalPaused())
    say(f"eval {manifest.id} is being paused; `manyhands eval resume {manifest.id}` lets it continue")


def resume_eval(eval_id: str | None, settings: Settings) -> None:
    config = settings.load()
    manifest = _running(eval_id, config)
    _ask(config, manifest.id, EvalResumed())
    say(f"eval {manifest.id} continues")


def abort_eval(eval_id: str | None, settings: Settings) -> None:
    config = settings.load()
    manifest = _running(eval_id, config)
    _ask(config, manifest.id, EvalAborted())
    say(f"eval {manifest.id} is being aborted; finished trials are kept")


def inject_context(
    eval_id: str | None,
    options: InjectOptions,
    settings: Settings,
) -> None:
    config = settings.load()
    manifest = _running(eval_id, config)
    if not manifest.allow_tampering:
        raise Conflict(
            f"eval {manifest.id} was begun without `--allow-tampering`, so nothing can be added to its trials",
            "begin an eval with `manyhands eval SPEC --allow-tampering`; no figure counts the trials it reaches",
        )
    spec = manifest.spec
    for what, name, names in (
        ("arm", options.arm, [each.name for each in spec.arms]),
        ("case", options.case, [each.name for each in spec.cases]),
    ):
        if name and name not in names:
            hint = did_you_mean(name, names) or f"its names are {', '.join(names)}"
            raise UsageError(f"eval {manifest.id} has no {what} `{name}`", hint)
    if options.replication > spec.replications:
        raise UsageError(
            f"eval {manifest.id} has no replication {options.replication}", f"name one from 1 to {spec.replications}"
        )
    _ask(config, manifest.id, ContextInjected(*options))
    say(f"sessions of eval {manifest.id} that have not started get the text, and their trials become tainted")


def _running(eval_id: str | None, config: Config) -> Manifest:
    """The manifest of an eval; refused unless a process is running it."""
    book = open_book(config.store_at)
    manifest = _find(eval_id, config, book)
    standing = standing_of(book.runs[manifest.id])
    if standing.aborted or standing.ended is not None:
        how = "aborted" if standing.aborted else "finished"
        raise Conflict(f"eval {manifest.id} is {how}", "`manyhands eval SPEC` begins another")
    if not is_dispatching(config.store_at):
        raise Conflict(f"eval {manifest.id} is not running", f"`manyhands eval {manifest.source}` continues it")
    return manifest


def _find(eval_id: str | None, config: Config, book: Book) -> Manifest:
    """The eval of that id, or the newest."""
    names = [name for name, run in book.runs.items() if run.purpose is Purpose.EVAL]
    if not names:
        raise UnknownRun("no eval has been run here yet", "`manyhands eval SPEC` runs one")
    if eval_id is not None and eval_id not in names:
        raise UnknownRun(f"there is no eval `{eval_id}`", did_you_mean(eval_id, names) or f"the newest is {names[-1]}")
    name = eval_id or names[-1]
    manifest = read_whole(EvalLayout(config.store_directory, name).manifest, Manifest)
    if manifest is None:
        raise UnknownRun(f"the files of eval `{name}` are gone", f"they were in {config.store_directory}/evals/{name}")
    return manifest


def _ask(config: Config, eval_id: str, request: EvalRequest) -> None:
    asking = open_requests(config.store_at, config.store.durability)
    try:
        asking.ask(noted(time.time(), eval_id, request))
    finally:
        asking.close()


def show_status(eval_id: str | None, watch: bool, settings: Settings) -> None:
    config = settings.load()
    while True:
        book = open_book(config.store_at)
        manifest = _find(eval_id, config, book)
        standing = standing_of(book.runs[manifest.id])
        is_over = standing.aborted or standing.ended is not None
        _print_status(manifest, book, config)
        if is_over or not watch:
            return
        time.sleep(WATCH_EVERY_S)


def _print_status(manifest: Manifest, book: Book, config: Config) -> None:
    layout = EvalLayout(config.store_directory, manifest.id)
    rows: dict[str, dict[str, object]] = {
        arm.name: {"arm": arm.name, "scored": 0, "running": 0, "waiting": 0, "infrastructure": 0, "tainted": 0}
        for arm in manifest.spec.arms
    }
    for trial in trials_of(manifest.spec):
        name = run_name(manifest.id, trial)
        scores = read_whole(layout.scores(trial), Scores)
        known = book.runs.get(name)
        outcome = outcome_of(trial, known, name, manifest.spec, scores, 0)
        row = rows[trial.arm]
        column = outcome.state if outcome.state in row else "running" if known and known.in_flight else "waiting"
        row[column] = int(str(row[column])) + 1
        row["tainted"] = int(str(row["tainted"])) + outcome.tainted
    n = manifest.concurrency.n if manifest.concurrency is not None else "not known yet"
    print_table(list(rows.values()))
    put_lines([f"eval {manifest.id}: {_state(manifest, book, config)} · concurrency {n}"])


def _state(manifest: Manifest, book: Book, config: Config) -> str:
    standing = standing_of(book.runs[manifest.id])
    if standing.aborted:
        return "aborted"
    if standing.ended is not None:
        return "finished"
    if not is_dispatching(config.store_at):
        return "left unfinished"
    return "paused" if standing.paused else "running"
