"""Several backlogs on the same hosts: each gets its share, and none waits for another to end."""

from pathlib import Path

from apps.serve.at_work import hosts, plan_of, serving, shell, write_plan

WIDTH = 6


async def test_backlogs_share_a_host_by_their_weights(tmp_path: Path) -> None:
    hosts(tmp_path, WIDTH)
    for name in ("light", "heavy"):
        write_plan(tmp_path, [shell(f"{name}-{n}", "sleep 0.1") for n in range(60)], f"{name}.jsonl")
    light, heavy = plan_of(tmp_path, "light.jsonl"), plan_of(tmp_path, "heavy.jsonl", weight=2.0)
    async with serving(tmp_path, light, heavy) as work:
        book = work.dispatcher.book

        def done(name: str) -> int:
            run = book.runs.get(f"{name}-1")
            return 0 if run is None else sum(count for state, count in run.counts.items() if state == "done")

        await work.until(lambda: done("light") > 2 and done("heavy") > 2, "both to be under way")
        before = done("light"), done("heavy")
        await work.until(lambda: done("heavy") >= 50, "most of the heavy one")
        light_done, heavy_done = done("light") - before[0], done("heavy") - before[1]
        share = heavy_done / (heavy_done + light_done)
        # Two thirds is what the weights say.
        assert 0.58 <= share <= 0.75, (light_done, heavy_done)
        await work.until(lambda: done("light") == 60, "the light one, which had its share all along")


async def test_a_weight_that_was_changed_counts_from_the_next_start(tmp_path: Path) -> None:
    hosts(tmp_path, WIDTH)
    write_plan(tmp_path, [shell("a")])
    async with serving(tmp_path, plan_of(tmp_path)) as work:
        await work.until_state("a", "done")
    async with serving(tmp_path, plan_of(tmp_path, weight=3.0)) as work:
        await work.until(lambda: work.run.weight == 3.0, "the new weight")
