"""The views beside the overview, on one saved run: what they show, what the keyboard does there, and what axe says."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from manyhands.surfaces.page.inlining import single_page
from surfaces.page.browsing import SCHEMES, Served, bring_axe, looked_at, open_page, saved_page, schemes, until
from surfaces.page.planned_run import planned_run

pytestmark = pytest.mark.xdist_group("page")


@pytest.fixture(scope="module")
def saved(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved_page(tmp_path_factory.mktemp("views"), single_page(json.dumps(planned_run())))


@pytest.fixture(scope="module")
def page(browser: Any, saved: str) -> Iterator[Any]:
    page = open_page(browser, saved)
    yield page
    assert page.complaints == []
    page.context.close()


def test_the_graph_is_walked_by_keys_and_opens_tasks_and_epics(page: Any) -> None:
    page.keyboard.press("2")
    until(page, "manyhands.views.part?.laid?.nodes.length === 60")
    assert "critical path: " in page.inner_text("#graph-tools")
    page.focus("#graph")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    focus = page.evaluate("manyhands.views.part.focus.name")
    assert page.inner_text("#graph-said").startswith(focus)
    assert "needs " in page.inner_text("#graph-said")
    page.keyboard.press("Enter")
    until(page, f"document.querySelector('#task h2')?.textContent === '{focus}'")
    page.keyboard.press("Escape")
    page.click("#graph-tools button:text-is('close all epics')")
    until(page, "manyhands.views.part.laid.nodes.length === 8")
    page.focus("#graph")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")  # the first epic opens into its eight tasks
    until(page, "manyhands.views.part.laid.nodes.length > 8")
    before = page.evaluate("manyhands.views.part.view.k")
    page.keyboard.press("w")
    assert page.evaluate("manyhands.views.part.view.k") > before
    page.keyboard.press("1")


def test_the_hosts_have_charts_with_one_cursor_that_keys_move(page: Any) -> None:
    page.keyboard.press("4")
    until(page, "document.querySelectorAll('#charts figure').length === 6")
    page.select_option("#host", "host-1")
    page.focus("#charts")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    until(page, "document.getElementById('charts-said').textContent.includes('last move: host-1')")
    assert "GB" in page.inner_text("#charts figure:last-child figcaption")
    assert "7.0 of 16.0 GB" in page.inner_text("#hosts")
    assert "12 of 12 went well" in page.inner_text("#moves")


#: The first column of pixels of each chart: a label that is cut off at the left reaches into it.
LEFT_EDGES = """[...document.querySelectorAll("#charts canvas")].map((canvas) =>
    canvas.getContext("2d").getImageData(0, 0, 1, canvas.height).data.some((each) => each !== 0))"""


def test_no_label_of_a_chart_is_cut_off_on_a_phone(page: Any) -> None:
    page.keyboard.press("4")
    page.set_viewport_size({"width": 390, "height": 900})
    until(page, "[...document.querySelectorAll('#charts canvas')].every((each) => each.offsetWidth < 390)")
    assert page.evaluate(LEFT_EDGES) == [False] * 6
    page.set_viewport_size({"width": 1280, "height": 900})


def test_the_log_has_a_lane_in_every_line_and_follows_the_filter(page: Any) -> None:
    page.keyboard.press("5")
    until(page, "document.querySelectorAll('#log tbody tr').length > 10")
    whole = page.inner_text("#log-about")
    page.fill("#filter", "task-7")
    until(page, "document.querySelectorAll('#log tbody tr').length === 4")  # and two that keep the place of others
    rows = page.locator("#log tbody tr").all_inner_texts()
    assert "starts" in rows[2]
    assert "host-" in rows[2]
    assert page.inner_text("#log-about") != whole
    page.fill("#filter", "")
    page.evaluate("document.activeElement.blur()")


def test_links_to_what_a_task_needs_keep_the_filter_and_the_run(page: Any) -> None:
    page.keyboard.press("1")
    page.select_option("#run", label="night")
    page.evaluate("manyhands.view.run = 'night'; manyhands.setFilter('kind:text')")
    until(page, "location.hash.includes('run=night') && location.hash.includes('filter=kind:text')")
    needs = page.evaluate("[...manyhands.model.tasks.values()].find((task) => task.needs.length).task")
    page.evaluate(f"manyhands.openTask('night', '{needs}')")
    link = page.locator("#task h3:text-is('Needs') + p a").first
    name = link.inner_text()
    link.click()
    until(page, f"document.querySelector('#task h2').textContent === '{name}'")
    assert page.evaluate("[manyhands.view.run, manyhands.view.filter]") == ["night", "kind:text"]
    assert page.input_value("#filter") == "kind:text"
    page.keyboard.press("Escape")
    page.evaluate("manyhands.view.run = ''; manyhands.setFilter('')")


def test_the_log_gives_its_words_room_and_on_a_phone_each_task_has_its_reason_below(page: Any) -> None:
    page.evaluate("manyhands.setShow('log')")
    until(page, "document.querySelectorAll('#log tbody tr').length > 10")
    widths = page.evaluate("[...document.querySelectorAll('#log th')].map((each) => each.offsetWidth)")
    assert widths[-1] > 2 * max(widths[:-1])
    page.set_viewport_size({"width": 390, "height": 900})
    page.evaluate("manyhands.setShow('overview'); manyhands.setFilter('state:skipped')")
    until(page, "document.querySelector('#table .under')?.checkVisibility()")
    place = "document.querySelector('#table tr[data-task] {}').getBoundingClientRect()"
    below = page.evaluate(f"{place.format('.under')}.top - {place.format('a')}.bottom")
    row = page.evaluate("document.querySelector('#table tr[data-task]').offsetHeight")
    assert (below >= 0, row) == (True, 68)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("manyhands.setFilter('')")


VIEWS = ("overview", "graph", "runs", "hosts", "log", "evals", "inbox")


def test_axe_finds_nothing_in_any_view_in_light_and_dark_wide_and_narrow(browser: Any, saved: str) -> None:
    page = open_page(browser, saved, reduced_motion="reduce")
    bring_axe(page)
    found = looked_everywhere(page, "night", "task-11")
    assert found == []
    page.context.close()


def test_axe_finds_nothing_where_the_token_brings_buttons_and_none_is_off_the_screen(
    browser: Any, served: Served
) -> None:
    page = open_page(browser, served.entry, reduced_motion="reduce", bypass_csp=True)
    bring_axe(page)
    until(page, "document.querySelectorAll('#run-tools button').length >= 4")
    # The test above has the other two: what the token brings has the same colours at every width.
    found = looked_everywhere(page, "plan-1", "text-5", (("light", 1280), ("dark", 390)))
    page.click("#run-tools button:text-is('cancel')")  # its question is the longest of the buttons
    until(page, "document.getElementById('run-tools').textContent.includes('really cancel plan-1?')")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert found == []
    page.context.close()


def looked_everywhere(page: Any, run: str, task: str, wanted: Sequence[tuple[str, int]] = SCHEMES) -> list[str]:
    """In every view and on a task, in light and dark, wide and narrow."""
    found: list[str] = []
    for scheme, width in schemes(page, wanted):
        for view in VIEWS:
            page.evaluate(f"manyhands.setShow('{view}')")
            until(page, f"document.querySelector('[data-show={view}]').hidden === false")
            found += looked_at(page, f"{view}, {scheme}, {width}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        page.evaluate(f"manyhands.openTask('{run}', '{task}')")
        until(page, f"document.querySelector('#task h2')?.textContent === '{task}'")
        found += looked_at(page, f"a task, {scheme}, {width}")
        page.evaluate("manyhands.closeTask(); manyhands.setShow('overview'); manyhands.setFilter('kind:text')")
        until(page, "document.querySelectorAll('.card.is-dim').length > 0")
        found += looked_at(page, f"a filter, {scheme}, {width}")
        page.evaluate("manyhands.setFilter('')")
        for dialog in ("keys", "add", "edit") if width < 1000 else ():
            if dialog == "edit":
                page.evaluate(
                    f"manyhands.taskPage.edit.open({{ run: '{run}', task: '{task}' }}, {{ priority: 2, needs: [] }})"
                )
            else:
                page.evaluate(f"document.getElementById('{dialog}').showModal()")
            found += looked_at(page, f"the dialog {dialog}, {scheme}, {width}")
            page.evaluate(f"document.getElementById('{dialog}').close()")
    return found
