"""An eval from its spec to its record. An eval that was left unfinished continues."""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from manyhands.apps.evals.calibrating import Calibrating
from manyhands.apps.evals.conducting import Conducting, EvalObserver
from manyhands.apps.evals.eval_hosts import AUTO_MAX, check_against, check_width, eval_config, narrow_arms, widest
from manyhands.apps.evals.scoring.scorer_loading import check_functions
from manyhands.apps.evals.spec.eval_types import Concurrency, EvalRecord, Spec
from manyhands.apps.evals.spec.ordering import Trial, trials_of
from manyhands.apps.evals.spec.spec_file import ReadSpec
from manyhands.apps.evals.trial.eval_layout import EvalLayout, read_whole, write_whole
from manyhands.apps.evals.trial.eval_notes import EvalEnded, EvalResumed, is_of_older_version, noted, standing_of
from manyhands.apps.evals.trial.manifest import Manifest, check_same
from manyhands.apps.evals.trial.trials import SESSIONS, run_name, session_id
from manyhands.apps.evals.workspaces import RestoreLayer, copy_fresh
from manyhands.assembly import open_session
from manyhands.core.commands import StartAttempt
from manyhands.core.events import Input, RunOpened, RunResumed
from manyhands.core.state import Run
from manyhands.core.values.provenance import Purpose
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import new_name
from manyhands.errors import Conflict, UsageError
from manyhands.sources.config.config_types import Config


class Wishes(Struct, frozen=True):
    """What the command line adds to the spec."""

    concurrency: int | Literal["auto"] | None = None
    fail_fast: bool = False
    fresh: bool = False
    allow_tampering: bool = False


class Leaving(Protocol):
    """Whether the person at the keyboard wants to stop."""

    wanted: int

    def watch_over(self, dispatcher: Dispatcher, run: str) -> Sequence[Input]: ...


#: What is there beside an eval from its beginning to its end, such as its page.
Beside = Callable[[Dispatcher, str], AbstractAsyncContextManager[None]]


async def evaluate(
    read: ReadSpec,
    config: Config,
    wishes: Wishes,
    leaving: Leaving,
    onlooker: EvalObserver,
    beside: Beside | None = None,
) -> EvalRecord:
    """Raises for everything that can be wrong before anything runs."""
    spec = read.spec
    check_against(read, config)
    check_functions(read, config.workspace)
    wanted = wishes.concurrency or spec.concurrency
    if isinstance(wanted, int):
        check_width(spec, config, wanted)
    at_most = max(AUTO_MAX, wanted if isinstance(wanted, int) else 0)
    origins = _Origins()
    async with open_session(eval_config(config, spec, at_most), RestoreLayer(origins.of)) as dispatcher:
        one = _Evaluation(dispatcher, read, config, wishes, onlooker)
        await one.begin(leaving)
        origins.take(one.manifest, one.layout)
        async with beside(dispatcher, one.manifest.id) if beside is not None else nullcontext():
            if one.manifest.concurrency is None:
                await one.calibrate(leaving)
            return await one.conduct(leaving)


