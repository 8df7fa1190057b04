"""`manyhands inbox`: lists what waits for a person."""

import time

from msgspec.structs import asdict

from manyhands.surfaces.cli.printing import OutputFormat, duration, print_rows, put_lines
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs import inbox_verbs
from manyhands.surfaces.verbs.inbox_verbs import InboxItem
from manyhands.surfaces.verbs.store_view import View


def list_inbox(output: OutputFormat, settings: Settings) -> None:
    items = inbox_verbs.list_inbox(View(settings.load())).items
    if output is OutputFormat.TABLE and items:
        put_lines(line for item in items for line in _lines(item, time.time()))
        return
    print_rows([asdict(item) for item in items], output, "name", none="nothing waits for a person")


def _lines(item: InboxItem, now: float) -> list[str]:
    """A table would cut the reason or the command, and both are needed whole."""
    where = f" of run {item.run}" if item.run not in (None, item.name) else ""
    holds = f", holds {item.holds} {'task' if item.holds == 1 else 'tasks'}" if item.holds else ""
    since = f", for {duration(max(0.0, now - item.since))}" if item.since is not None else ""
    return [f"{item.waits_for} {item.name}{where}{holds}{since}", f"  {item.why}", f"  $ {item.command}", ""]
