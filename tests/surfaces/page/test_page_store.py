"""The page of a store after the fact: after a restart, of a run that has ended, and of one run among several."""

import os
import pty
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from manyhands.core.events import WidthMoved
from manyhands.engine.store.store_opening import open_reader
from surfaces.cli.console import PATIENCE_S, Console, Live, argv, sh
from surfaces.page.browsing import address_of, open_page, until

pytestmark = pytest.mark.xdist_group("page")

CONFIG = """
[hosts.quick]
type = "shell"
width = { min = 1, start = 2, max = 6 }
[store]
durability = "crash"
"""
COSTS = 'echo \'{"tokens_in": 5, "tokens_out": 5, "cost": 0.5}\' > "$MANYHANDS_ENDING_FILE"'


def tasks(n: int, name: str, **fields: Any) -> list[dict[str, Any]]:
    return [sh(f"{name}-{i}", f"echo out {i}; sleep 0.05; {COSTS}", parent=f"epic-{i % 2}", **fields) for i in range(n)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """Two runs that have ended: `first`, in which one task fails, and `second`."""
    console = Console(tmp_path_factory.mktemp("store"))
    console.config(CONFIG)
    console.plan([*tasks(24, "a"), sh("a-bad", "echo broken; exit 3", attempts=1)], "first.jsonl")
    console.plan(tasks(12, "b", title="Second thing"), "second.jsonl")
    assert console.run("run", "first.jsonl").code == 1
    assert console.run("run", "second.jsonl").code == 0
    yield console
    console.close()


@pytest.fixture(scope="module")
def restarted(browser: Any, store: Console) -> Iterator[Any]:
    """`serve` without a backlog, on a store in which other processes have run things before."""
    live = store.start("serve", "--port", "0")
    live.wait_for("action=serving")
    page = open_page(browser, address_of(live))
    until(page, "manyhands.model.runs.size === 2 && manyhands.model.widthKnownFrom === -Infinity")
    yield page
    page.context.close()
    live.process.terminate()
    assert live.end().code == 0


def choose(page: Any, run: str) -> None:
    page.select_option("#run", run)
    until(page, f"manyhands.model.scope === '{run}'")


def test_after_a_restart_the_widths_are_those_of_the_journal(restarted: Any, store: Console) -> None:
    reader = open_reader(store.store)
    moves = [event for _, event in reader.read() if isinstance(event, WidthMoved) and not event.kind]
    reader.close()
    assert len(moves) > 1
    shown = restarted.evaluate("manyhands.model.widths.filter((move) => !move.kind).map((m) => [m.at, m.was, m.width])")
    assert shown == [[move.at, move.was, move.width] for move in moves]
    width_at = "(at) => manyhands.model.series.widthOf.get('quick').valueAt(at)"
    for move in moves:
        assert restarted.evaluate(width_at, move.at) == move.width
    assert restarted.evaluate(width_at, moves[0].at - 1) == 0


def test_after_a_restart_cost_rises_when_the_attempts_ended(restarted: Any, store: Console) -> None:
    opened, ended = restarted.evaluate("((run) => [run.opened_at, run.ended_at])(manyhands.model.runs.get('first-1'))")
    at = "(at) => manyhands.model.series.cost.valueAt(at)"
    assert restarted.evaluate(at, opened) == 0
    assert 0 < restarted.evaluate(at, (opened + ended) / 2) < 12
    assert restarted.evaluate(at, ended) == 12
    assert restarted.evaluate("manyhands.model.cost") == 18


def test_causes_that_nobody_looked_for_are_drawn_as_unknown(restarted: Any) -> None:
    restarted.evaluate("manyhands.setFit()")
    until(restarted, "manyhands.ribbon.laid?.layers.some((layer) => layer.type === 'blocked' && layer.name === '')")


def test_with_a_run_chosen_every_figure_is_of_that_run(restarted: Any) -> None:
    choose(restarted, "second-1")
    until(restarted, "document.getElementById('counts').textContent.startsWith('12 done · of 12 tasks')")
    until(restarted, "document.getElementById('figures').textContent.includes('12 so far')")
    assert "6.00" in restarted.inner_text("#figures")
    until(restarted, "document.getElementById('tasks-shown').textContent === '12 of 12 shown'")
    assert restarted.inner_text("#headline") == "Run second-1 has ended."
    assert [option.inner_text() for option in restarted.locator("#run option").all()] == [
        "all runs",
        "first-1",
        "second-1",
    ]
    choose(restarted, "")
    until(restarted, "document.getElementById('counts').textContent.includes('of 37 tasks')")


def test_beside_all_runs_a_button_says_whom_it_acts_on(restarted: Any) -> None:
    choose(restarted, "")
    until(restarted, "document.getElementById('run-tools').textContent === 'replay second-1'")
    choose(restarted, "first-1")
    until(restarted, "document.getElementById('run-tools').textContent === 'replay'")
    assert restarted.locator("#run-tools button").count() == 1
    choose(restarted, "")


def test_an_epic_of_two_runs_stands_once_below_each_and_filters_by_what_is_below_it(restarted: Any) -> None:
    choose(restarted, "")
    until(restarted, "document.querySelectorAll('#tree .node').length >= 6")
    names = restarted.locator("#tree .node > .name").all_inner_texts()
    assert names[:3] == ["run second-1", "epic-0", "epic-1"]
    restarted.locator("#tree button.name", has_text="epic-1").first.click()
    until(restarted, "document.getElementById('filter').value === 'parent:epic-1'")
    until(restarted, "document.getElementById('tasks-shown').textContent.startsWith('18 of 37 match')")
    restarted.locator("#tree .fold[aria-label='Tasks of epic-1']").first.click()
    until(restarted, "document.querySelectorAll('#tree .leaf').length === 6")
    restarted.locator("#tree .leaf a").first.click()
    until(restarted, "!document.getElementById('task').hidden")
    assert restarted.inner_text("#task h2") == "b-1"
    restarted.keyboard.press("Escape")
    restarted.evaluate("manyhands.setFilter('')")


def test_the_list_of_runs_tells_how_each_came_out_and_chooses_one(restarted: Any) -> None:
    choose(restarted, "")
    restarted.keyboard.press("3")
    until(restarted, "document.querySelectorAll('#runs tr').length === 3")
    rows = restarted.locator("#runs tr").all_inner_texts()
    assert "second-1" in rows[1]
    assert "all done" in rows[1]
    assert "6.00" in rows[1]
    assert "1 failed" in rows[2]
    restarted.click("#runs button:text-is('first-1')")
    until(restarted, "manyhands.model.scope === 'first-1'")
    choose(restarted, "")


def test_two_runs_stand_side_by_side_and_are_compared(restarted: Any) -> None:
    restarted.evaluate("manyhands.setShow('runs')")
    until(restarted, "document.querySelectorAll('#grid th').length === 2")  # of its plan the newest run is the only one
    restarted.select_option("#compare-a", "first-1")
    until(restarted, "document.querySelectorAll('#grid th').length === 3")
    until(restarted, "document.querySelector('#compare-tasks tbody tr.is-other') !== null")
    facts = restarted.inner_text("#compare-facts")
    assert ("mean width" in facts, "cost" in facts) == (True, True)
    failed = restarted.locator("#grid a[data-state=failed]")
    assert failed.count() == 1
    failed.click()
    until(restarted, "document.querySelector('#task .state')?.textContent === 'failed'")
    restarted.keyboard.press("Escape")
    assert restarted.complaints == []
    restarted.evaluate("manyhands.setShow('overview')")


def opened(live: Live) -> str:
    live.wait_for("page: ")
    found = re.search(r"page: (\S+)", live.err)
    assert found is not None
    return found[1]


def test_the_page_of_a_run_that_has_ended_opens_at_its_end_with_all_its_causes(browser: Any, store: Console) -> None:
    live = store.start("page", "first-1")
    url = opened(live)
    assert url.endswith("/#/?run=first-1&replay=end")
    page = open_page(browser, url)
    until(page, "document.getElementById('status').textContent === 'replay' && manyhands.source.isWhole")
    until(page, "document.getElementById('counts').textContent.startsWith('24 done · 1 failed · of 25 tasks')")
    assert page.evaluate("manyhands.source.now === manyhands.source.last")
    assert page.complaints == []
    page.context.close()
    live.interrupt()
    assert live.end().code == 0


def test_a_replay_keeps_its_moment_in_the_address_and_over_a_reload(browser: Any, store: Console) -> None:
    live = store.start("page", "first-1")
    page = open_page(browser, opened(live))
    until(page, "manyhands.source.isWhole")
    page.locator("#replay input").fill("400")
    moment = page.evaluate("manyhands.source.now - manyhands.source.first")
    assert moment > 0
    until(page, f"location.hash.includes('replay={round(moment, 2):g}')")
    page.reload()
    until(page, "globalThis.manyhands?.source?.isWhole")
    assert page.evaluate("manyhands.source.now - manyhands.source.first") == pytest.approx(moment, abs=0.011)
    assert not page.evaluate("manyhands.source.isPlaying")
    page.click("text=back to live")
    until(page, "!location.hash.includes('replay')")
    page.context.close()
    live.interrupt()
    assert live.end().code == 0


def test_a_run_is_saved_as_a_page_that_opens_offline(browser: Any, store: Console) -> None:
    done = store.run("page", "second-1", "--save", "second.html")
    assert (done.code, "second.html" in done.err) == (0, True)
    page = open_page(browser, (store.directory / "second.html").as_uri(), offline=True)
    assert page.inner_text("#counts").startswith("12 done · of 12 tasks")
    assert page.inner_text("#status") == "saved run"
    page.context.close()
    assert store.run("page", "nothing").code == 2
    assert "there is no directory" in store.run("page", "--save", "nowhere/x.html").err


def test_a_run_that_another_process_runs_now_is_followed(browser: Any, tmp_path: Path) -> None:
    console = Console(tmp_path)
    console.config(CONFIG)
    gate = tmp_path / "gate"
    begun = tmp_path / "begun"
    wait = f"touch {begun}; while [ ! -e {gate} ]; do sleep 0.05; done"
    console.plan([sh("a", "true"), sh("b", wait, needs=["a"]), sh("c", "true", needs=["b"])])
    running = console.start("run", "plan.jsonl")
    running.wait_until(begun.exists, "the attempt")
    live = console.start("page")
    page = open_page(browser, opened(live))
    until(page, "[...manyhands.model.inFlight.values()].some((bar) => bar.task === 'b')")
    assert page.locator("#run-tools button:has-text('pause')").count() == 0
    gate.touch()
    assert running.end().code == 0
    until(page, "manyhands.model.runs.get('plan-1').counts.done === 3")
    page.context.close()
    live.interrupt()
    assert live.end().code == 0
    console.close()


def test_following_a_run_on_a_terminal_the_page_stays_until_a_key(tmp_path: Path) -> None:
    console = Console(tmp_path)
    console.config(CONFIG)
    console.plan([sh("a", "true")])
    here, there = pty.openpty()
    process = subprocess.Popen(
        argv(["run", "plan.jsonl", "--follow"]), cwd=tmp_path, env=console.env, stdin=there, stdout=there, stderr=there
    )
    os.close(there)
    try:
        _see_it_stay(process, here)
    finally:
        process.kill()
        os.close(here)


def _see_it_stay(process: subprocess.Popen[bytes], here: int) -> None:
    said = ""

    def read_until(text: str) -> None:
        nonlocal said
        while text not in said:
            said += os.read(here, 4096).decode(errors="replace")

    read_until("press a key")
    found = re.search(r"page: (http://\S+?)/\?token=[\w-]+#/\?run=plan-1", said)
    assert found is not None, said
    answer = httpx.get(f"{found[1]}/api/v1/runs/plan-1")
    assert answer.json()["counts"]["done"] == 1
    assert process.poll() is None
    os.write(here, b"q")
    assert process.wait(PATIENCE_S) == 0
