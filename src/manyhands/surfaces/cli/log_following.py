"""`manyhands task log --follow`: prints the output of an attempt as it comes, until the attempt has ended."""

import codecs
import contextlib
import sys
import time
from pathlib import Path

from manyhands.engine.run_opening import attempt_directory
from manyhands.hosts.agents.agent_files import RAW_FILE
from manyhands.readers.plain_file import is_plain, open_plain
from manyhands.surfaces.cli.printing import put
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.cli.terminal_text import output_for_terminal
from manyhands.surfaces.verbs.attempt_output import OUTPUT, left_by
from manyhands.surfaces.verbs.store_view import View

_LOOK_EVERY_S = 0.2
#: Whether it has ended is in the journal, which takes longer to read than a file.
_ASK_EVERY_S = 1.0


def follow_log(id: str, attempt: int | None, run: str | None, settings: Settings, raw: bool = False) -> None:
    config = settings.load()
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        view = View(config)
        left = left_by(view, id, run, attempt)
        place = Path(attempt_directory(view.directory, left.record.run, left.record.task.id, left.number))
        followed = _Followed(place, raw)
        while left.ending is None:
            ask_at = time.monotonic() + _ASK_EVERY_S
            while time.monotonic() < ask_at:
                followed.put_new()
                time.sleep(_LOOK_EVERY_S)
            left = left_by(View(config), id, run, left.number)
        followed.put_new()  # after it has ended: nothing is written any more


class _Followed:
    def __init__(self, place: Path, raw: bool) -> None:
        self._place = place
        self._raw = raw
        self._shown = 0  # bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def put_new(self) -> None:
        """Print what has come since the last time."""
        of_agent = self._place / RAW_FILE
        file = of_agent if self._raw and is_plain(of_agent) else self._place / OUTPUT
        if not is_plain(file):
            return  # nothing has been printed yet
        with open(open_plain(file), "rb") as content:
            content.seek(self._shown)
            while piece := content.read(1 << 16):
                self._shown += len(piece)
                if self._raw:
                    sys.stdout.buffer.write(piece)
                else:
                    put(output_for_terminal(self._decoder.decode(piece)))
        sys.stdout.flush()
