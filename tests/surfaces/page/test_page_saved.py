"""A run saved as one file, in a browser that may not reach anything: it opens, replays, and says what it leaves out."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from manyhands.surfaces.page.inlining import single_page
from surfaces.page.browsing import open_page, played, recording, saved_page, until

pytestmark = pytest.mark.xdist_group("page")


@pytest.fixture
def saved(browser: Any, tmp_path: Path) -> Iterator[Any]:
    told = played(300)
    url = saved_page(tmp_path, single_page(json.dumps(told)))
    page = open_page(browser, url, offline=True)
    yield page
    page.context.close()


def test_a_saved_run_opens_offline_at_its_end_and_asks_for_nothing(saved: Any) -> None:
    asked: list[str] = []
    saved.on("request", lambda request: asked.append(request.url))
    saved.wait_for_timeout(300)
    assert saved.evaluate("manyhands.model.bars.size") == 300
    assert saved.inner_text("#status") == "saved run"
    assert "75.00\ncost · 900 tokens" in saved.inner_text("#figures")
    assert asked == []
    assert saved.complaints == []


def test_a_saved_run_replays_from_any_moment_of_its_slider(saved: Any) -> None:
    at = saved.evaluate("manyhands.source.first + (manyhands.source.last - manyhands.source.first) * 0.51")
    saved.locator("#replay input").fill("510")
    until(saved, "manyhands.model.inFlight.size === 10")
    assert saved.evaluate("manyhands.now") == pytest.approx(at, abs=0.5)
    until(saved, "document.querySelectorAll('.card').length === 10")
    saved.select_option("#replay select", "20")
    saved.click("#play")
    until(saved, "manyhands.source.now === manyhands.source.last")
    until(saved, "document.querySelectorAll('.card').length === 0")


def test_a_list_that_is_cut_says_so(browser: Any, tmp_path: Path) -> None:
    told = recording(1_000, tasks_total=48_231)
    page = open_page(browser, saved_page(tmp_path, single_page(json.dumps(told))))
    until(page, "document.getElementById('lanes-note').textContent !== ''")
    assert "1,000 of 48,231 shown" in page.inner_text("#tasks-shown")
    assert "attempts: 1,000 of 48,231 shown" in page.inner_text("#lanes-note")
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_telephone_nothing_is_wider_than_the_screen(browser: Any, tmp_path: Path, scheme: str) -> None:
    url = saved_page(tmp_path, single_page(json.dumps(recording(300))))
    page = open_page(browser, url, 390, 844, color_scheme=scheme, reduced_motion="reduce")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    page.context.close()