class _Evaluation:
    def __init__(
        self, dispatcher: Dispatcher, read: ReadSpec, config: Config, wishes: Wishes, onlooker: EvalObserver
    ) -> None:
        self._dispatcher = dispatcher
        self._read = read
        self._spec = read.spec
        self._config = config
        self._store = config.store_directory
        self._wishes = wishes
        self._onlooker = onlooker
        self.manifest: Manifest
        self.layout: EvalLayout

    async def begin(self, leaving: Leaving) -> None:
        spec_file = str(self._read.file)
        known = None if self._wishes.fresh else self._unfinished(spec_file)
        manifest = read_whole(EvalLayout(self._store, known.name).manifest, Manifest) if known is not None else None
        if manifest is not None:
            check_same(manifest, self._spec, self._wishes.concurrency)
            self.manifest, self.layout = self._with_wishes(manifest), EvalLayout(self._store, manifest.id)
            await asyncio.to_thread(write_whole, self.layout.manifest, self.manifest)
            now = self._dispatcher.clock.now()
            events: list[Input] = [RunResumed(now, manifest.id), noted(now, manifest.id, EvalResumed())]
        else:
            self.manifest = self._new_manifest()
            self.layout = EvalLayout(self._store, self.manifest.id)
            await asyncio.to_thread(self._make_directory)
            opened_at, name = self.manifest.started_at, self.manifest.id
            events = [RunOpened(opened_at, name, source=spec_file, purpose=Purpose.EVAL)]
        await self._dispatcher.submit(*events, *leaving.watch_over(self._dispatcher, self.manifest.id))

    def _unfinished(self, spec_file: str) -> Run | None:
        """The newest eval of this spec, if it has not ended, or was killed before that was written down."""
        evals = (run for run in reversed(self._dispatcher.book.runs.values()) if run.purpose is Purpose.EVAL)
        newest = next((run for run in evals if run.source == spec_file), None)
        if newest is None:
            return None
        standing = standing_of(newest)
        if standing.ended is not None:
            return None
        if is_of_older_version(newest):
            raise Conflict(
                f"eval {newest.name} was left unfinished by an older version of manyhands and cannot continue",
                "`--fresh` begins a new eval of this spec",
            )
        if standing.aborted:
            self._onlooker.says(f"eval {newest.name} was aborted: its finished trials are reported, and none begins")
        return newest

    def _with_wishes(self, manifest: Manifest) -> Manifest:
        """Flags of an earlier command stay in force."""
        return msgspec.structs.replace(
            manifest,
            fail_fast=manifest.fail_fast or self._wishes.fail_fast,
            allow_tampering=manifest.allow_tampering or self._wishes.allow_tampering,
        )

    def _new_manifest(self) -> Manifest:
        flag, spec = self._wishes.concurrency, self._spec
        wanted = flag or spec.concurrency
        how: Literal["flag", "default", "spec"]
        how = "flag" if flag is not None else "default" if spec.concurrency == 1 else "spec"
        return Manifest(
            id=new_name(self._dispatcher.book, spec.name),
            spec=spec,
            source=str(self._read.file),
            started_at=self._dispatcher.clock.now(),
            concurrency=Concurrency(wanted, how) if isinstance(wanted, int) else None,
            allow_tampering=self._wishes.allow_tampering,
            fail_fast=self._wishes.fail_fast,
        )

    def _make_directory(self) -> None:
        """The files of the cases are copied once, so that a trial tomorrow starts with the same files as one today."""
        if self.layout.directory.exists():  # left by an eval that was killed before it reached the journal
            shutil.rmtree(self.layout.directory)
        for case in self._spec.cases:
            nothing = self.layout.directory / "nothing"
            source = (self._read.file.parent / case.files).resolve() if case.files else nothing
            # A case may be the whole project, which contains the store.
            copy_fresh(source, self.layout.case(case.name), leave_out=self._store.resolve())
        write_whole(self.layout.manifest, self.manifest)

    async def calibrate(self, leaving: Leaving) -> None:
        most = int(min(AUTO_MAX, widest(self._spec, self._config), len(trials_of(self._spec))))
        self._onlooker.says("looking for the concurrency, with trials that are not scored")
        calibrating = Calibrating(
            self._dispatcher, self.manifest, self.layout, self._onlooker.says, lambda: bool(leaving.wanted)
        )
        self.manifest = msgspec.structs.replace(self.manifest, concurrency=await calibrating.find(most))
        await asyncio.to_thread(write_whole, self.layout.manifest, self.manifest)

    async def conduct(self, leaving: Leaving) -> EvalRecord:
        conducting = Conducting(
            self._dispatcher, self.manifest, self.layout, self._store, self._onlooker, lambda: bool(leaving.wanted)
        )
        state = await conducting.run()
        record = conducting.record(state, self._warnings())
        await asyncio.to_thread(write_whole, self.layout.record, record)
        if state != "stopped":  # an eval that is killed before this continues, and writes its record again
            await self._dispatcher.submit(noted(self._dispatcher.clock.now(), record.id, EvalEnded(state)))
        return record

    def _warnings(self) -> list[str]:
        assert self.manifest.concurrency is not None
        n, arms = self.manifest.concurrency.n, len(self._spec.arms)
        warnings = []
        if self._spec.interleave and n > arms and n % arms:
            warnings.append(f"the {arms} arms start together, so at most {n - n % arms} of {n} places are used")
        for arm in narrow_arms(self._spec, self._config, n):
            warnings.append(f"the hosts of arm {arm} accept fewer than {n} sessions at once: some may have waited")
        return warnings


class _Origins:
    """What the workspace of each attempt should contain when it begins."""

    def __init__(self) -> None:
        self._trial_of: dict[str, Trial] = {}
        self._session_of: dict[str, int] = {}  # by the task's id
        self._layout: EvalLayout | None = None

    def take(self, manifest: Manifest, layout: EvalLayout) -> None:
        self._layout = layout
        self._trial_of = {run_name(manifest.id, trial): trial for trial in trials_of(manifest.spec)}
        self._session_of = {session_id(number): number for number in range(1, manifest.spec.sessions + 1)}

    def of(self, order: StartAttempt) -> tuple[Path, Path] | None:
        trial = self._trial_of.get(order.run)
        if trial is None or self._layout is None or order.origin not in SESSIONS:
            return None
        return self._layout.workspace(trial), self._layout.before(trial, self._session_of[order.task.id])


def with_flags(read: ReadSpec, interleave: bool, stop_when_decided: bool = False) -> ReadSpec:
    spec: Spec = read.spec
    interleave = interleave and spec.interleave
    stop_when_decided = stop_when_decided or spec.stop_when_decided
    if stop_when_decided:
        _check_early_stop(spec, interleave)
    spec = msgspec.structs.replace(spec, interleave=interleave, stop_when_decided=stop_when_decided)
    return msgspec.structs.replace(read, spec=spec)


def _check_early_stop(spec: Spec, interleave: bool) -> None:
    """Checked before anything runs, not when the first case has ended."""
    if not interleave:
        raise UsageError(
            "an eval that runs arm by arm cannot stop when it is decided", "leave out one of the two options"
        )
    for scorer in spec.scorers:
        if not scorer.is_bounded:
            raise UsageError(
                f"stopping when decided needs scores between 0 and 1, but scorer `{scorer.name}` may give any number",
                "remove the scorer, or do not stop early",
            )
