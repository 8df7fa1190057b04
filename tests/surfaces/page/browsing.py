"""One headless Chromium and one `manyhands serve` for all tests of the page, and what is done with them."""

import itertools
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from surfaces.cli.console import Console, Live, sh

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: Far longer than anything takes on a quiet machine.
PATIENCE_MS = 60_000
#: The host `quick` works off what is short; `slow` keeps what a test wants to find running.
CONFIG = """
[hosts.quick]
type = "shell"
kinds = ["text", "code"]
width = { min = 1, start = 2, max = 4 }
[hosts.slow]
type = "shell"
kinds = ["wait"]
width = 2
[store]
durability = "crash"
"""


@pytest.fixture(
    scope="module"
)  # no longer: while it is there its loop runs, and no other test of the process can have one
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium here: `apt-get install chromium`, which `make test` does when it may")
    playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: `make setup`")
    with playwright_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


@dataclass(frozen=True)
class Served:
    console: Console
    live: Live
    url: str

    @property
    def entry(self) -> str:
        return f"{self.url}/?token={(self.console.store / 'token').read_text().strip()}"


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    console = Console(tmp_path_factory.mktemp("served"))
    console.config(CONFIG)
    quick = [
        sh(
            f"text-{n}",
            f"echo line {n}; sleep 0.1{'; exit 3' if n == 5 else ''}",
            kind="text" if n % 2 else "code",
            title=f"Summarise part {n}",
            parent="epic",
            attempts=1,
        )
        for n in range(1, 13)
    ]
    slow = [
        sh(f"wait-{n}", "echo begun; sleep 300", kind="wait", claims={"write": [f"src/part_{n}.py"]})
        for n in range(1, 7)
    ]
    console.plan([*quick, *slow], "plan.jsonl")
    live = console.start("serve", "--plan", "plan.jsonl", "--port", "0")
    live.wait_for("action=serving")
    yield Served(console, live, address_of(live))
    console.close()


def address_of(live: Live) -> str:
    found = re.search(r"action=serving .*(http://[\d.:]+)", live.err)
    assert found is not None, live.err
    return found[1]


def open_page(browser: Any, url: str, width: int = 1280, height: int = 900, **settings: Any) -> Any:
    """A page of its own, with what it complained of; closed with `page.context.close()`."""
    context = browser.new_context(viewport={"width": width, "height": height}, **settings)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    page.goto(url)
    until(page, "globalThis.manyhands?.timings.first != null")
    return page


def until(page: Any, expression: str) -> None:
    """Waits for it to hold and for the page to be drawn after that: the model is ahead of its cards by a redraw."""
    _wait_for(page, expression)
    since = page.evaluate("performance.now()")
    _wait_for(page, f"!globalThis.manyhands?.lastAt || manyhands.lastAt.cards >= {since}")


