"""Work that waits and questions, on the page: the diff with its buttons, and a field for the answer."""

from collections.abc import Iterator
from typing import Any

import pytest

from hosts.landing.project import ENV, Project
from manyhands.core.values.task import TaskState
from surfaces.cli.console import Console, wait_until
from surfaces.page.browsing import address_of, bring_axe, looked_at, open_page, schemes, until

pytestmark = pytest.mark.xdist_group("page")

NOTE = "decision: keep <b>three</b>"
CHANGE = f"sed -i s/two/zwei/ base.txt; echo four >> base.txt; echo '{NOTE}' > $MANYHANDS_NOTES_FILE"
ASKS = 'a=$($MANYHANDS_ASK "Which one?" --choice left --choice right); test "$a" = right'


@pytest.fixture(scope="module")
def waiting(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Project, Console]]:
    project = Project(tmp_path_factory.mktemp("approving"), {"base.txt": "one\ntwo\nthree\n"})
    console = Console(project.directory)
    console.env |= ENV
    console.config('[hosts.local]\ntype = "shell"\nwidth = 3\n[landing]\napprove = true\n')
    work = {"run": ["sh", "-c", CHANGE], "workspace": "worktree", "check": ["grep", "-c", "zwei", "base.txt"]}
    console.plan([{"id": "work", **work}, {"id": "asks", "run": ["sh", "-c", ASKS], "claims": {}}])
    live = console.start("serve", "--plan", "plan.jsonl", "--port", "0")
    live.wait_for("action=serving")
    token = (console.store / "token").read_text().strip()
    page = open_page(browser, f"{address_of(live)}/?token={token}", bypass_csp=True, reduced_motion="reduce")
    until(page, "[...manyhands.model.tasks.values()].some((task) => task.state === 'needs_person')")
    yield page, project, console
    page.context.close()
    console.close()


def open_task(page: Any, task: str) -> None:
    page.evaluate("(task) => manyhands.openTask('plan-1', task)", task)


def waits(page: Any) -> str:
    return str(
        page.evaluate("[...document.querySelectorAll('#inbox li')].map((one) => one.dataset.waitsFor).sort().join()")
    )


def test_the_notes_of_a_task_are_beside_it(waiting: tuple[Any, Project, Console]) -> None:
    page, _, _ = waiting
    open_task(page, "work")
    until(page, f"[...document.querySelectorAll('li')].some((one) => one.textContent === {NOTE!r})")


def test_the_inbox_lists_what_waits_and_opens_the_task(waiting: tuple[Any, Project, Console]) -> None:
    page, _, _ = waiting
    page.evaluate("manyhands.setShow('inbox')")
    until(page, "document.querySelectorAll('#inbox li').length === 2")
    assert waits(page) == "approval,question"
    assert page.inner_text("#inbox li[data-waits-for=approval] code") == "manyhands task approve work --run plan-1"
    page.click("#inbox li[data-waits-for=question] a")
    until(page, "document.querySelector('#task .question')?.textContent === 'Which one?'")


def test_the_diff_stands_side_by_side_and_is_sent_back_and_approved(waiting: tuple[Any, Project, Console]) -> None:
    page, project, _ = waiting
    open_task(page, "work")
    until(page, "document.querySelectorAll('#task .diff .diff-row').length === 4")
    rows = "[...document.querySelectorAll('#task .diff .diff-row')]"
    sides = page.evaluate(f"{rows}.map((row) => [...row.children].map((one) => one.textContent))")
    assert sides == [["one", "one"], ["two", "zwei"], ["three", "three"], ["", "four"]]
    assert page.inner_text("#task .diff summary") == "Check passed: grep -c zwei base.txt"
    bring_axe(page)
    assert [fault for scheme, width in schemes(page) for fault in looked_at(page, f"a diff, {scheme}, {width}")] == []
    page.set_viewport_size({"width": 1280, "height": 900})
    page.click("#task [data-verb=send-back]")
    until(page, "document.querySelector('#task .said').textContent.includes('say what is to be done')")
    page.fill("#task textarea.words", "once more")
    page.click("#task [data-verb=send-back]")
    until(page, "document.querySelectorAll('#task .diff .diff-row').length === 5")
    page.click("#task [data-verb=approve]")
    wait_until(lambda: project.landed() == ["work"], "the landing")
    page.click("#task [data-act=diff]")  # what has landed can still be read
    until(page, "document.querySelectorAll('#task .diff .diff-row').length === 5")
    assert page.locator("#task .diff button, #task [data-verb=approve]").count() == 0
    told = page.evaluate("fetch('/api/v1/tasks/plan-1/work/story').then((answer) => answer.text())")
    assert "sent back by someone on the page: once more" in told


def test_a_question_is_answered_by_one_of_its_choices(waiting: tuple[Any, Project, Console]) -> None:
    page, _, console = waiting
    open_task(page, "asks")
    until(page, "document.querySelector('#task .question')?.textContent === 'Which one?'")
    page.click("#task [data-choice=right]")
    wait_until(lambda: console.book().runs["plan-1"].records["asks"].state is TaskState.DONE, "the answer")
    until(page, "!document.querySelector('#task .question')")


def test_a_button_in_the_inbox_lets_a_paused_host_take_tasks_again(waiting: tuple[Any, Project, Console]) -> None:
    page, _, console = waiting
    assert console.run("host", "pause", "local", "--why", "looking").code == 0
    page.evaluate("manyhands.setShow('inbox')")
    until(page, "document.querySelector('#inbox li[data-waits-for=host] [data-verb=resume]')")
    bring_axe(page)
    assert looked_at(page, "the inbox with a button") == []
    page.click("#inbox li[data-waits-for=host] [data-verb=resume]")
    wait_until(lambda: console.book().hosts["local"].paused is None, "the host to resume")
    until(page, "!document.querySelector('#inbox li[data-waits-for=host]')")
    assert page.inner_text("#inbox-note") == "host local takes tasks again"


def test_the_inbox_is_empty_once_all_is_answered(waiting: tuple[Any, Project, Console]) -> None:
    page, _, _ = waiting
    page.evaluate("manyhands.setShow('inbox')")
    until(page, "document.querySelector('#inbox-about').textContent === 'nothing waits for you'")
    assert waits(page) == ""
