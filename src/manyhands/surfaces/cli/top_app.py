"""The screen of `manyhands top`: panes that are filled from one look, and keys that ask for something."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar, TypeVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.css.query import NoMatches
from textual.widgets import DataTable, Footer, Input, Static

from manyhands.errors import ManyhandsError
from manyhands.surfaces.cli.terminal_text import output_for_terminal
from manyhands.surfaces.cli.top_rows import about_task, card_text, lane_lines, may_be_cancelled, run_line, task_cells
from manyhands.surfaces.cli.top_source import TaskAct, TopSight, TopSource
from manyhands.surfaces.verbs.host_verbs import HostRow
from manyhands.surfaces.verbs.task_verbs import TaskRow

T = TypeVar("T")

LOOK_EVERY_S = 1.0
CARD_COLUMNS = 26
LOG_LINES = 200


class TopApp(App[None]):
    CSS = """
    #run { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    DataTable { scrollbar-size-horizontal: 0; }
    #lanes { height: auto; max-height: 7; }
    #cards { height: 5; }
    .card { width: 1fr; height: 5; border: round $surface-lighten-2; padding: 0 1; }
    .card { text-wrap: nowrap; text-overflow: ellipsis; }
    #tasks { height: 2fr; }
    #about { height: auto; max-height: 4; border-top: solid $surface-lighten-2; }
    #log { height: 1fr; }
    #said { height: 1; color: $text-warning; }
    #filter { display: none; height: 3; }
    #filter.open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("slash", "filter", "Filter"),
        Binding("c", "task('cancel')", "Cancel"),
        Binding("r", "task('retry')", "Retry"),
        Binding("a", "task('approve')", "Approve"),
        Binding("u", "task('resume')", "Resume", show=False),
        Binding("d", "task('defer')", "Defer", show=False),
        Binding("p", "pause_host", "Pause host"),
        Binding("plus,equals_sign", "width(1)", "Wider", key_display="+"),
        Binding("minus", "width(-1)", "Narrower", show=False),
        Binding("0", "width(0)", "Leave it to the clutch", show=False),
        Binding("P", "pause_run", "Pause run", show=False),
        Binding("escape", "leave_filter", "Leave the filter", show=False),
    ]
    TITLE = "manyhands top"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, source: TopSource, run: str | None = None) -> None:
        super().__init__()
        self._source = source
        self._wanted_run = run
        self._text = ""
        self._sight: TopSight | None = None
        self._asked: tuple[str, str] | None = None  # a task to be cancelled, if the key comes again
        self._looking = asyncio.Lock()
        self._calling = asyncio.Lock()

    def compose(self) -> ComposeResult:
        yield Static("looking …", id="run")
        yield DataTable(id="lanes", cursor_type="row", zebra_stripes=False)
        yield Horizontal(id="cards")
        yield DataTable(id="tasks", cursor_type="row")
        yield Static("", id="about")
        with VerticalScroll(id="log"):
            yield Static("", id="lines")
        yield Static("", id="said")
        yield Input(placeholder="text in the id or title of a task", id="filter")
        yield Footer()

    async def on_mount(self) -> None:
        self._lanes.add_columns("HOST", "KIND", "WIDTH", "USUAL", "RATE", "WHY")
        self._tasks.add_columns("STATE", "TASK", "KIND", "HOST", "TRIED", "FOR", "WHY")
        self._tasks.focus()
        self.set_interval(LOOK_EVERY_S, self._look_on)
        await self.look()

    @property
    def _lanes(self) -> "DataTable[Text | str]":
        return self.query_one("#lanes", DataTable)

    @property
    def _tasks(self) -> "DataTable[Text | str]":
        return self.query_one("#tasks", DataTable)

    async def _look_on(self) -> None:
        if not self._looking.locked():  # a slow answer is not asked for twice
            await self.look()

    async def look(self) -> None:
        """Look again and show it."""
        async with self._looking:
            try:
                sight = await self._call(lambda: self._source.look(self._wanted_run, self._text))
            except ManyhandsError as error:
                self.say(error.message)
                return
            if not self.is_running:
                return
            self._sight = sight
            with suppress(NoMatches):  # the screen is being taken down
                await self._show(sight)
                await self._show_log()

    async def _call(self, work: Callable[[], T]) -> T:
        """The source is asked in a thread, so that keys are heard, and one thing at a time."""
        async with self._calling:
            return await asyncio.to_thread(work)

    async def _show(self, sight: TopSight) -> None:
        self.query_one("#run", Static).update(run_line(sight, self._source.place, self.size.width))
        fill_table(self._lanes, {line.key: line.cells() for line in lane_lines(sight)})
        fill_table(self._tasks, {row.task: task_cells(row) for row in sight.tasks.tasks})
        cards = self.query_one("#cards", Horizontal)
        shown = sight.cards[: max(1, self.size.width // CARD_COLUMNS)]
        if len(cards.children) != len(shown):
            await cards.remove_children()
            await cards.mount_all(Static(classes="card") for _ in shown)
        for widget, card in zip(cards.query(Static), shown, strict=False):
            widget.update(card_text(card))
        cards.display = bool(shown)

    async def _show_log(self) -> None:
        row = self._row
        text = ""
        if row is not None:
            text = await self._call(lambda: self._source.log(row.run, row.task))
        lines = output_for_terminal(text).splitlines()[-LOG_LINES:]
        self.query_one("#about", Static).update(about_task(row))
        self.query_one("#lines", Static).update(Text("\n".join(lines) or "…"))
        self.query_one("#log", VerticalScroll).scroll_end(animate=False)

    async def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        if event.data_table.id == "tasks":
            with suppress(NoMatches):
                await self._show_log()

    # What is under the cursors

    @property
    def _row(self) -> TaskRow | None:
        tasks = self._sight.tasks.tasks if self._sight is not None else []
        at = self._tasks.cursor_row
        key = _key_at(self._tasks, at)
        return next((row for row in tasks if row.task == key), None)

    @property
    def _host(self) -> HostRow | None:
        name = _key_at(self._lanes, self._lanes.cursor_row).partition("\n")[0]
        hosts = self._sight.hosts if self._sight is not None else []
        return next((host for host in hosts if host.host == name), None)

    # Keys

    def say(self, text: str) -> None:
        self.query_one("#said", Static).update(Text(" ".join(text.split())))

    async def action_task(self, verb: str) -> None:
        row = self._row
        if row is None:
            return
        act = TaskAct(verb)
        if act is TaskAct.CANCEL and may_be_cancelled(row.state) and self._asked != (row.run, row.task):
            self._asked = (row.run, row.task)
            self.say(f"press c again to cancel {row.task}")
            return
        self._asked = None
        await self._ask(lambda: self._source.ask_task(row.run, row.task, act))

    async def action_pause_host(self) -> None:
        host = self._host
        if host is not None:
            await self._ask(lambda: self._source.ask_host(host.host, pauses=host.paused is None))

    async def action_pause_run(self) -> None:
        if self._sight is not None:
            run = self._sight.run
            await self._ask(lambda: self._source.ask_run(run.run, pauses=not run.draining))

    async def action_width(self, by: int) -> None:
        """One more, one fewer; 0: the clutch decides again."""
        host = self._host
        if host is not None:
            width = max(1, (host.width or 1) + by) if by else None
            await self._ask(lambda: self._source.ask_width(host.host, width))

    async def _ask(self, wish: Callable[[], str]) -> None:
        try:
            self.say(await self._call(wish))
        except ManyhandsError as error:
            self.say(f"{error.message}. {error.hint or ''}")
        await self.look()

    def action_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.add_class("open")
        field.focus()

    async def action_leave_filter(self) -> None:
        self.query_one("#filter", Input).value = ""
        await self._filtered("")

    async def on_input_changed(self, event: Input.Changed) -> None:
        self._text = event.value.strip()
        if not self._looking.locked():  # otherwise the next look shows it
            await self.look()

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        await self._filtered(event.value)

    async def _filtered(self, text: str) -> None:
        self._text = text.strip()
        self.query_one("#filter", Input).set_class(bool(self._text), "open")
        self._tasks.focus()
        await self.look()


def fill_table(table: "DataTable[Text | str]", rows: dict[str, tuple[Text | str, ...]]) -> None:
    """Show these rows in this order. The cursor stays at the top, or on its row, or where it was."""
    key, at = _key_at(table, table.cursor_row), table.cursor_row
    if [row.value for row in table.rows] == list(rows):
        columns = list(table.columns)
        for name, cells in rows.items():
            for column, cell in zip(columns, cells, strict=True):
                table.update_cell(name, column, cell, update_width=True)
        return
    table.clear()
    for name, cells in rows.items():
        table.add_row(*cells, key=name)
    if rows:
        names = list(rows)
        # At the top is what runs now. Nobody has chosen its task, which may end and move out of sight.
        table.move_cursor(row=names.index(key) if at and key in rows else min(at, len(names) - 1))


def _key_at(table: "DataTable[Text | str]", at: int) -> str:
    keys = list(table.rows)
    return str(keys[at].value) if 0 <= at < len(keys) else ""
