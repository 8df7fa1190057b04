"""The page of a real `manyhands serve` in a real browser: it shows what the journal says; what it orders is done."""

from collections.abc import Iterator
from typing import Any

import pytest

from manyhands.core.events import WidthMoved
from manyhands.core.values.task import TaskState
from manyhands.engine.store.store_opening import open_reader
from surfaces.cli.console import wait_until
from surfaces.page.browsing import Served, open_page, until

pytestmark = pytest.mark.xdist_group("page")


@pytest.fixture(scope="module")
def page(browser: Any, served: Served) -> Iterator[Any]:
    requests: list[str] = []
    page = open_page(browser, served.entry)
    page.requests = requests
    page.on("request", lambda request: requests.append(request.url))
    until(page, "(manyhands.model.runs.get('plan-1')?.counts?.done ?? 0) >= 11")
    yield page
    page.context.close()


@pytest.fixture(autouse=True)
def undisturbed(page: Any) -> None:
    page.keyboard.press("Escape")
    page.evaluate("manyhands.closeTask(); manyhands.setFilter(''); manyhands.setRange(null); manyhands.setFit()")


def state_of(served: Served, task: str) -> TaskState:
    return served.console.book().runs["plan-1"].records[task].state


def test_it_says_what_runs_how_wide_and_why_not_wider(page: Any, served: Served) -> None:
    until(page, "document.querySelectorAll('.card').length === 2")
    book = served.console.book()
    assert page.inner_text("#big-in-flight") == str(len(book.running)) == "2"
    assert page.inner_text("#big-width") == str(sum(host.width for host in book.hosts.values()))
    assert "slow is full (pinned)" in page.inner_text("#headline")
    assert {"wait-1", "wait-2"} == set(page.locator(".card .id").all_inner_texts())
    until(page, "document.querySelector('.card .out:not(.live)').textContent.includes('begun')")
    assert page.complaints == []


def test_the_ribbon_has_the_widths_of_the_journal(page: Any, served: Served) -> None:
    reader = open_reader(served.console.store)
    moves = [event for _, event in reader.read() if isinstance(event, WidthMoved) and not event.kind]
    reader.close()
    shown = page.evaluate(
        "manyhands.model.widths.filter((move) => !move.kind).map((m) => [m.at, m.host, m.was, m.width])"
    )
    # Where a host starts is decided before there is anyone to tell.
    moves = [move for move in moves if move.was]
    assert shown == [[move.at, move.host, move.was, move.width] for move in moves]
    assert moves
    for move in moves:
        after = page.evaluate(
            "([host, at]) => manyhands.model.series.widthOf.get(host).valueAt(at)", [move.host, move.at]
        )
        assert after == move.width


def test_the_ribbon_is_drawn_as_thick_as_the_width(page: Any, served: Served) -> None:
    """Its upper edge, found among the pixels left of now, is where the axis has the width."""
    drawn, wanted = page.evaluate(
        """() => {
            const canvas = document.getElementById("ribbon"), { edge } = manyhands.ribbon;
            const x = Math.round(edge.x) - 6, ratio = canvas.width / canvas.clientWidth;
            const pixels = canvas.getContext("2d").getImageData(x * ratio, 0, 1, canvas.height).data;
            const ink = getComputedStyle(document.documentElement).getPropertyValue("--ink");
            const dark = parseInt(ink.trim().slice(1, 3), 16) + 40;
            let y = 0;
            while (y < canvas.height && !(pixels[y * 4 + 3] > 200 && pixels[y * 4] < dark)) y++;
            return [y / ratio, edge.y(manyhands.model.series.width.last)];
        }"""
    )
    assert abs(drawn - wanted) <= 2
    assert page.get_attribute("#ribbon", "data-width") == str(
        sum(h.width for h in served.console.book().hosts.values())
    )


