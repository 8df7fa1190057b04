"""`manyhands runs log`: prints what happened in a run, line by line, and what happens next if asked to follow."""

import time
from contextlib import closing

from manyhands.engine.store.store_opening import open_reader
from manyhands.surfaces.cli.printing import LogOutput, put_lines
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.run_log import LogEntry, RunLog
from manyhands.surfaces.verbs.store_view import View, find_run

#: How often a log that is followed looks for new events.
LOOK_S = 0.3


def print_log(name: str | None, follow: bool, output: LogOutput, settings: Settings) -> None:
    view = View(settings.load())
    log = RunLog(find_run(view.book, name).name, view.secrets)
    with closing(open_reader(view.place)) as reader:
        _print(log.catch_up(reader), output)
        while follow and not log.is_over:
            time.sleep(LOOK_S)
            _print(log.catch_up(reader), output)


def _print(entries: list[LogEntry], output: LogOutput) -> None:
    if output is LogOutput.LINES:
        put_lines(entry.text for entry in entries)
        return
    import msgspec

    put_lines(msgspec.json.encode(entry).decode() for entry in entries)
