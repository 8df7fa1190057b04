"""What can be done on the page with many tasks at once, with a run, and with a task that is new."""

from collections.abc import Iterator
from typing import Any

import pytest

from manyhands.core.values.task import TaskState
from surfaces.cli.console import Console, sh, shell_host
from surfaces.page.browsing import address_of, open_page, tab_to, until

pytestmark = pytest.mark.xdist_group("page")


@pytest.fixture(scope="module")
def acting(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Console]]:
    """One task runs, and four more wait for its slot."""
    console = Console(tmp_path_factory.mktemp("acting"))
    console.config(shell_host(1))
    console.plan([sh(f"t{n}", "sleep 300") for n in range(5)])
    live = console.start("serve", "--plan", "plan.jsonl", "--port", "0")
    live.wait_for("action=serving")
    token = (console.store / "token").read_text().strip()
    page = open_page(browser, f"{address_of(live)}/?token={token}")
    until(page, "manyhands.model.inFlight.size === 1 && manyhands.model.tasks.size === 5")
    yield page, console
    page.context.close()
    console.close()


def state_of(console: Console, task: str) -> TaskState:
    return console.book().runs["plan-1"].records[task].state


def test_the_table_says_why_a_task_that_is_ready_waits(acting: tuple[Any, Console]) -> None:
    page, _ = acting
    page.evaluate("manyhands.table.element.scrollIntoView()")
    until(
        page, "document.querySelector('#table tr[data-task=t3] .reason')?.textContent.includes('waiting for a slot on')"
    )


def test_all_that_match_a_filter_are_put_off_and_taken_up_again(acting: tuple[Any, Console]) -> None:
    page, console = acting
    page.fill("#filter", "state:ready")
    page.click("[data-bulk=defer]")
    until(page, "document.getElementById('bulk-said').textContent.startsWith('defer: 4 of 4')")
    assert {state_of(console, f"t{n}") for n in range(1, 5)} == {TaskState.DEFERRED}
    page.fill("#filter", "state:deferred")
    page.click("[data-bulk=resume]")
    until(page, "document.getElementById('bulk-said').textContent.startsWith('resume: 4 of 4')")
    page.fill("#filter", "")
    until(page, "document.querySelectorAll('[data-bulk]').length === 0")


def test_a_task_is_added_by_keyboard_alone(acting: tuple[Any, Console]) -> None:
    page, console = acting
    page.focus("#run-tools button:text-is('add a task')")
    page.keyboard.press("Enter")
    until(page, "document.activeElement.name === 'id'")
    page.keyboard.type("new one")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#add .said').textContent !== ''")  # a name with a blank, and nothing to run
    page.fill("#add input[name=id]", "extra")
    page.fill("#add textarea[name=command]", "true")
    page.keyboard.press("Tab")
    page.focus("#add button[type=submit]")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#add .said').textContent === 'extra: added, and on disk'")
    assert "extra" in console.book().runs["added"].records
    page.keyboard.press("Escape")


def test_every_open_run_has_its_buttons_and_all_are_paused_by_keyboard_alone(acting: tuple[Any, Console]) -> None:
    """After the task above: both runs are open."""
    page, console = acting
    named = "[...document.querySelectorAll('#run-tools button')].map((each) => each.textContent).join()"
    until(page, f"{named}.includes('cancel added,pause added,cancel plan-1,pause plan-1,pause all')")
    tab_to(page, "#run-tools button[data-all]")
    page.keyboard.press("Enter")
    until(page, "[...manyhands.model.runs.values()].every((run) => run.draining)")
    until(page, f"{named}.includes('resume added') && {named}.includes('resume plan-1')")
    assert all(run.draining for run in console.book().runs.values())
    for run in ("added", "plan-1"):
        page.click(f"#run-tools button:text-is('resume {run}')")
    until(page, "[...manyhands.model.runs.values()].every((run) => !run.draining)")


def test_in_the_list_the_waiting_tasks_of_every_run_say_why(acting: tuple[Any, Console]) -> None:
    page, _ = acting
    page.evaluate("manyhands.table.element.scrollIntoView()")
    for task in ("extra", "t3"):
        reason = f"document.querySelector('#table tr[data-task={task}] .reason')?.textContent"
        until(page, f"{reason}?.includes('waiting for a slot on')")


def test_a_task_is_changed_and_the_run_paused_by_keyboard_alone(acting: tuple[Any, Console]) -> None:
    page, console = acting
    page.evaluate("manyhands.openTask('plan-1', 't4')")
    until(page, "document.querySelector('#task [data-verb=edit]') !== null")
    page.focus("#task [data-verb=edit]")
    page.keyboard.press("Enter")
    until(page, "document.activeElement.name === 'priority'")
    page.keyboard.press("Control+A")
    page.keyboard.type("0")
    page.keyboard.press("Tab")
    page.keyboard.type("t1, t2")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#task .said').textContent === 'changed, and on disk'")
    task = console.book().runs["plan-1"].records["t4"].task
    assert (task.priority, list(task.needs)) == (0, ["t1", "t2"])
    page.keyboard.press("Escape")
    page.select_option("#run", "plan-1")
    until(page, "manyhands.model.scope === 'plan-1'")
    page.focus("#run-tools button:text-is('pause')")
    page.keyboard.press("Enter")
    until(page, "manyhands.model.runs.get('plan-1').draining")
    assert console.book().runs["plan-1"].draining
    until(page, "document.getElementById('run-tools').textContent.includes('resume')")
    page.focus("#run-tools button:has-text('resume')")
    page.keyboard.press("Enter")
    until(page, "!manyhands.model.runs.get('plan-1').draining")


def test_cancelling_a_run_asks_first(acting: tuple[Any, Console]) -> None:
    page, console = acting
    page.select_option("#run", "plan-1")
    until(page, "manyhands.model.scope === 'plan-1'")
    page.click("#run-tools button:text-is('cancel')")
    page.click("#run-tools button:text-is('really cancel plan-1?')")
    until(page, "manyhands.model.runs.get('plan-1').ended_at != null")
    assert {state_of(console, f"t{n}") for n in range(5)} == {TaskState.CANCELLED}
