"""When a run ends, or as soon as something fails, the page says how it came out and what to do about it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from manyhands.core.values.task import TaskState
from surfaces.cli.console import Console, sh
from surfaces.page.browsing import address_of, open_page, until

pytestmark = pytest.mark.xdist_group("page")


@pytest.fixture(scope="module")
def failed(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Console, Path]]:
    """Three tasks that fail for the same reason until it is fixed, one that fails for another, one that needs it."""
    console = Console(tmp_path_factory.mktemp("failed"))
    fixed = console.directory / "fixed"
    console.plan(
        [
            *(sh(f"t{n}", f"test -e {fixed} || {{ echo no file; exit 7; }}", attempts=1) for n in range(3)),
            sh("other", "exit 9", attempts=1),
            sh("after", "true", needs=["other"]),
            sh("fine", "echo kept > left.txt", keep=["left.txt"]),
        ]
    )
    live = console.start("serve", "--plan", "plan.jsonl", "--port", "0")
    live.wait_for("action=serving")
    token = (console.store / "token").read_text().strip()
    page = open_page(browser, f"{address_of(live)}/?token={token}")
    until(page, "manyhands.model.runs.get('plan-1')?.ended_at != null")
    yield page, console, fixed
    page.context.close()
    console.close()


def test_the_verdict_the_causes_and_the_next_step_are_on_the_page(failed: tuple[Any, Console, Path]) -> None:
    page, _, _ = failed
    until(page, "document.querySelector('#outcome h2')?.textContent === 'plan-1: 4 of 6 failed'")
    text = page.inner_text("#outcome")
    assert "3 × " in text
    assert "one at a time" in text
    assert "after" in page.inner_text("#outcome .groups:has(button:text-is('Skipped'))")
    assert "manyhands review plan-1" in text
    with page.context.expect_page() as opened:
        page.click("#outcome a:text-is('Read the review')")
    review = opened.value
    assert review.inner_text("h1") == "plan-1"
    assert review.inner_text(".headline") == "1 of 6 tasks are done, 5 are not"
    assert review.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") != "none", (
        "its own styles are in force"
    )
    review.close()
    until(page, "document.title.startsWith('✗ 4 of 6 failed')")
    assert page.get_attribute("link[rel=icon]", "data-state") == "failed"
    assert page.complaints == []


def test_a_group_of_failures_is_retried_together(failed: tuple[Any, Console, Path]) -> None:
    page, console, fixed = failed
    until(page, "document.querySelector('#outcome h2') !== null")
    fixed.touch()
    page.click("#outcome button:text-is('retry these 3')")
    until(page, "manyhands.model.runs.get('plan-1').counts.done === 4")
    until(page, "document.querySelector('#outcome .said').textContent === 'retry: 3 of 3 are on disk'")
    records = console.book().runs["plan-1"].records
    assert [records[f"t{n}"].state for n in range(3)] == [TaskState.DONE] * 3
    until(page, "document.querySelector('#outcome h2').textContent === 'plan-1: 1 of 6 failed'")


def test_the_pane_of_a_task_has_the_task_and_the_output_of_every_attempt(failed: tuple[Any, Console, Path]) -> None:
    """After the retry above: a first attempt that failed, and a second that went well and printed nothing."""
    page, _, _ = failed
    page.evaluate("manyhands.openTask('plan-1', 't0')")
    until(page, "document.querySelectorAll('#task .rows tr').length === 3")
    until(page, "document.querySelector('#task .plan')?.textContent.includes('echo no file; exit 7')")
    until(page, "document.querySelector('#task .output').textContent === 'no output'")
    page.click("#task .rows button:text-is('1')")
    until(page, "document.querySelector('#task .output').textContent === 'no file\\n'")
    assert "exit 7" in page.inner_text("#task .rows")
    page.fill("#task .bar input", "FILE")
    assert page.inner_text("#task .bar [role=status]") == "1 place"
    with page.expect_download() as saved:
        page.click("#task .bar button:text-is('save')")
    assert Path(saved.value.path()).read_text() == "no file\n"
    until(page, "document.querySelector('#task .story-list').textContent.includes('retried by a person')")
    page.evaluate("manyhands.openTask('plan-1', 'other')")
    until(page, "[...document.querySelectorAll('#task h3')].some((each) => each.textContent === 'Needed by')")
    page.click("#task a:text-is('after')")
    until(page, "document.querySelector('#task h2').textContent === 'after'")
    page.keyboard.press("Escape")


def test_a_file_that_a_task_left_is_saved_from_its_pane(failed: tuple[Any, Console, Path]) -> None:
    page, _, _ = failed
    page.evaluate("manyhands.openTask('plan-1', 'fine')")
    until(page, "document.querySelector('#task a[download]') !== null")
    with page.expect_download() as saved:
        page.click("#task a:text-is('left.txt')")
    assert saved.value.suggested_filename == "left.txt"
    assert Path(saved.value.path()).read_text() == "kept\n"
    page.keyboard.press("Escape")
