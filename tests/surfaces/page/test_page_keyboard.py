"""Everything that the page lets a person do, done with keys alone: no click, no focus set by a script."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hosts.landing.project import ENV, Project
from manyhands.core.values.task import TaskState
from surfaces.cli.console import Console, wait_until
from surfaces.page.browsing import address_of, open_page, tab_to, until

pytestmark = pytest.mark.xdist_group("page")

CHANGE = "sed -i s/two/zwei/ base.txt; echo four >> base.txt"


@pytest.fixture(scope="module")
def working(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Project, Console]]:
    """Two tasks wait for approval, two run, and three wait for their slots."""
    project = Project(tmp_path_factory.mktemp("keyboard"), {"base.txt": "one\ntwo\nthree\n"})
    console = Console(project.directory)
    console.env |= ENV
    lines = ('[hosts.local]\ntype = "shell"\nkinds = ["code"]\nwidth = 1', '[hosts.long]\ntype = "shell"\nwidth = 2')
    console.config("\n".join((*lines, "[landing]\napprove = true\n")))
    work = {"run": ["sh", "-c", CHANGE], "workspace": "worktree", "kind": "code"}
    slow = [{"id": f"slow-{n}", "kind": "long", "run": ["sh", "-c", "echo begun; sleep 300"]} for n in range(5)]
    other = {**work, "run": ["sh", "-c", "echo x > other.txt"], "claims": {"write": ["other.txt"]}}
    work["claims"] = {"write": ["base.txt"]}
    console.plan([{"id": "work", **work}, {"id": "other", **other}, *({**one, "claims": {}} for one in slow)])
    live = console.start("serve", "--plan", "plan.jsonl", "--port", "0")
    live.wait_for("action=serving")
    token = (console.store / "token").read_text().strip()
    page = open_page(browser, f"{address_of(live)}/?token={token}")
    for task in ("work", "other"):
        until(page, f"manyhands.model.tasks.get('plan-1\\n{task}')?.state === 'needs_person'")
    until(page, "manyhands.model.inFlight.size === 2")
    yield page, project, console
    page.context.close()
    console.close()


def open_by_keys(page: Any, task: str) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type(task)
    tab_to(page, "#table")
    until(page, f"manyhands.table.list?.length === 1 && manyhands.table.list[0].task === '{task}'")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    until(page, f"document.querySelector('#task h2')?.textContent === '{task}'")


def states(console: Console) -> dict[str, TaskState]:
    return {name: record.state for name, record in console.book().runs["plan-1"].records.items()}


def test_output_is_found_and_a_running_task_cancelled(working: tuple[Any, Project, Console]) -> None:
    page, _, console = working
    open_by_keys(page, "slow-0")
    until(page, "document.querySelector('#task .output').textContent === 'begun\\n'")
    tab_to(page, "#task .bar input")
    page.keyboard.type("BEG")
    until(page, "document.querySelector('#task .bar [role=status]').textContent === '1 place'")
    tab_to(page, "#task .output")
    tab_to(page, "#task [data-verb=cancel]")
    page.keyboard.press("Enter")
    until(page, "document.activeElement.textContent === 'cancel: it runs, really stop it?'")
    page.keyboard.press("Enter")
    wait_until(lambda: states(console)["slow-0"] is TaskState.CANCELLED, "the cancelling")


def test_output_is_saved_and_a_task_retried(working: tuple[Any, Project, Console]) -> None:
    """After the task above has been cancelled: now three wait for a slot, and then four."""
    page, _, console = working
    open_by_keys(page, "slow-0")
    until(page, "document.querySelector('#task .output').textContent === 'begun\\n'")
    tab_to(page, "#task button[data-act=save]")
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    assert Path(saved.value.path()).read_text() == "begun\n"
    tab_to(page, "#task [data-verb=retry]")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#task .said').textContent === 'retry: done, and on disk'")
    assert states(console)["slow-0"] is TaskState.READY


def test_work_is_rejected(working: tuple[Any, Project, Console]) -> None:
    page, project, console = working
    open_by_keys(page, "other")
    until(page, "document.querySelectorAll('#task .diff .diff-row').length === 1")
    tab_to(page, "#task [data-verb=reject]")
    page.keyboard.press("Enter")
    wait_until(lambda: states(console)["other"] is TaskState.CANCELLED, "the rejecting")
    assert project.landed() == []


def test_work_is_sent_back_with_words_and_approved(working: tuple[Any, Project, Console]) -> None:
    page, project, _ = working
    open_by_keys(page, "work")
    until(page, "document.querySelectorAll('#task .diff .diff-row').length === 4")
    tab_to(page, "#task textarea.words")
    page.keyboard.type("once more")
    tab_to(page, "#task [data-verb=send-back]")
    page.keyboard.press("Enter")
    until(page, "document.querySelectorAll('#task .diff .diff-row').length === 5")
    tab_to(page, "#task [data-verb=approve]")
    page.keyboard.press("Enter")
    wait_until(lambda: project.landed() == ["work"], "the landing")


def test_a_host_is_widened_many_tasks_put_off_and_the_run_cancelled(working: tuple[Any, Project, Console]) -> None:
    page, _, console = working
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    tab_to(page, "[data-host=long] button[aria-label='Widen long by one']")
    page.keyboard.press("Enter")
    until(page, "manyhands.model.hosts.get('long').width === 3")
    until(page, "manyhands.model.inFlight.size === 3")
    page.keyboard.press("/")
    page.keyboard.type("state:ready")
    until(page, "document.querySelector('[data-bulk=defer]') !== null")
    tab_to(page, "[data-bulk=defer]")
    page.keyboard.press("Enter")
    until(page, "document.getElementById('bulk-said').textContent.startsWith('defer: 2 of 2')")
    assert [*states(console).values()].count(TaskState.DEFERRED) == 2
    page.keyboard.press("Escape")
    tab_to(page, "#run-tools button.danger")
    page.keyboard.press("Enter")
    until(page, "document.activeElement.textContent === 'really cancel plan-1?'")
    page.keyboard.press("Enter")
    until(page, "manyhands.model.runs.get('plan-1').ended_at != null")
    assert set(states(console).values()) == {TaskState.DONE, TaskState.CANCELLED}
