"""A plan file that people edit while its tasks run."""

from pathlib import Path

from apps.serve.at_work import HOLD, NEVER_S, hosts, plan_of, serving, shell, write_plan

EDITS = 10


async def test_a_new_p0_starts_when_the_file_is_written(tmp_path: Path) -> None:
    hosts(tmp_path, 4)
    tasks = [shell("first")]
    write_plan(tmp_path, tasks)
    async with serving(tmp_path, plan_of(tmp_path), poll_s=NEVER_S) as work:
        await work.until_state("first", "done")
        for n in range(EDITS):
            tasks.append(shell(f"t-{n}", priority=0))
            write_plan(tmp_path, tasks)
            await work.until(lambda n=n: work.started_at(f"t-{n}"), f"t-{n} to start")  # type: ignore[misc]


async def test_a_new_p0_takes_the_next_free_slot_before_all_that_waits(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    tasks = [shell("held", HOLD), *(shell(f"t{n}") for n in range(5))]
    write_plan(tmp_path, tasks)
    async with serving(tmp_path, plan_of(tmp_path)) as work:
        await work.until_state("held", "running")
        write_plan(tmp_path, [*tasks, shell("urgent", priority=0)])
        await work.until_state("urgent", "ready")
        work.go()
        await work.until_state("t4", "done")
        records = work.run.records.values()
        order = sorted(records, key=lambda record: record.history[0].started_at if record.history else 0.0)
        assert [record.task.id for record in order][:2] == ["held", "urgent"]


async def test_an_edit_is_taken_over_by_what_waits_and_reported_of_what_runs(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    write_plan(tmp_path, [shell("held", HOLD), shell("next", "exit 3", attempts=1)])
    async with serving(tmp_path, plan_of(tmp_path)) as work:
        await work.until_state("held", "running")
        write_plan(tmp_path, [shell("held", "exit 5"), shell("next", "echo repaired")])
        await work.until(lambda: any("note held: has changed while it runs" in line for line in work.said), "the word")
        work.go()
        await work.until_state("next", "done")
        assert work.state("held") == "done"
        assert work.record("held").task.run[-1] == HOLD


async def test_what_is_taken_out_is_cancelled_and_comes_back_when_it_is_put_in_again(tmp_path: Path) -> None:
    hosts(tmp_path, 2)
    tasks = [shell("stays", HOLD), shell("runs", HOLD), shell("waits")]
    write_plan(tmp_path, tasks)
    async with serving(tmp_path, plan_of(tmp_path)) as work:
        await work.until_state("runs", "running")
        write_plan(tmp_path, tasks[:1])
        await work.until_state("runs", "cancelled")
        assert work.state("waits") == "cancelled"
        assert work.record("runs").cause.why == "in the backlog: it is no longer in the plan"
        write_plan(tmp_path, tasks)
        work.go()
        for id in ("stays", "runs", "waits"):
            await work.until_state(id, "done")


async def test_a_plan_that_is_broken_for_a_while_changes_nothing_and_is_named(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    tasks = [shell("held", HOLD), shell("next")]
    write_plan(tmp_path, tasks)
    async with serving(tmp_path, plan_of(tmp_path)) as work:
        await work.until_state("held", "running")
        write_plan(tmp_path, [*tasks, {"id": "bad", "runn": []}])
        await work.until(lambda: any("unknown field `runn`" in line for line in work.said), "the complaint")
        (tmp_path / "plan.jsonl").unlink()
        await work.until(lambda: sum("problem" in line for line in work.said) > 1, "the second complaint")
        assert (work.state("held"), work.state("next")) == ("running", "ready")
        write_plan(tmp_path, [*tasks, shell("good")])
        await work.until_state("good", "ready")
        work.go()
        await work.until_state("good", "done")


async def test_a_failed_task_gets_another_go_when_its_plan_is_mended(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    write_plan(tmp_path, [shell("bad", "exit 3", attempts=1), shell("after", needs=["bad"])])
    async with serving(tmp_path, plan_of(tmp_path)) as work:
        await work.until_state("after", "skipped")
        write_plan(tmp_path, [shell("bad", "exit 0", attempts=1), shell("after", needs=["bad"])])
        await work.until_state("after", "done")


async def test_a_new_start_does_nothing_again_and_goes_on_with_the_same_run(tmp_path: Path) -> None:
    hosts(tmp_path, 1)
    write_plan(tmp_path, [shell("a", "echo a >> ran.txt"), shell("held", f"echo held >> ran.txt; {HOLD}")])
    async with serving(tmp_path, plan_of(tmp_path)) as work:
        await work.until_state("held", "running")
        await work.until(lambda: "held" in work.ran(), "it to begin")
    assert work.state("held") in ("ready", "backoff"), "stopped, not failed"
    work.go()
    write_plan(tmp_path, [shell("a", "echo a >> ran.txt"), shell("held", "echo held >> ran.txt"), shell("b")])
    async with serving(tmp_path, plan_of(tmp_path)) as again:
        await again.until_state("held", "done")
        await again.until_state("b", "done")
        assert list(again.dispatcher.book.runs) == ["plan-1"]
        assert again.ran() == ["a", "held", "held"]


async def test_the_bounds_in_a_plan_hold_and_may_be_edited(tmp_path: Path) -> None:
    hosts(tmp_path, 4)
    tasks = "".join(f'[[task]]\nid = "t{n}"\nrun = ["sh", "-c", "{HOLD}"]\nclaims = {{}}\n' for n in range(3))
    plan = tmp_path / "plan.toml"
    plan.write_text(f"[plan]\nconcurrency = 1\n{tasks}")
    async with serving(tmp_path, plan_of(tmp_path, "plan.toml")) as work:
        await work.until_state("t0", "running")
        assert [work.state(f"t{n}") for n in range(3)].count("running") == 1
        plan.write_text(f"[plan]\nconcurrency = 2\n{tasks}")
        await work.until(lambda: work.run.in_flight == 2, "two at once")
        work.go()
        await work.until(lambda: work.run.records and not work.run.unfinished, "the end")
        assert work.run.peak == 2
