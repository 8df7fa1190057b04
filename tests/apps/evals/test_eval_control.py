"""Control from outside reaches every arm and replication; what a person put in taints, and nothing else does."""

import asyncio
import signal
from collections.abc import Callable

import pytest

from apps.evals.specs import Nobody, evaluated, let_go, record_of, workspace, written
from manyhands.apps.evals.spec.eval_types import Concurrency, EvalRecord
from manyhands.apps.evals.spec.spec_file import read_spec
from manyhands.apps.evals.trial.eval_layout import EvalLayout, write_whole
from manyhands.apps.evals.trial.eval_notes import standing_of
from manyhands.apps.evals.trial.manifest import Manifest
from manyhands.assembly import open_session
from manyhands.core.events import CancelAsked, Input, RunOpened, TasksSubmitted
from manyhands.core.values.task import Task
from manyhands.engine.store.store_opening import open_requests
from manyhands.errors import Conflict, UsageError
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.cli.eval_control import abort_eval, inject_context, pause_eval, resume_eval
from manyhands.surfaces.cli.eval_options import InjectOptions
from manyhands.surfaces.cli.settings import Settings
from surfaces.cli.console import PATIENCE_S, Console


class Underway:
    """An eval that runs, and whatever someone else may ask of it."""

    def __init__(self, console: Console, **wishes: object) -> None:
        self.console = console
        self.nobody = Nobody()
        self.task = asyncio.create_task(evaluated(console, nobody=self.nobody, **wishes))  # type: ignore[arg-type]

    async def until(self, condition: Callable[[], object], what: str) -> None:
        deadline = asyncio.get_running_loop().time() + PATIENCE_S
        while not condition():
            assert not self.task.done(), (what, self.task)
            assert asyncio.get_running_loop().time() < deadline, what
            await asyncio.sleep(0.01)

    async def begun(self, count: int) -> None:
        logs = self.console.store / "evals" / "e-1" / "trials"
        await self.until(lambda: len(list(logs.glob("*/*/*/workspace/log.txt"))) >= count, f"{count} agents")

    async def ask(self, what: Callable[..., None], *arguments: object) -> None:
        await asyncio.to_thread(what, None, *arguments, Settings(store=str(self.console.store)))

    def said(self, text: str) -> bool:
        return any(text in line for line in self.nobody.said)

    async def record(self) -> EvalRecord:
        return await asyncio.wait_for(self.task, PATIENCE_S)


async def test_a_paused_eval_starts_nothing_and_then_goes_on(console: Console) -> None:
    written(console, held=True, cases=2, replications=2)
    live = Underway(console, concurrency=2)
    await live.begun(2)
    await live.ask(pause_eval)
    await live.until(lambda: live.said("paused"), "the pause")
    let_go(console, 1, 2)
    await live.until(lambda: live.said("a c0 1 done") and live.said("b c0 1 done"), "what was in flight")
    assert {name for name in console.book().runs if name.startswith("e-1.")} == {"e-1.a.c0.1", "e-1.b.c0.1"}
    await live.ask(resume_eval)
    assert {outcome.state for outcome in (await live.record()).outcomes} == {"scored"}


async def test_an_aborted_eval_stops_what_runs_and_keeps_what_finished(console: Console) -> None:
    written(console, held=True, cases=2, replications=2)
    let_go(console, 1)
    live = Underway(console, concurrency=2)
    await live.begun(6)
    await live.ask(abort_eval)
    record = await live.record()
    assert record.state == "aborted"
    states = {outcome.key: outcome.state for outcome in record.outcomes}
    assert [states[arm, case, 1] for arm in "ab" for case in ("c0", "c1")] == ["scored"] * 4
    assert sorted(states[arm, case, 2] for arm in "ab" for case in ("c0", "c1")) == ["aborted"] * 2 + ["missing"] * 2
    assert standing_of(console.book().runs["e-1"]).ended == "aborted"
    with pytest.raises(Conflict, match="eval e-1 is aborted"):
        await live.ask(pause_eval)


async def test_an_abort_that_was_killed_is_reported_by_the_next_process_which_begins_nothing(console: Console) -> None:
    written(console, held=True, cases=1, replications=2)
    let_go(console, 1)
    live = console.start("eval", "spec.toml", "--concurrency", "2")
    log = console.store / "evals/e-1/trials/b/c0/2/workspace/log.txt"
    live.wait_until(log.exists, "an agent of the second replication")
    live.process.send_signal(signal.SIGSTOP)  # it hears nothing of it
    abort_eval(None, Settings(store=str(console.store)))
    live.process.send_signal(signal.SIGKILL)
    live.process.wait()
    record = await evaluated(console)
    assert (record.id, record.state) == ("e-1", "aborted")
    assert {outcome.key: outcome.state for outcome in record.outcomes} == {
        (arm, "c0", replication): state for arm in "ab" for replication, state in ((1, "scored"), (2, "aborted"))
    }
    let_go(console, 2)
    assert (await evaluated(console)).id == "e-2"