def _wait_for(page: Any, expression: str) -> None:
    """Asked from outside: the page's policy lets no string be run inside it."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, f"waited {PATIENCE_MS / 1000:g} s for {expression}"
        page.wait_for_timeout(40)


def tab_to(page: Any, selector: str) -> None:
    """Presses Tab until that has the focus, once around the page at most."""
    for _ in range(250):
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached with Tab")


def recording(
    bars: int, hosts: int = 2, width: int = 5, tasks_total: int | None = None, seconds: float = 1.0
) -> dict[str, Any]:
    """A made-up finished run as a snapshot: `bars` attempts of `seconds` each, side by side in all slots."""
    at = 1_763_200_000.0
    slots = hosts * width
    columns: dict[str, list[Any]] = {
        "attempt": list(range(1, bars + 1)),
        "run": ["night"] * bars,
        "task": [f"task-{n}" for n in range(1, bars + 1)],
        "kind": [("code", "text", "reasoning")[n % 3] for n in range(bars)],
        "host": [f"host-{n % slots // width}" for n in range(bars)],
        "slot": [n % width for n in range(bars)],
        "queued_at": [at] * bars,
        "started_at": [at + n // slots * seconds for n in range(bars)],
        "ended_at": [at + (n // slots + 0.96) * seconds for n in range(bars)],
        "ending": ["failed" if n % 50 == 49 else "done" for n in range(bars)],
        "number": [1] * bars,
        "of": [3] * bars,
    }
    ended_at = at + (bars // slots + 1) * seconds
    tasks = {
        **{name: columns[name] for name in ("run", "task", "kind")},
        "title": [f"Do thing {n}" for n in range(1, bars + 1)],
        "state": columns["ending"],
        "priority": [2] * bars,
        "parent": [f"epic-{n % 40}" for n in range(bars)],
        "needs": [[]] * bars,
        "since": columns["ended_at"],
        "cause": [""] * bars,
    }
    total = tasks_total or bars
    failed = columns["ending"].count("failed")
    run = {
        "run": "night",
        "source": "night.toml",
        "opened_at": at,
        "ended_at": ended_at,
        "concurrency": None,
        "draining": False,
        "counts": {"done": total - failed, "failed": failed},
        "total": total,
        "peak": slots,
    }
    host = {"kinds": ["*"], "width": width, "pinned": None, "why": "", "ceiling": None, "paused": None, "lanes": []}
    snapshot = {
        "seq": bars,
        "at": ended_at,
        "version": "0",
        "command": False,
        "runs": [run],
        "hosts": [{"host": f"host-{n}", **host} for n in range(hosts)],
        "tasks": {"total": total, "shown": bars, **tasks},
        "bars": {"total": total, "shown": bars, **columns},
        "widths": [],
        "widths_total": 0,
        "idle": [],
        "claims": [],
        "waiting": {"oldest_s": 0, "ready": 0},
        "tokens": {"in": 0, "out": 0},
        "cost": None,
    }
    return {"snapshot": snapshot, "frames": []}


def played(bars: int) -> dict[str, Any]:
    """The same run from its start, as frames."""
    told = recording(bars)
    whole, at = told["snapshot"], told["snapshot"]["runs"][0]["opened_at"]
    columns = whole["bars"]
    empty: dict[str, Any] = {"total": 0, "shown": 0}
    told["snapshot"] = {**whole, "seq": 0, "at": at, "tasks": empty, "bars": empty, "runs": [], "hosts": []}
    run = {"t": "run", **whole["runs"][0], "ended_at": None}
    frames = [{"seq": 1, "at": at, "changes": [run, *({"t": "host", **host} for host in whole["hosts"])]}]
    moments: dict[float, list[dict[str, Any]]] = {}
    for n, attempt in enumerate(columns["attempt"]):
        row = {name: columns[name][n] for name in ("run", "task", "kind", "host", "slot", "queued_at", "number", "of")}
        start = {"t": "start", "attempt": attempt, "at": columns["started_at"][n], **row}
        moments.setdefault(start["at"], []).append(start)
        used = {"tokens_in": 2, "tokens_out": 1, "cost": 0.25}
        end = {"t": "end", "attempt": attempt, "at": columns["ended_at"][n], "ending": columns["ending"][n], **used}
        moments.setdefault(end["at"], []).append(end)
    frames += [{"seq": n + 2, "at": when, "changes": moments[when]} for n, when in enumerate(sorted(moments))]
    told["frames"] = frames
    return told


def saved_page(folder: Path, text: str) -> str:
    file = folder / "saved.html"
    file.write_text(text, encoding="utf-8")
    return file.as_uri()


def bring_axe(page: Any) -> None:
    """The page must have been opened with `bypass_csp=True`, unless it is a file."""
    axe = pytest.importorskip("axe_playwright_python", reason="axe is not installed: `make setup`")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text())


SCHEMES = (*itertools.product(("light", "dark"), (1280, 390)),)


def schemes(page: Any, wanted: Sequence[tuple[str, int]] = SCHEMES) -> Iterator[tuple[str, int]]:
    """Light and dark, wide and narrow: the page is put into each."""
    for scheme, width in wanted:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        until(page, f"document.documentElement.dataset.theme === '{scheme}'")
        yield scheme, width


def looked_at(page: Any, where: str) -> list[str]:
    violations = page.evaluate("axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations)")
    assert page.evaluate("axe.version") >= "4."
    return [f"{where}: {one['id']}: {one['nodes'][0]['html'][:200]}" for one in violations]