def test_filtering_narrows_the_table_and_the_address_keeps_it(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("kind:text")
    until(page, "document.getElementById('tasks-shown').textContent.startsWith('6 of 18 match')")
    until(page, "location.hash.includes('filter=kind:text')")
    rows = page.locator("#table tr[data-task]")
    assert rows.count() == 6
    page.fill("#filter", "file:src/part_3.py")
    until(page, "document.getElementById('tasks-shown').textContent.startsWith('1 of 18 match')")
    assert rows.first.get_attribute("data-task") == "wait-3"
    until(page, "location.hash.includes('part_3')")
    page.reload()
    until(page, "document.getElementById('tasks-shown')?.textContent.startsWith('1 of 18 match')")


def test_the_wheel_zooms_at_the_cursor_dragging_pans_and_f_fits(page: Any) -> None:
    box = page.locator("#lanes").bounding_box()
    x, y = box["x"] + box["width"] * 0.3, box["y"] + 40
    under = (
        "(x) => manyhands.scale.t(x - document.getElementById('lanes').getBoundingClientRect().left - manyhands.gutter)"
    )
    page.evaluate("manyhands.setFollow()")
    before, span = page.evaluate(under, x), page.evaluate("manyhands.span.to - manyhands.span.from")
    page.mouse.move(x, y)
    page.mouse.wheel(0, -400)
    until(page, f"manyhands.span.to - manyhands.span.from < {span} * 0.7")
    assert page.evaluate(under, x) == pytest.approx(before, abs=span * 0.01)
    until(page, "location.hash.includes('view=')")
    zoomed = page.evaluate("manyhands.span.from")
    page.mouse.down()
    page.mouse.move(x + 120, y, steps=4)
    page.mouse.up()
    assert page.evaluate("manyhands.span.from") < zoomed
    page.keyboard.press("f")
    assert page.evaluate("manyhands.view.fit")
    until(page, "!location.hash.includes('view=')")


def test_a_selected_time_range_tells_its_figures(page: Any) -> None:
    box = page.locator("#lanes").bounding_box()
    y = box["y"] + 40
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 46, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 4, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.wait_for_selector("#range dl")
    figures = page.inner_text("#range")
    assert "11 done, 1 failed" in figures
    assert "mean in flight" in figures
    until(page, "location.hash.includes('range=')")


def test_a_bar_that_is_clicked_opens_its_task_with_story_and_output(page: Any, served: Served) -> None:
    x, y = page.evaluate(
        """() => {
            const bar = [...manyhands.model.bars.values()].find((each) => each.task === "wait-1");
            const row = manyhands.lanes.rows.find((each) => each.bars?.includes(bar));
            const box = document.getElementById("lanes").getBoundingClientRect();
            const x = manyhands.gutter + manyhands.scale.x((bar.start + manyhands.now) / 2);
            return [box.left + x, box.top + row.y + row.h / 2];
        }"""
    )
    page.mouse.click(x, y)
    until(page, "document.querySelector('#task .output')?.textContent.includes('begun')")
    until(page, "manyhands.taskPage.output.text.includes('begun')")  # read on from the file, as it grows
    until(page, "document.querySelector('#task .plan')?.textContent.includes('echo begun; sleep 300')")
    until(page, "location.hash.includes('/task/plan-1/wait-1')")
    text = page.inner_text("#task")
    assert "runs on slow as attempt 1" in text
    assert "write src/part_1.py" in text
    assert page.locator("#task .story-list li").count() >= 2
    page.keyboard.press("Escape")
    assert page.locator("#task").is_hidden()


def test_cancelling_a_task_on_the_page_cancels_it_in_the_journal(page: Any, served: Served) -> None:
    page.fill("#filter", "wait-2")
    until(page, "document.getElementById('tasks-shown').textContent.startsWith('1 of 18 match')")
    page.click("#table tr[data-task=wait-2] a")
    page.click("#task [data-verb=cancel]")  # it runs, so this only asks
    until(page, "document.querySelector('#task [data-verb=cancel]').textContent.includes('really')")
    assert state_of(served, "wait-2") is TaskState.RUNNING
    page.click("#task [data-verb=cancel]")
    until(page, "document.querySelector('#task .state').textContent === 'cancelled'")
    assert state_of(served, "wait-2") is TaskState.CANCELLED
    # Its slot goes to the next one, and the page sees that too.
    until(page, "[...manyhands.model.inFlight.values()].some((bar) => bar.task === 'wait-3')")
    page.click("#task [data-verb=retry]")
    wait_until(lambda: state_of(served, "wait-2") is not TaskState.CANCELLED, "the retry")


def test_a_task_is_put_off_and_taken_up_again(page: Any, served: Served) -> None:
    page.evaluate("manyhands.openTask('plan-1', 'wait-6')")
    page.click("#task [data-verb=defer]")
    page.wait_for_selector("#task [data-verb=resume]")
    assert state_of(served, "wait-6") is TaskState.DEFERRED
    page.click("#task [data-verb=resume]")
    page.wait_for_selector("#task [data-verb=defer]")
    assert state_of(served, "wait-6") is TaskState.READY


def test_a_width_set_on_the_page_widens_the_host_and_the_ribbon(page: Any, served: Served) -> None:
    before = served.console.book().hosts["slow"].width
    page.hover(".host[data-host=slow]")
    page.click(".host[data-host=slow] [aria-label='Widen slow by one']")
    until(page, f"manyhands.model.series.widthOf.get('slow').last === {before + 1}")
    assert served.console.book().hosts["slow"].width == before + 1
    until(page, "document.querySelectorAll('.card').length === 3")


def test_a_host_is_paused_and_resumed(page: Any, served: Served) -> None:
    page.hover(".host[data-host=quick]")
    page.click(".host[data-host=quick] button:has-text('pause')")
    until(page, "manyhands.model.hosts.get('quick').paused != null")
    assert served.console.book().hosts["quick"].paused is not None
    until(page, "document.querySelector('.host[data-host=quick] .why').textContent.startsWith('paused')")
    page.click(".host[data-host=quick] button:has-text('resume')")
    until(page, "manyhands.model.hosts.get('quick').paused == null")
    assert served.console.book().hosts["quick"].paused is None


def test_the_keyboard_goes_from_task_to_task_and_opens_them(page: Any) -> None:
    page.click("#table th button:has-text('task')")  # by name: an order in which nothing moves
    until(page, "manyhands.table.list.length === 18")
    page.evaluate("manyhands.table.here = null")
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.get_attribute("#table tr.is-here", "data-task")
    assert second == "text-10"
    page.keyboard.press("Enter")
    assert page.inner_text("#task h2") == second
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    assert page.evaluate("manyhands.view.rows") == "kinds"
    page.keyboard.press("g")
    page.keyboard.press("?")
    assert "zoom in and out" in page.inner_text("#keys")
    page.keyboard.press("Escape")


def test_those_who_see_no_canvas_get_a_table_and_a_sentence(page: Any) -> None:
    until(page, "document.querySelectorAll('#readers tr').length > 1")
    assert "Width over time" in page.get_attribute("#ribbon", "aria-label")
    assert "in flight of width" in page.inner_text("#said")


def test_a_run_is_replayed_and_left_again(page: Any) -> None:
    page.click("#run-tools button:has-text('replay')")
    page.wait_for_selector("#replay input")
    page.evaluate("manyhands.source.pause(); manyhands.source.seek(manyhands.source.first)")
    until(page, "manyhands.model.inFlight.size <= 4 && manyhands.source.now === manyhands.source.first")
    page.evaluate("manyhands.source.seek(manyhands.source.last)")
    assert page.evaluate("(manyhands.model.runs.get('plan-1').counts.done)") == 11
    page.click("text=back to live")
    until(page, "document.getElementById('status').dataset.state === 'live'")


def test_no_request_leaves_the_host(page: Any, served: Served) -> None:
    assert page.requests
    assert {url for url in page.requests if not url.startswith(served.url)} == set()


def test_without_the_token_the_page_shows_everything_and_orders_nothing(browser: Any, served: Served) -> None:
    other = open_page(browser, served.url)
    until(other, "document.querySelectorAll('.card').length >= 2")
    other.evaluate("manyhands.openTask('plan-1', 'wait-1')")
    until(other, "document.querySelectorAll('#task .story-list li').length >= 2")
    assert other.locator("#task [data-verb]").count() == 0
    assert other.locator(".host .act").first.is_hidden()
    other.context.close()