async def test_injected_context_taints_the_trials_it_reaches_and_no_others(console: Console) -> None:
    written(console, held=True, cases=2, replications=2, sessions=2)
    live = Underway(console, allow_tampering=True)
    await live.begun(1)
    with pytest.raises(UsageError, match="has no arm `bb`"):
        await live.ask(inject_context, InjectOptions("x", arm="bb"))
    await live.ask(inject_context, InjectOptions("be brief", replication=2))
    let_go(console, 1, 2)
    record = await live.record()
    tainted = {outcome.key for outcome in record.outcomes if outcome.tainted}
    assert tainted == {(arm, case, 2) for arm in "ab" for case in ("c0", "c1")}
    assert [injection.text for injection in record.injections] == ["be brief"]
    assert (workspace(console, "b", "c1", 2) / "prompts.txt").read_text().count("be brief") == 2
    assert "be brief" not in (workspace(console, "b", "c1", 1) / "prompts.txt").read_text()


async def test_nothing_can_be_put_into_an_eval_that_does_not_allow_it(console: Console) -> None:
    written(console, held=True, cases=1, replications=1)
    live = Underway(console)
    await live.begun(1)
    with pytest.raises(Conflict, match="begun without `--allow-tampering`"):
        await live.ask(inject_context, InjectOptions("be brief"))
    let_go(console, 1)
    assert not any(outcome.tainted for outcome in (await live.record()).outcomes)


def test_another_process_pauses_it_and_the_person_at_the_keyboard_stops_it(console: Console) -> None:
    written(console, held=True, cases=1, replications=2)
    live = console.start("eval", "spec.toml", "--concurrency", "2")
    log = console.store / "evals/e-1/trials/b/c0/1/workspace/log.txt"
    live.wait_until(log.exists, "an agent")
    assert console.run("eval", "pause").code == 0
    live.wait_for("paused")
    live.interrupt()
    live.wait_for("stopping")
    live.interrupt()
    done = live.end()
    assert done.code == 75
    assert "the same command continues from here" in done.err
    assert record_of(console).state == "stopped"
    refused = console.run("eval", "pause")
    assert refused.code == 2
    assert "is not running" in refused.err


async def test_cancelling_the_run_of_an_eval_aborts_it_for_good(console: Console) -> None:
    written(console, held=True, cases=1, replications=1)
    live = Underway(console, concurrency=2)
    await live.begun(2)
    asking = open_requests(load_config(console.directory).store_at)
    asking.ask(CancelAsked(0.0, "e-1"))
    asking.close()
    assert (await live.record()).state == "aborted"
    assert standing_of(console.book().runs["e-1"]).aborted


async def begun_by_an_older_version(console: Console, *more: Input) -> None:
    """An eval in the form that versions before notes had: a task stands for its end."""
    end = Task("end", run=("true",), deferred=True)
    source = str(console.directory / "spec.toml")
    spec = read_spec(console.directory / "spec.toml").spec
    layout = EvalLayout(console.store, "e-1")
    write_whole(layout.manifest, Manifest("e-1", spec, source, 0.0, Concurrency(1, "default")))
    async with open_session(load_config(console.directory)) as dispatcher:
        at = dispatcher.clock.now()
        await dispatcher.submit(RunOpened(at, "e-1", source=f"eval {source}"), TasksSubmitted(at, "e-1", (end,)), *more)


async def test_an_eval_that_an_older_version_left_unfinished_is_refused(console: Console) -> None:
    written(console, cases=1, replications=1)
    await begun_by_an_older_version(console)
    with pytest.raises(Conflict, match="eval e-1 was left unfinished by an older version"):
        await evaluated(console)
    assert (await evaluated(console, fresh=True)).id == "e-2"


async def test_an_eval_that_an_older_version_ended_is_over(console: Console) -> None:
    written(console, cases=1, replications=1)
    await begun_by_an_older_version(console, CancelAsked(0.0, "e-1", "end"))
    assert standing_of(console.book().runs["e-1"]).ended == "aborted"
    assert (await evaluated(console)).id == "e-2"
