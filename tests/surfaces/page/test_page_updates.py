"""The page redraws all the time. Whoever is at a link, a button or a text of it must not lose it through that."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from manyhands.surfaces.page.inlining import single_page
from surfaces.page.browsing import open_page, played, saved_page, until

pytestmark = pytest.mark.xdist_group("page")

#: Time passes and everything is drawn again, twice.
REDRAW = """async (seconds) => {
    for (let n = 0; n < 2; n++) {
        manyhands.source.seek(manyhands.source.now + seconds / 2);
        Object.assign(manyhands.lastAt, { cards: 0, panels: 0, readers: -1e9 });
        manyhands.dirty();
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
}"""


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    told = played(300)
    run = told["snapshot"]
    for frame in told["frames"]:
        for change in list(frame["changes"]):
            if change["t"] == "start":
                held = {"claim": f"src/{change['task']}.py", "mode": "write", "holders": [change["task"]], "waiting": 1}
                always = {"claim": "src/core.py", "mode": "write", "holders": [change["task"]], "waiting": frame["seq"]}
                row = {"run": "night", "task": change["task"], "kind": change["kind"], "title": f"Do {change['task']}"}
                frame["changes"] += [
                    {"t": "claims", "claims": [always, held]},
                    {"t": "task", **row, "state": "running", "parent": "epic-1", "since": change["at"], "cause": ""},
                ]
            elif change["t"] == "end":
                ended = {"state": change["ending"], "since": change["at"], "cause": ""}
                frame["changes"].append({"t": "task", "run": "night", "task": f"task-{change['attempt']}", **ended})
    run["tasks"] = {"total": 0, "shown": 0}
    url = saved_page(tmp_path_factory.mktemp("updates"), single_page(json.dumps(told)))
    page = open_page(browser, url, offline=True, reduced_motion="reduce")
    yield page
    page.context.close()


@pytest.fixture(autouse=True)
def at_the_start(page: Any) -> None:
    page.evaluate(
        """() => { manyhands.closeTask(); manyhands.setFilter(''); getSelection().removeAllRanges();
                   document.activeElement.blur(); manyhands.table.element.scrollTop = 0;
                   manyhands.source.seek(manyhands.source.first + 5.5); }"""
    )
    page.evaluate("manyhands.setRange({ from: manyhands.source.first, to: manyhands.source.first + 20 })")
    page.evaluate(REDRAW, 0)


def test_no_element_loses_the_focus_through_an_update(page: Any) -> None:
    page.evaluate("manyhands.openTask('night', 'task-51')")
    page.evaluate(REDRAW, 0)
    selector = '\'a[href], button, input, select, [tabindex="0"], [tabindex="-1"]\''
    found = page.evaluate(f"[...document.querySelectorAll({selector})].filter((each) => each.checkVisibility()).length")
    assert found > 60
    lost = []
    for n in range(found):
        focused = page.evaluate(
            f"""(n) => {{
                const each = [...document.querySelectorAll({selector})].filter((one) => one.checkVisibility())[n];
                each?.focus();
                globalThis.held = document.activeElement;
                return each && each === held ? each.outerHTML.slice(0, 120) : null;
            }}""",
            n,
        )
        if focused is None:
            continue
        page.evaluate(REDRAW, 0.4)
        if not page.evaluate(
            "document.activeElement === held || (!held.isConnected && document.activeElement !== document.body)"
        ):
            lost.append(focused)
        page.evaluate(
            "manyhands.source.now > manyhands.source.last - 5 && manyhands.source.seek(manyhands.source.first + 5.5)"
        )
    assert lost == []


def settle(page: Any, place: str) -> None:
    """On a busy machine a panel may still show the time of the test before after one redraw."""
    shown = ""
    for _ in range(20):
        page.evaluate(REDRAW, 0)
        if shown == (shown := page.inner_text(place)):
            return
    raise AssertionError(f"{place} changes though time stands still: {shown}")


@pytest.mark.parametrize(
    "place", ["#figures b", "#tree .name", "#range dd", "#task h2", "#task .story-list li", "#table td .chip"]
)
def test_no_selected_text_is_lost_through_an_update(page: Any, place: str) -> None:
    page.evaluate("manyhands.openTask('night', 'task-51')")
    settle(page, place)
    text = page.evaluate(
        """(place) => {
            getSelection().selectAllChildren(document.querySelector(place));
            globalThis.held = getSelection().anchorNode;
            return getSelection().toString();
        }""",
        place,
    )
    assert text
    page.evaluate(REDRAW, 0)
    assert page.evaluate("getSelection().toString()") == text
    page.evaluate(REDRAW, 3)
    assert page.evaluate("held.isConnected && getSelection().toString() !== ''")


def test_a_click_that_takes_longer_than_an_update_still_counts(page: Any) -> None:
    page.evaluate("manyhands.source.seek(manyhands.source.first + 20.5)")
    for _ in range(3):  # the lanes are as high as the cards were the time before
        page.evaluate(REDRAW, 0)
    name = page.locator("#table tr[data-task] a").nth(4).inner_text()
    row = page.locator(f"#table tr[data-task={name}] a")
    row.scroll_into_view_if_needed()
    box = row.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.evaluate(REDRAW, 2)  # by now its task has ended, and others run
    page.mouse.up()
    until(
        page, "document.querySelector('#task h2')?.textContent !== undefined && !document.getElementById('task').hidden"
    )
    assert page.inner_text("#task h2") == name


def test_a_card_that_goes_leaves_the_focus_among_the_cards(page: Any) -> None:
    page.locator(".card a").first.focus()
    page.evaluate(REDRAW, 4)
    assert page.evaluate("document.activeElement.closest('#now') !== null")
