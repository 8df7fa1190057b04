"""`manyhands top` on a real run, from its store and over HTTP: what it shows, and what its keys do."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.widgets import DataTable, Input, Static

from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.api.token import read_token
from manyhands.surfaces.cli.over_http import RemoteDispatcher
from manyhands.surfaces.cli.top_app import TopApp, fill_table
from manyhands.surfaces.cli.top_of_address import AddressSource
from manyhands.surfaces.cli.top_of_store import StoreSource
from surfaces.cli.console import PATIENCE_S, Console, Live, sh, shell_host

WAITS = "while [ ! -e stop ]; do sleep 0.1; done"


@pytest.fixture
def going(console: Console) -> Live:
    """A host of width 1 on which one task runs until `stop` is there; one has failed, three wait."""
    console.config(shell_host(1, "desk") + shell_host(1, "other", kinds=["none"]))
    bad = sh("bad", "echo no luck; exit 1", attempts=1, priority=0)
    long = sh("long", f"echo hello from long; {WAITS}", priority=1)
    console.plan([bad, long, sh("later", "true"), sh("last", "true"), sh("stays", WAITS, priority=4)])
    live = console.start("run", "plan.jsonl", "--follow")
    live.wait_for("failed     bad")
    return live


@asynccontextmanager
async def screen(console: Console, live: Live, over: str) -> AsyncIterator[TopApp]:
    config = load_config(config_file=console.directory / "manyhands.toml")
    if over == "store":
        source: StoreSource | AddressSource = StoreSource(config)
    else:
        address = re.search(r"page: (http://[\d.:]+)", live.err)
        assert address is not None
        assert read_token(config.store_directory)
        source = AddressSource(RemoteDispatcher(address[1], config.store_directory), address[1])
    app = TopApp(source)
    async with app.run_test(size=(80, 24)):
        yield app


def lines(app: TopApp, table: str) -> list[str]:
    found = app.query_one(f"#{table}", DataTable)
    return [" ".join(str(cell) for cell in found.get_row(key)) for key in found.rows]


async def until(app: TopApp, seen: Callable[[], object]) -> None:
    deadline = asyncio.get_running_loop().time() + PATIENCE_S
    while not seen():
        seen_now = (shown(app, "#said"), lines(app, "lanes"), lines(app, "tasks"))
        assert asyncio.get_running_loop().time() < deadline, seen_now
        await asyncio.sleep(0.05)
        await app.look()


def shown(app: TopApp, widget: str) -> str:
    return " ".join(str(one.render()) for one in app.query(widget).results(Static))


@pytest.mark.parametrize("over", ["store", "address"])
async def test_it_shows_what_runs_and_its_keys_steer_it(
    console: Console, going: Live, over: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(os.environ, "MANYHANDS_TOKEN", raising=False)
    async with screen(console, going, over) as app:
        await until(app, lambda: "hello from long" in shown(app, ".card"))
        assert re.match(r"plan-1 1 of 5 · done 0 · failed 1 · ", shown(app, "#run"))
        assert any(re.search(r"desk shell █ 1 of 1", line) for line in lines(app, "lanes"))
        assert lines(app, "tasks")[0].startswith("running long shell desk 1/")
        assert "hello from long" in shown(app, "#lines")

        app.query_one("#tasks", DataTable).move_cursor(row=[*states(app)].index("bad"))
        await until(app, lambda: re.match(r"bad · .*exit.* 1", shown(app, "#about")))
        await app.run_action("task('retry')")
        await until(app, lambda: states(app)["bad"] != "failed")

        await app.run_action("width(1)")
        await until(app, lambda: any("pinned at 2: set by a person" in line for line in lines(app, "lanes")))
        await until(app, lambda: states(app)["later"] == "done" and states(app)["bad"] == "failed")

        await app.run_action("pause_host")
        await until(app, lambda: any("paused: paused in" in line for line in lines(app, "lanes")))

        app.query_one("#tasks", DataTable).move_cursor(row=[*states(app)].index("long"))
        await app.run_action("task('cancel')")
        assert "press c again" in shown(app, "#said")
        assert states(app)["long"] == "running"
        await app.run_action("task('cancel')")
        await until(app, lambda: states(app)["long"] == "cancelled")

        await app.run_action("filter")
        app.query_one("#filter", Input).value = "la"  # as it is typed, without Enter
        await until(app, lambda: [*states(app)] == ["later", "last"])
        await app.run_action("task('retry')")
        assert "is done" in shown(app, "#said"), "a wish that makes no sense is refused in words"
        await app.run_action("task('approve')")
        assert "no work that waits for approval" in shown(app, "#said")


def states(app: TopApp) -> dict[str, str]:
    return {line.split()[1]: line.split()[0] for line in lines(app, "tasks")}


def test_without_a_terminal_it_says_what_to_type(console: Console) -> None:
    done = console.run("top")
    assert done.code == 2
    assert "needs a terminal" in done.err
    assert "manyhands task" in done.err


async def test_the_cursor_stays_at_the_top_when_its_task_ends_and_on_a_chosen_task() -> None:
    class Table(App[None]):
        def compose(self) -> ComposeResult:
            yield DataTable(cursor_type="row")

    async with Table().run_test() as pilot:
        table = pilot.app.query_one(DataTable)
        table.add_columns("TASK")
        fill_table(table, {name: (name,) for name in ("first", "second", "third")})
        fill_table(table, {name: (name,) for name in ("second", "third", "first")})
        assert table.cursor_row == 0
        table.move_cursor(row=1)
        fill_table(table, {name: (name,) for name in ("third", "second", "first")})
        assert table.cursor_row == 0
