"""What the page says when something is wrong: no token, no server, no such task, output made for a terminal."""

from pathlib import Path
from typing import Any

import pytest

from surfaces.cli.console import Console, sh
from surfaces.page.browsing import Served, address_of, open_page, until

pytestmark = pytest.mark.xdist_group("page")


def test_without_the_token_the_page_says_that_it_is_read_only_and_how_to_change_that(
    browser: Any, served: Served
) -> None:
    page = open_page(browser, served.url)
    until(page, "document.getElementById('status').textContent === 'live, read only'")
    until(page, "document.getElementById('access').textContent.includes('does not hold the token')")
    assert page.inner_text("#status") == "live, read only"
    page.context.close()


def test_a_wrong_token_is_explained_on_a_page(browser: Any, served: Served) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(f"{served.url}/?token=wrong")
    assert answer.status == 401
    assert "The token in the address is wrong" in page.inner_text("body")
    page.click("a")
    page.wait_for_selector("#headline")
    context.close()


def test_a_link_to_an_unknown_task_ends_in_one_answer(browser: Any, served: Served) -> None:
    """As a link that is opened afresh: all requests are counted, less those of a page without a task."""
    plain, asked = [], []
    for url, seen in ((served.url, plain), (f"{served.url}/#/task/plan-1/no-such-task", asked)):
        context = browser.new_context()
        page = context.new_page()
        page.on("request", lambda request, seen=seen: seen.append(request.url))
        page.goto(url)
        until(page, "globalThis.manyhands?.timings.first != null")
        if seen is asked:
            until(page, "document.querySelector('#task .said').textContent.includes('there is no task `no-such-task`')")
        began = page.evaluate("manyhands.frameAt")
        until(page, f"manyhands.frameAt > {began} + 2000")  # eight more looks at the task
        context.close()
    of_the_task = [url for url in asked if "no-such-task" in url and "#" not in url]
    assert 1 <= len(of_the_task) <= 2
    assert len(asked) - len(plain) <= 2, asked


def test_a_link_to_an_unknown_run_says_so_and_leads_to_all_and_evals_are_not_asked_for_again(
    browser: Any, served: Served
) -> None:
    page = open_page(browser, f"{served.url}/#/?run=no-such&show=evals")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    until(page, "document.getElementById('notice').textContent.startsWith('There is no run no-such here.')")
    until(page, "document.getElementById('eval-note').textContent !== ''")
    asked.clear()  # it had to ask once
    began = page.evaluate("manyhands.frameAt")
    until(page, f"manyhands.frameAt > {began} + 4000")
    assert [url for url in asked if "/eval" in url] == []
    page.click("#notice a")
    until(page, "document.getElementById('notice').hidden && manyhands.model.scope === ''")
    assert page.evaluate("manyhands.view.run") == ""
    page.context.close()


def test_a_server_that_has_gone_is_said_in_the_headline_and_time_stops(browser: Any, tmp_path: Path) -> None:
    console = Console(tmp_path)
    console.plan([sh("a", "sleep 300")])
    live = console.start("serve", "--plan", "plan.jsonl", "--port", "0")
    live.wait_for("action=serving")
    page = open_page(browser, address_of(live))
    until(page, "document.querySelectorAll('.card').length === 1")
    live.process.terminate()
    assert live.end().code == 0
    until(page, "document.getElementById('headline').textContent.startsWith('Not connected since')")
    now = page.evaluate("manyhands.now")
    began = page.evaluate("manyhands.frameAt")
    until(page, f"manyhands.frameAt > {began} + 1000")
    assert page.evaluate("manyhands.now") == now
    page.context.close()
    console.close()


def test_a_store_without_a_dispatcher_says_so(browser: Any, tmp_path: Path) -> None:
    console = Console(tmp_path)
    gate, begun = tmp_path / "gate", tmp_path / "begun"
    console.plan([sh("a", f"touch {begun}; while [ ! -e {gate} ]; do sleep 0.05; done"), sh("b", "true", needs=["a"])])
    run = console.start("run", "plan.jsonl")
    run.wait_until(begun.exists, "an attempt")
    run.process.kill()
    run.end()
    gate.touch()  # nobody is left to stop it
    live = console.start("page")
    live.wait_for("page: ")
    page = open_page(browser, live.err.split("page: ")[1].split()[0])
    until(page, "document.getElementById('headline').textContent.startsWith('No dispatcher is running')")
    assert "reads the store" in page.inner_text("#access")
    now = page.evaluate("manyhands.now")
    began = page.evaluate("manyhands.frameAt")
    until(page, f"manyhands.frameAt > {began} + 1000")
    assert page.evaluate("manyhands.now") == now
    page.context.close()
    live.interrupt()
    assert live.end().code == 0
    console.close()


def test_output_made_for_a_terminal_is_shown_without_its_codes(browser: Any, tmp_path: Path) -> None:
    console = Console(tmp_path)
    console.plan([sh("a", r"printf '\033[1;31mred\033[0m\n10 %%\r20 %%\n'")])
    assert console.run("run", "plan.jsonl").code == 0
    live = console.start("serve", "--port", "0")
    live.wait_for("action=serving")
    page = open_page(browser, address_of(live))
    page.evaluate("manyhands.openTask('plan-1', 'a')")
    until(page, "document.querySelector('#task .output').textContent === 'red\\n20 %\\n'")
    page.context.close()
    console.close()
